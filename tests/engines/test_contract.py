"""The promises of engines/base.py, for every engine there is."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.policy import Module
from quotatree.engines.base import Confirmed, Exited, Left, Lost, Outcome, Program, Report
from quotatree.engines.timer import TimerEngine
from tests.engines.contract import Harness, replicas_running, start_order, stop_order, told
from tests.engines.local.harness import ApartHarness, LocalHarness
from tests.engines.local.harness import until as wait_for


class TimerHarness:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._now_ms = 1_000_000
        self._open()

    def _open(self) -> None:
        self.reports: list[Report] = []
        self.engine = TimerEngine(self._path, lambda: self._now_ms, threaded=False)
        self.engine.open(self.reports.append)

    def reopen(self) -> None:
        self._open()

    def pass_time(self, seconds: float) -> None:
        self._now_ms += round(seconds * 1000)
        self.engine.run_due()

    def ms(self, seconds: float) -> int:
        return round(seconds * 1000)

    def lose(self, job: str, run: int) -> bool:
        return False

    def close(self) -> None:
        self.engine.close()

    def program(
        self,
        *,
        seconds: float | None = None,
        leaves_after: float = 0,
        outcome: str = "succeeded",
        prints: str = "",
    ) -> Program:
        found: dict[str, object] = {"leaves_after": leaves_after, "outcome": outcome}
        return found if seconds is None else {**found, "seconds": seconds}


@pytest.fixture(params=["timer", "local", "apart"])
def harness(request) -> Iterator[Harness]:
    if request.param == "apart" and os.geteuid() != 0:
        pytest.skip("only root can give workspaces users of their own")
    kinds: dict[str, Callable[[Path], Harness]] = {
        "timer": TimerHarness,
        "local": LocalHarness,
        "apart": ApartHarness,
    }
    with tempfile.TemporaryDirectory(
        prefix="quotatree-"
    ) as passable:  # other users cannot pass through pytest's own
        os.chmod(passable, 0o711)
        made = kinds[request.param](Path(passable) / "table")
        yield made
        made.close()


def test_a_start_sent_twice_happens_once_and_is_confirmed_again(harness: Harness):
    order = start_order(harness.program(seconds=10), (0, 1))
    harness.engine.start(order)
    harness.pass_time(6)
    harness.engine.start(order)
    harness.pass_time(5)
    assert len(told(harness, Exited)) == 1, "the second start must not wind the clock up again"
    assert {r for c in told(harness, Confirmed) for r in c.replicas} == {0, 1}  # type: ignore[union-attr]
    assert replicas_running(harness.engine) == {}


def test_a_run_that_ended_is_not_started_again(harness: Harness):
    order = start_order(harness.program(seconds=1))
    harness.engine.start(order)
    harness.pass_time(2)
    harness.engine.start(order)
    assert replicas_running(harness.engine) == {}
    harness.reopen()
    assert replicas_running(harness.engine) == {}


def test_stopping_what_is_unknown_does_nothing(harness: Harness):
    harness.engine.stop(stop_order(job="dlc-nobody"))
    harness.engine.start(start_order(harness.program()))
    harness.engine.stop(stop_order(run=7))
    harness.pass_time(10)
    assert replicas_running(harness.engine) == {("dlc-a", 1): (0,)}
    assert told(harness, Left) == []


def test_a_stopped_run_leaves_within_its_grace_and_says_so_once(harness: Harness):
    harness.engine.start(start_order(harness.program(leaves_after=2), (0, 1)))
    harness.pass_time(0)
    harness.engine.stop(stop_order())
    harness.engine.stop(stop_order())
    assert replicas_running(harness.engine) == {("dlc-a", 1): (0, 1)}, "in its grace it still has its devices"
    harness.pass_time(3)
    left = told(harness, Left)
    assert sorted(r for one in left for r in one.replicas) == [0, 1]  # type: ignore[union-attr]
    assert replicas_running(harness.engine) == {}
    assert told(harness, Exited) == []


def test_who_does_not_leave_in_time_is_killed_when_the_grace_is_over(harness: Harness):
    harness.engine.start(start_order(harness.program(leaves_after=60)))
    harness.pass_time(0)
    harness.engine.stop(stop_order(grace_ms=harness.ms(4)))
    harness.pass_time(3)
    assert told(harness, Left) == []
    harness.pass_time(2)
    assert len(told(harness, Left)) == 1


def test_surplus_replicas_come_and_go_while_the_run_goes_on(harness: Harness):
    program = harness.program()
    harness.engine.start(start_order(program, (0,)))
    harness.engine.start(start_order(program, (1, 2)))
    harness.engine.stop(stop_order((1,)))
    harness.pass_time(1)
    assert replicas_running(harness.engine) == {("dlc-a", 1): (0, 2)}
    harness.engine.start(start_order(program, (1,)))
    assert replicas_running(harness.engine) == {("dlc-a", 1): (0, 1, 2)}


def test_an_end_is_reported_once_and_kept_until_it_is_forgotten(harness: Harness):
    harness.engine.start(start_order(harness.program(seconds=1, outcome="failed")))
    harness.pass_time(2)
    harness.pass_time(2)
    assert [e.outcome for e in told(harness, Exited)] == [Outcome.FAILED]  # type: ignore[union-attr]
    assert [e.job for e in harness.engine.observe().exits] == ["dlc-a"]
    harness.reopen()
    assert told(harness, Exited) == []
    assert [e.outcome for e in harness.engine.observe().exits] == [Outcome.FAILED]
    harness.engine.forget(JobId("dlc-a"), 1)
    assert harness.engine.observe().exits == ()
    harness.reopen()
    assert harness.engine.observe().exits == ()


def test_what_runs_is_not_forgotten(harness: Harness):
    harness.engine.start(start_order(harness.program()))
    harness.engine.forget(JobId("dlc-a"), 1)
    assert replicas_running(harness.engine) == {("dlc-a", 1): (0,)}


def test_time_goes_on_while_nobody_listens(harness: Harness):
    harness.engine.start(start_order(harness.program(seconds=5), job="dlc-short"))
    harness.engine.start(start_order(harness.program(seconds=50), job="dlc-long"))
    harness.engine.start(start_order(harness.program(leaves_after=2), job="dlc-leaves"))
    harness.engine.stop(stop_order(job="dlc-leaves"))
    harness.reopen()
    harness.pass_time(6)
    assert replicas_running(harness.engine) == {("dlc-long", 1): (0,)}
    assert [e.job for e in harness.engine.observe().exits] == ["dlc-short"]


def test_what_is_lost_is_told_once_runs_no_more_and_is_not_begun_again(harness: Harness):
    order = start_order(harness.program(), (0, 1))
    harness.engine.start(order)
    harness.pass_time(1)
    if not harness.lose("dlc-a", 1):
        pytest.skip("this engine cannot lose anything")
    wait_for(lambda: told(harness, Lost))
    assert [sorted(one.replicas) for one in told(harness, Lost)] == [[0, 1]]  # type: ignore[union-attr]
    assert replicas_running(harness.engine) == {}
    assert harness.engine.observe().exits == (), "how it ended is not known"
    harness.engine.start(order)
    assert replicas_running(harness.engine) == {}
    assert len(told(harness, Lost)) == 2, "whoever starts it again is told again"
    harness.reopen()
    assert replicas_running(harness.engine) == {}


def test_what_a_replica_prints_can_be_read_while_it_runs_and_after_it_was_forgotten(harness: Harness):
    if not harness.engine.capabilities.logs:
        pytest.skip("this engine keeps no logs")
    harness.engine.start(start_order(harness.program(seconds=3, prints="0123456789")))
    harness.pass_time(1)
    piece = harness.engine.log(JobId("dlc-a"), 1, 0, 4, 3)
    assert piece == (4, b"456", 10, False)
    harness.pass_time(3)
    harness.engine.forget(JobId("dlc-a"), 1)
    harness.reopen()
    assert harness.engine.log(JobId("dlc-a"), 1, 0, -2, 100) == (8, b"89", 10, True)
    assert harness.engine.log(JobId("dlc-a"), 1, 7, 0, 100) is None
    assert harness.engine.log(JobId("dlc-b"), 1, 0, 0, 100) is None


def test_a_job_of_a_declared_module_is_not_refused(harness: Harness):
    for module in harness.engine.capabilities.modules:
        spec = JobSpec(JobId("a"), "q", (ReplicaGroup(1, Shape(1000, 0, 0)),), 0, module)
        assert harness.engine.refuses(spec, harness.program(seconds=1)) is None
    assert Module.DLC in harness.engine.capabilities.modules
