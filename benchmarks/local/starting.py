"""How soon does a job run? From the order, from the submit by HTTP, and from the notice that makes room for it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks.local.ear import Ear
from benchmarks.local.server import RUN_AS, SMALL, job, serving
from benchmarks.measure import Table, ms
from quotatree.core import JobId, Module, Shape
from quotatree.engines.base import ReplicaOrder, StartOrder
from quotatree.engines.local.server.engine import LocalEngine

STARTS = 200
COOPERATIVE = 50
DEAF = 10
GRACE_SECONDS = 1.0


def start() -> list[Table]:
    table = Table(
        "From asking to the first instruction of the process, one after the other",
        ("asked by", "times", "p50 ms", "p99 ms", "longest ms"),
        note="The start of a shell, about a millisecond, is part of it.",
    )
    table.add("the engine's order", STARTS, *_spread(_by_order()))
    table.add("a submit by HTTP, stored in SQLite", STARTS, *_spread(_by_http()))
    return [table]


def eviction() -> list[Table]:
    table = Table(
        "A job that needs the one GPU, on which another runs: from its submit by HTTP on",
        (
            "victim",
            "times",
            "to the notice p50 ms",
            "notice to preemptor's first instruction p50 ms",
            "p99 ms",
        ),
        note=f"A deaf victim ignores SIGTERM; its grace is {GRACE_SECONDS:g} s and part of the figure.",
    )
    with serving("1x1") as (client, scratch):
        ear = Ear(scratch / "ear")
        for kind, times in (("leaves at once", COOPERATIVE), ("deaf", DEAF)):
            noticed, taken = [], []
            for n in range(times):
                name = f"{kind[0]}{n}"
                on_notice = f"echo {name}-notice >{ear.path}"
                leaves = "exit 0" if kind != "deaf" else ":"
                hears = f"trap '{on_notice}; {leaves}' TERM; "
                waits = hears + ear.says(f"{name}-victim", "while :; do sleep 60 & wait $!; done")
                victim = client.jobs.submit(job(waits, quota=SMALL, grace=f"{GRACE_SECONDS:g}s"))
                ear.when(f"{name}-victim")
                began = perf_counter()
                client.jobs.submit(job(ear.says(f"{name}-preemptor"), quota=SMALL, priority=9))
                notice = ear.when(f"{name}-notice")
                noticed.append((notice - began) * 1000)
                taken.append((ear.when(f"{name}-preemptor") - notice) * 1000)
                client.jobs.cancel(victim["id"])
            table.add(kind, times, _spread(noticed)[0], *_spread(taken)[:2])
    return [table]


def _by_order() -> list[float]:
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o711)
        ear = Ear(Path(scratch, "ear"))
        engine = LocalEngine(Path(scratch, "engine"), run_as=RUN_AS)
        engine.open(lambda _: None)
        took = []
        for n in range(-5, STARTS):
            program = {"command": ear.says(f"w{n}")}
            replica = ReplicaOrder(0, "n", (0,), Shape(1000, 0, 0))
            began = perf_counter()
            engine.start(StartOrder(JobId(f"job{n}"), 1, Module.DLC, (replica,), program, 1_000))
            took.append((ear.when(f"w{n}") - began) * 1000)
        while engine.observe().running:
            pass
        engine.close()
        return took[5:]


def _by_http() -> list[float]:
    with serving() as (client, scratch):
        ear = Ear(scratch / "ear")
        took = []
        for n in range(-5, STARTS):
            began = perf_counter()
            client.jobs.submit(job(ear.says(f"w{n}")))
            took.append((ear.when(f"w{n}") - began) * 1000)
        return took[5:]


def _spread(times_ms: list[float]) -> tuple[str, str, str]:
    ordered = sorted(times_ms)
    last = len(ordered) - 1
    return ms(ordered[last // 2]), ms(ordered[min(last, int(len(ordered) * 0.99))]), ms(ordered[-1])
