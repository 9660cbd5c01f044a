"""How many processes a second, and what does it weigh to watch over one?"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter, sleep

from benchmarks.local.server import RUN_AS, job, serving
from benchmarks.measure import Table
from quotatree.core import JobId, Module, Shape
from quotatree.engines.base import Confirmed, Exited, ReplicaOrder, Report, StartOrder, StopOrder
from quotatree.engines.local.server.engine import LocalEngine

RUNS = 300
WATCHED = 100
DEADLINE_SECONDS = 120.0


def throughput() -> list[Table]:
    table = Table(
        "Processes a second, from the first order to the last end; each does nothing (`true`)",
        ("how", "processes", "seconds", "processes/s"),
        note="A run of its own means a supervisor, a directory and a journal of its own.",
    )
    for name, runs, replicas in (("a run each", RUNS, 1), ("runs of ten replicas", RUNS // 10, 10)):
        with _engine() as (engine, heard):
            began = perf_counter()
            for n in range(runs):
                engine.start(_order(f"job{n}", replicas, ["true"]))
            heard.wait(Exited, runs)
            table.add(name, runs * replicas, *_rate(runs * replicas, perf_counter() - began))
    with serving() as (client, _):
        began = perf_counter()
        client.jobs.submit_many([job("true") for _ in range(RUNS)])
        _until(lambda: not list(client.jobs.list(active=True, most=1)))
        table.add("a job each, by HTTP through the server", RUNS, *_rate(RUNS, perf_counter() - began))
    return [table]


def memory() -> list[Table]:
    table = Table(
        "What watching over a replica weighs (PSS of supervisors, KiB a replica)",
        ("how", "replicas", "supervisors", "KiB a replica", "nursery KiB"),
        note="PSS counts memory shared by several processes in equal parts. The replicas themselves are not counted.",
    )
    for name, runs, replicas in (("a run each", WATCHED, 1), ("one run of all", 1, WATCHED)):
        with _engine() as (engine, heard):
            for n in range(runs):
                engine.start(_order(f"job{n}", replicas, ["sleep", "1000"]))
            heard.wait(Confirmed, runs * replicas)
            engine.observe()
            supervisors = [run.supervisor for run in engine._runs.values()]
            weight = sum(_pss_kib(one.pid) for one in supervisors if one is not None)
            nursery = _pss_kib(engine._nursery.pid)
            table.add(name, runs * replicas, runs, round(weight / (runs * replicas)), nursery)
            for n in range(runs):
                engine.stop(StopOrder(JobId(f"job{n}"), 1, 0))
            _until(lambda: not engine.observe().running)
    return [table]


class _Heard:
    def __init__(self) -> None:
        self._counts: dict[type[Report], int] = {}
        self._changed = threading.Condition()

    def hear(self, report: Report) -> None:
        with self._changed:
            more = len(report.replicas) if isinstance(report, Confirmed) else 1
            self._counts[type(report)] = self._counts.get(type(report), 0) + more
            self._changed.notify_all()

    def wait(self, kind: type[Report], count: int) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._counts.get(kind, 0) >= count, DEADLINE_SECONDS):
                raise TimeoutError(f"{self._counts} of {count} {kind.__name__}")


@contextmanager
def _engine() -> Iterator[tuple[LocalEngine, _Heard]]:
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o711)
        heard = _Heard()
        engine = LocalEngine(Path(scratch, "engine"), run_as=RUN_AS)
        engine.open(heard.hear)
        yield engine, heard
        engine.close()


def _order(name: str, replicas: int, command: list[str]) -> StartOrder:
    orders = tuple(ReplicaOrder(n, "n", (n,), Shape(1000, 0, 0)) for n in range(replicas))
    return StartOrder(JobId(name), 1, Module.DLC, orders, {"command": command}, 1_000)


def _rate(count: int, seconds: float) -> tuple[str, str]:
    return f"{seconds:.2f}", f"{count / seconds:.0f}"


def _pss_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def _until(happened: object) -> None:
    assert callable(happened)
    deadline = monotonic() + DEADLINE_SECONDS
    while not happened():
        if monotonic() > deadline:
            raise TimeoutError("not in time")
        sleep(0.01)
