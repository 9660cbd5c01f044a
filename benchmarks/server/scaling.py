"""Does the server get slower as jobs pile up? The same questions with 100 and with 100,000 jobs in the store, and
with 100 and 10,000 of them waiting, within one run.

The stores are filled through the store's own commit, so that the history looks as a server leaves it. The loop runs
without a thread and on a clock that stands still: what is timed is one submit with its plan and commit, and one page of a
list as the API reads it. Two stores side by side, asked by turns, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.measure import Table, budgets, middle, ms, settle, timed, verdict
from quotatree.access.values import User
from quotatree.control.commands import values as do
from quotatree.control.loop import Controller
from quotatree.control.queries import queue
from quotatree.control.world import SYSTEM
from quotatree.core import (
    Bounds,
    Claim,
    JobId,
    JobRecord,
    JobRequest,
    JobSpec,
    NodeSpec,
    Phase,
    QuotaId,
    QuotaSpec,
    ReplicaGroup,
    Shape,
)
from quotatree.engines.timer import TimerEngine
from quotatree.store import HistoryFilter, JobFilter, Store
from quotatree.store import rows as r

QUOTAS: Final = tuple(f"quota-{number}" for number in range(10))
NOW_MS: Final = 1_800_000_000_000
ONE_GPU: Final = (ReplicaGroup(1, Shape(1000, 0, 0)),)
ROUNDS: Final = 150
AT_ONCE: Final = 2_000
PAGE: Final = 10
RARE: Final = 20
"""How many of the finished jobs are cancelled ones: the same in both stores, so that a page of them is equally full."""
PLACE: Final = r.PlacementRow("", 1, 0, "node-0", (0,), 1000, 0, 0)


@dataclass(frozen=True, slots=True)
class Standing:
    """A running server with a filled store; most of its jobs are finished."""

    store: Store
    controller: Controller

    def do(self, *commands: do.Command) -> None:
        calls = [self.controller.call(command) for command in commands]
        self.controller.step()
        for call in calls:
            call.result(0)


def scaling() -> list[Table]:
    limit = budgets()["server"]["growth_ratio"]
    table = Table(
        "Growth with jobs in the store and in the queues, SQLite",
        ("what", "100 finished, 100 waiting ms", "90,000 finished, 10,000 waiting ms", "times", "budget", ""),
        note=f"Medians of {ROUNDS}, asked by turns; pages of {PAGE}. 640 jobs run on either side.",
    )
    with ExitStack() as stack:
        few, many = (_standing(stack, stored, waits) for stored, waits in ((100, 100), (90_000, 10_000)))
        settle()
        for name, ask in QUESTIONS.items():
            times: tuple[list[float], list[float]] = ([], [])
            for number in range(ROUNDS + 10):
                for server, seen in zip((few, many), times, strict=True):
                    seen.append(timed(partial(ask, server, number))[1])
            before, after = middle(times[0][10:]), middle(times[1][10:])
            table.add(
                name, ms(before), ms(after), f"{after / before:.2f}", limit, verdict(after / before, limit)
            )
    return [table]


def _submit(server: Standing, number: int) -> None:
    server.do(_job(QUOTAS[number % len(QUOTAS)]))


def _submit_batch(server: Standing, number: int) -> None:
    server.do(do.SubmitJobs(actor="root", jobs=tuple(_job(quota) for quota in QUOTAS)))


def _end_and_start(server: Standing, number: int) -> None:
    """Cancel a running job, so that the plan starts the next one in its place."""
    state = server.controller.ask(lambda world, _: world.state)
    server.controller.step()
    running = next(job.id for job in state.result(0).jobs.values() if job.phase is Phase.RUNNING)
    server.do(do.CancelJob(actor="root", job=running))


def _queue(server: Standing, number: int) -> None:
    asked = server.controller.ask(queue("root", QUOTAS[0], 0, PAGE))
    server.controller.step()
    assert asked.result(0)


def _jobs(asked: JobFilter) -> Callable[[Standing, int], None]:
    def ask(server: Standing, number: int) -> None:
        assert len(server.store.jobs(asked, None, PAGE).items) == PAGE

    return ask


def _second_page(server: Standing, number: int) -> None:
    asked = JobFilter(workspaces=("bench",))
    assert server.store.jobs(asked, server.store.jobs(asked, None, PAGE).next, PAGE).items


def _history(server: Standing, number: int) -> None:
    server.store.events(0, HistoryFilter(quotas=(QUOTAS[0],)), PAGE)


QUESTIONS: Final[dict[str, Callable[[Standing, int], None]]] = {
    "list: first page": _jobs(JobFilter()),
    "list: two pages of a workspace": _second_page,
    "list: a quota's running ones": _jobs(JobFilter(quotas=(QUOTAS[0],), phases=("Running",))),
    "list: active": _jobs(JobFilter(active=True)),
    "list: cancelled (rare)": _jobs(JobFilter(phases=("Cancelled",))),
    "list: cancelled of a workspace": _jobs(JobFilter(workspaces=("bench",), phases=("Cancelled",))),
    "events of a quota": _history,
    "queue: first page": _queue,
    "submit, one commit": _submit,
    "submit of ten, one commit": _submit_batch,
    "an end and the start after it": _end_and_start,
}


def _job(quota: str) -> do.SubmitJob:
    asked = JobRequest(JobId(""), quota, ONE_GPU, 0, workspace="bench")
    return do.SubmitJob(actor="root", asked=asked, name="job")


def _standing(stack: ExitStack, finished: int, waiting: int) -> Standing:
    """A server with so many finished and waiting jobs; beside them 640 jobs run, one on each GPU."""
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quotatree-bench-")))
    store = Store.open(str(directory / "store.db"))
    stack.callback(store.close)
    store.migrate()
    _fill(store, finished)
    engine = TimerEngine(None, lambda: NOW_MS, threaded=False)
    server = Standing(store, Controller(store, engine, "bench", clock=lambda: NOW_MS))
    stack.callback(server.controller.stop)
    server.controller.step()
    server.do(do.PutUser(actor=SYSTEM, user=User("root", platform_admin=True)))
    for number in range(80):
        server.do(do.JoinNode(actor="root", spec=NodeSpec(f"node-{number}", "pool")))
    draws = (("pool", Bounds(640_000)),)
    server.do(do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId("root"), draws=draws)))
    server.do(do.CreateWorkspace(actor="root", workspace="bench", owners=("root",)))
    for quota in QUOTAS:
        server.do(
            do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId(quota), QuotaId("root"), Bounds(64_000)))
        )
        server.do(do.BindQuota(actor="root", workspace="bench", quota=quota))
    jobs = [_job(QUOTAS[number % len(QUOTAS)]) for number in range(640 + waiting)]
    for start in range(0, len(jobs), 1_000):
        server.do(do.SubmitJobs(actor="root", jobs=tuple(jobs[start : start + 1_000])))
    server.controller.step()
    return server


def _fill(store: Store, finished: int) -> None:
    epoch = store.take_lease("filler", 0, 1)
    assert epoch is not None
    for number, start in enumerate(range(0, finished, AT_ONCE), 1):
        rows: list[r.Row] = []
        for index in range(start, min(start + AT_ONCE, finished)):
            rows += _finished(index, finished)
        store.commit(r.Batch(index, "filler", epoch, number, tuple(rows)))
    store.release_lease("filler", epoch)


def _finished(index: int, finished: int) -> list[r.Row]:
    name, quota = f"dlc-{index:010}", QUOTAS[index % len(QUOTAS)]
    phase = Phase.CANCELLED if index % (finished // RARE) == 0 else Phase.SUCCEEDED
    spec = JobSpec(JobId(name), quota, ONE_GPU, index, workspace="bench")
    record = JobRecord(spec, phase, Claim.REGULAR, 1, 1, index, run=1, started_ms=index)
    row = r.JobRow(record, r.Card("job", "root", {}, first_started_ms=index, ended_ms=index), "FitsFree")
    events = [
        r.EventRow(3 * index + i, index, kind, "bench", quota, name, {"run": 1})
        for i, kind in enumerate(("job.submitted", "job.started", "job.ended"), 1)
    ]
    run = r.RunRow(name, 1, "regular", index, index, index, "succeeded", "")
    return [row, run, replace(PLACE, job=name, from_ms=index, until_ms=index), *events]
