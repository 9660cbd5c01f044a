"""What every engine promises (engines/base.py). An engine joins by a harness and a line in test_contract.py."""

from collections.abc import Callable
from typing import Protocol

from quotatree.core.model.job import JobId, Shape
from quotatree.core.model.policy import Module
from quotatree.engines.base import Engine, Program, ReplicaOrder, Report, StartOrder, StopOrder


class Harness(Protocol):
    """An engine to be tested, and what a test may do to its surroundings."""

    @property
    def engine(self) -> Engine: ...

    @property
    def reports(self) -> list[Report]: ...

    def reopen(self) -> None:
        """The server was killed and a new one opens the engine: `reports` is empty again."""

    def pass_time(self, seconds: float) -> None: ...

    def ms(self, seconds: float) -> int:
        """So many milliseconds are the contract's seconds here: with real processes they are shorter."""

    def program(
        self,
        *,
        seconds: float | None = None,
        leaves_after: float = 0,
        outcome: str = "succeeded",
        prints: str = "",
    ) -> Program: ...

    def lose(self, job: str, run: int) -> bool:
        """Take a run away so that nobody knows how it ended. False: this engine cannot lose anything."""

    def close(self) -> None:
        """After the test: end all that runs."""


def start_order(
    program: Program, replicas: tuple[int, ...] = (0,), job: str = "dlc-a", run: int = 1
) -> StartOrder:
    shape = Shape(1000, 1000, 64)
    return StartOrder(
        JobId(job),
        run,
        Module.DLC,
        tuple(ReplicaOrder(r, "n1", (r,), shape) for r in replicas),
        program,
        5_000,
    )


def stop_order(
    replicas: tuple[int, ...] | None = None, job: str = "dlc-a", run: int = 1, grace_ms: int = 5_000
) -> StopOrder:
    return StopOrder(JobId(job), run, grace_ms, replicas)


def replicas_running(engine: Engine) -> dict[tuple[str, int], tuple[int, ...]]:
    return {(one.job, one.run): tuple(sorted(one.replicas)) for one in engine.observe().running}


def told(
    harness: Harness, kind: type[Report], which: Callable[[Report], bool] = lambda _: True
) -> list[Report]:
    return [report for report in harness.reports if isinstance(report, kind) and which(report)]
