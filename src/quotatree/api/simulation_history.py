"""What was asked of a tree in a stretch of its history: stored jobs as a trace for the simulator.

A job's work is the time that it ran in all. Jobs that have not run yet say nothing about how long they would, and jobs whose
replicas differ cannot be replayed; both are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from quotatree.core import Idle, Refused
from quotatree.sim.setup import Rule
from quotatree.sim.trace import Trace, TraceJob
from quotatree.store import JobFilter, JobSort, Store
from quotatree.store.rows import JobRow

MOST_JOBS: Final = 20_000
PAGE: Final = 1000
OLDEST_FIRST: Final = JobSort("submitted_ms", ascending=True)
RULES: Final = (
    Rule(users=(Idle.ALLOW.value,), idle=Idle.ALLOW),
    Rule(users=(Idle.ONLY.value,), idle=Idle.ONLY),
)
"""The trace says in the place of the user whether a job may run idle, since nobody needs the user there."""


def trace_of(store: Store, quotas: Sequence[str], from_ms: int, before_ms: int, now_ms: int) -> Trace:
    """The jobs that were submitted to these quotas in this time. Refused if there are none, or more than MOST_JOBS."""
    asked = JobFilter(quotas=tuple(sorted(quotas)), submitted_from_ms=from_ms, submitted_before_ms=before_ms)
    count = store.count_jobs(asked)
    if count > MOST_JOBS:
        text = f"has {count} jobs, more than the {MOST_JOBS} that one simulation takes; choose a shorter time"
        raise Refused("before_ms", before_ms, "X3", text)
    skipped: Counter[str] = Counter()
    found = []
    for rows in _pages(store, asked):
        ran = store.run_times([row.id for row in rows], now_ms)
        for row in rows:
            job = _job(row, ran.get(row.id, 0), from_ms)
            if isinstance(job, str):
                skipped[job] += 1
            else:
                found.append(job)
    told = tuple(f"{number} jobs: {why}" for why, number in sorted(skipped.items()))
    if not found:
        raise Refused(
            "from_ms", from_ms, "X3", f"no job of that time can be replayed; {'; '.join(told)}".rstrip("; ")
        )
    return Trace(tuple(sorted(found, key=lambda job: (job.submit_ms, job.id))), "history", told)


def _pages(store: Store, asked: JobFilter) -> Iterator[tuple[JobRow, ...]]:
    cursor: str | None = None
    while True:
        page = store.jobs(asked, cursor, PAGE, OLDEST_FIRST)
        yield page.items
        cursor = page.next
        if cursor is None:
            return


def _job(row: JobRow, ran_ms: int, from_ms: int) -> TraceJob | str:
    """The job as the simulator takes it, or why it cannot."""
    spec = row.record.spec
    shapes = {group.shape for group in spec.groups}
    if ran_ms <= 0:
        return "have not run"
    if len(shapes) > 1:
        return "have replicas that differ"
    shape = spec.groups[0].shape
    return TraceJob(
        id=row.id,
        submit_ms=spec.submitted_ms - from_ms,
        duration_ms=ran_ms,
        replicas=spec.wanted_replicas,
        gpu_milli=shape.gpu_milli,
        cpu_milli=shape.cpu_milli,
        memory_mib=shape.memory_mib,
        team=row.quota,
        user=spec.idle.value,
        module=spec.module.value,
        priority=row.priority,
        models=shape.models,
        checkpoint_interval_ms=spec.checkpoint_interval_ms,
    )
