"""Who is tried next on idle capacity, across all quotas (I1, I4)?"""

from __future__ import annotations

from quotatree.core.model.effort import ONE_LOOK
from quotatree.core.model.job import JobId
from quotatree.core.model.resources import GPU
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.fair_idle import fair_order, sharing_from
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.passed_over import over_limit
from quotatree.core.state import State


def idle_candidates(state: State, ordering: Ordering, now_ms: int) -> list[Candidate]:
    """Return the jobs to try in the second round: those that may run idle, even behind a blocked head (ADR 0006).

    By queue priority, submit time and id; below fair borrowing by share (I4).
    """
    found: list[tuple[int, int, JobId, Candidate]] = []
    for quota in ordering.waiting():
        if not quota.queue.borrowing:
            continue
        root = quota.root
        capacity = root.min[GPU]
        unused = None if capacity is None else capacity - root.used[GPU] - root.idle[GPU]
        shared = sharing_from(quota) is not None
        for cls in quota.queue.classes.values():
            if not cls.borrows:
                continue
            if not shared and unused is not None and cls.request[GPU] and cls.request[GPU] > unused:
                continue
            if cls.failed_idle is not None and cls.still_fails(cls.failed_idle, now_ms, state.change):
                continue
            if cls.limits and over_limit(state, cls):
                continue
            submitted, job_id = cls.members[0]
            job = state.jobs[job_id]
            if job.running or job.leaving:
                continue
            found.append((-ordering.queue_priority(cls, job), submitted, job_id, Candidate(quota, cls, job)))
    state.work.done += ONE_LOOK * len(found)
    if len(found) <= 1:
        return [found[0][3]] if found else []
    found.sort(key=lambda entry: entry[:3])
    return fair_order([entry[3] for entry in found], lambda c: c.quota, lambda c: c.job)
