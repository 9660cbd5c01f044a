"""The course of a training run where the moment decides, without processes."""

from types import SimpleNamespace
from typing import Any

from quotatree.engines.local.supervisor.replica import GONE, KILLING, Ended
from quotatree.engines.local.supervisor.training import Training


class Recorded:
    """A supervisor that only writes down what its course wants."""

    def __init__(self, replicas: int) -> None:
        self.program: dict[str, Any] = {}
        self.grace_seconds = 1.0
        self.replicas = {n: SimpleNamespace(number=n, told=False, alive=True) for n in range(replicas)}
        self.wanted: dict[int, Any] = {n: {} for n in range(replicas)}
        self.heard: list[Any] = []

    def ends_well(self, number: int) -> Any:
        """Its main process has; what it left behind is being killed."""
        replica = self.replicas[number]
        vars(replica).update(state=KILLING, ended=Ended(), ended_well_by_itself=True, stop=lambda _: None)
        return replica

    def gone(self, number: int) -> Any:
        replica = self.replicas[number]
        vars(replica).update(state=GONE, alive=False)
        return replica

    def left(self, number: int) -> None:
        self.wanted.pop(number)
        self.heard.append(("left", number))

    def over(self) -> None:
        self.heard.append("over")

    def exited(self, outcome: str, detail: str) -> None:
        self.heard.append((outcome, detail))


def training(supervisor: Recorded) -> Training:
    return Training(supervisor)  # type: ignore[arg-type]


def test_a_stop_that_comes_when_all_have_ended_well_is_too_late():
    supervisor = Recorded(1)
    course = training(supervisor)
    supervisor.ends_well(0)
    course.stop([0], 1.0)
    course.gone(supervisor.gone(0))
    assert supervisor.heard == [("succeeded", "")]


def test_one_good_end_does_not_make_a_stopped_gang_succeed():
    supervisor = Recorded(2)
    course = training(supervisor)
    supervisor.ends_well(0)
    course.gone(supervisor.gone(0))
    vars(supervisor.replicas[1]).update(
        stop=lambda _: None, ended=Ended(signum=15), ended_well_by_itself=False
    )
    course.stop([0, 1], 1.0)
    course.gone(supervisor.gone(1))
    assert supervisor.heard == [("left", 0), ("left", 1), "over"]
