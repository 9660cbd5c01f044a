"""A server that has nothing but adopted objects to run: the loop on SQLite, the driver of native jobs, and the edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from quotatree.access.values import User
from quotatree.control.commands import values as do
from quotatree.control.loop import Controller
from quotatree.control.world import SYSTEM, World
from quotatree.core import JobId, JobSpec, Module, NodeSpec
from quotatree.engines.base import (
    Capabilities,
    Endpoint,
    LogPiece,
    Observed,
    Place,
    Program,
    Report,
    RestartOrder,
    StartOrder,
    StopOrder,
)
from quotatree.engines.kubernetes.adopted import BATCH_JOB, Adoptable
from quotatree.engines.kubernetes.client import connect
from quotatree.engines.kubernetes.native import Native
from quotatree.engines.kubernetes.options import WARN
from quotatree.kubernetes_edge.edge import Edge, EdgeSettings
from tests.control.kept_store import KeptStore
from tests.kubernetes.processes import until

ANSWER_SECONDS = 30


class NativeEngine:
    """An engine of adopted objects alone."""

    capabilities = Capabilities("native", frozenset(Module), fractions=False)
    place = Place("cluster", "cluster")

    def __init__(self, kubeconfig: Path, sorts: tuple[Adoptable, ...], start_seconds: int) -> None:
        self._native = Native(connect(kubeconfig), sorts, start_seconds=start_seconds)

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        return self._native.refuses(job, program)

    def open(self, report: Callable[[Report], None]) -> None:
        self._native.open(report)

    def start(self, order: StartOrder) -> None:
        self._native.start(order)

    def stop(self, order: StopOrder) -> None:
        self._native.stop(order)

    def restart(self, order: RestartOrder) -> None:
        raise AssertionError(order)

    def recall(self, orders: Sequence[StartOrder]) -> None:
        self._native.recall(orders)

    def observe(self) -> Observed:
        return self._native.observe()

    def forget(self, job: JobId, run: int) -> None:
        self._native.forget(job, run)

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        return None

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        return None

    def close(self) -> None:
        self._native.close()


class EdgeServer:
    """Nodes are declared by hand: node-0 and so on, with 8 GPUs each."""

    def __init__(
        self,
        home: Path,
        kubeconfig: Path,
        *,
        sorts: tuple[Adoptable, ...] = (BATCH_JOB,),
        strays: str = WARN,
        start_seconds: int = 600,
    ) -> None:
        self._start_seconds = start_seconds
        self._kubeconfig = kubeconfig
        self._sorts = sorts
        self._strays = strays
        self.store = KeptStore.fresh(home)
        self.boots = 0
        self.boot()

    def boot(self) -> None:
        self.boots += 1
        self.engine = NativeEngine(self._kubeconfig, self._sorts, self._start_seconds)
        self.controller = Controller(self.store, self.engine, f"edge-{self.boots}")
        self.controller.start()
        until(lambda: self.controller.published is not None, "it leads")
        self.edge = Edge(
            self.controller,
            self.store,
            connect(self._kubeconfig),
            EdgeSettings(sorts=self._sorts, strays=self._strays),
        )
        self.edge.start()

    def stop(self) -> None:
        self.controller.stop()
        self.edge.stop()

    def join(self, nodes: int) -> None:
        for number in range(nodes):
            spec = NodeSpec(f"node-{number}", gpus=8, cpu_milli=64_000, memory_mib=262_144)
            self.do(do.JoinNode(actor=SYSTEM, spec=spec))

    def user(self, name: str) -> None:
        self.do(do.PutUser(actor=SYSTEM, user=User(name)))

    def do(self, command: do.Command) -> do.Answer:
        return self.controller.call(command).result(ANSWER_SECONDS)

    def ask(self, query: Callable[[World], Any]) -> Any:
        return self.controller.ask(lambda world, _: query(world)).result(ANSWER_SECONDS)

    def phases(self) -> dict[str, str]:
        """Of all jobs that are not over, by name."""
        return self.ask(lambda w: {w.cards[job.id].name: job.phase.value for job in w.state.jobs.values()})
