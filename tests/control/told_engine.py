"""An engine that does nothing by itself: it notes the orders it gets, and tells what a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from quotatree.core.model.job import JobId, JobSpec
from quotatree.core.model.policy import Module
from quotatree.engines.base import (
    Capabilities,
    Endpoint,
    LogPiece,
    NodeSeen,
    Observed,
    Place,
    Program,
    Report,
    RestartOrder,
    Running,
    StartOrder,
    StopOrder,
    lacks,
)

Order = StartOrder | StopOrder | RestartOrder


class ToldEngine:
    """`running` and `made_in` are what `observe` sees; orders do not change them."""

    def __init__(self, endpoints: bool = True, place: str = "told") -> None:
        self.place = Place(place, f"host:{place}")
        self.capabilities = Capabilities("told", frozenset(Module), endpoints=endpoints)
        self.orders: list[Order] = []
        self.forgotten: list[tuple[str, int]] = []
        self.running: dict[tuple[str, int], tuple[int, ...]] = {}
        self.made_in: dict[tuple[str, int], tuple[str, ...]] = {}
        self.nodes: tuple[NodeSeen, ...] | None = None
        self.recalled: list[StartOrder] = []
        self.fail_orders = 0
        self.tell: Callable[[Report], None] = lambda report: None

    def without_endpoints(self) -> None:
        self.capabilities = replace(self.capabilities, endpoints=False)

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        return lacks(self.capabilities, job)

    def open(self, report: Callable[[Report], None]) -> None:
        self.tell = report

    def start(self, order: StartOrder) -> None:
        self._note(order)

    def stop(self, order: StopOrder) -> None:
        self._note(order)

    def restart(self, order: RestartOrder) -> None:
        self._note(order)

    def _note(self, order: Order) -> None:
        if self.fail_orders:
            self.fail_orders -= 1
            raise OSError("the engine cannot be reached")
        self.orders.append(order)

    def recall(self, orders: Sequence[StartOrder]) -> None:
        self.recalled = list(orders)

    def observe(self) -> Observed:
        running = tuple(
            Running(JobId(job), run, replicas, self.made_in.get((job, run)))
            for (job, run), replicas in self.running.items()
        )
        return Observed(running, (), self.nodes)

    def forget(self, job: JobId, run: int) -> None:
        self.forgotten.append((job, run))

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        return None

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        return None

    def close(self) -> None:
        self.tell = lambda report: None
