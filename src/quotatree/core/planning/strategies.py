"""Who may be tried inside one quota: what does its strategy do about a blocked head (S1-S4)?"""

from __future__ import annotations

from collections.abc import Callable

from quotatree.core.model.effort import FEW, ONE_BY_ONE
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota
from quotatree.core.model.wait_queue import FIFO_FROM, WaitClass, WaitQueue

Passed = Callable[[WaitClass], bool]
"""A question about a class: whether every strategy passes over it, whether its failure is remembered."""

Tryable = tuple[list[tuple[WaitClass, JobId]], tuple[tuple[JobId, int], ...], WaitClass | None]
"""The jobs that may be tried, in order, the positions that `balance` should remember, and the class that lets nobody be tried: the
first of the queue, if it fails and blocks all others."""


def tryable(
    quota: Quota, now_ms: int, aging_ms: int, balance_ms: int, passed: Passed, fails: Passed
) -> Tryable:
    """Return the jobs that the strategy lets be tried now.

    A class that `fails` blocks (fifo) or is skipped (traverse) without being tried again: its failure is remembered.
    """
    queue, strategy = quota.queue, quota.spec.strategy
    if strategy is Strategy.BALANCE:
        return _balance_window(quota, now_ms, aging_ms, balance_ms, passed, fails)
    if not traverses(quota):
        return _up_to_blocker(queue, now_ms, aging_ms, strategy, passed, fails)
    ready: list[WaitClass] = []
    for cls in queue.classes.values():  # asked in every plan: no comprehension
        if (cls.failed is None or not fails(cls)) and not passed(cls):
            ready.append(cls)
    if len(ready) <= 1:
        return [(cls, cls.members[0][1]) for cls in ready] if ready else [], (), None
    if len(ready) <= FEW:
        ordered = queue.ordered(ready, now_ms, aging_ms, strategy)
    else:
        wanted = set(ready)
        ordered = [c for c in queue.in_order(now_ms, aging_ms, strategy) if c in wanted]
    return [(cls, cls.members[0][1]) for cls in ordered], (), None


def _up_to_blocker(
    queue: WaitQueue, now_ms: int, aging_ms: int, strategy: Strategy, passed: Passed, fails: Passed
) -> Tryable:
    """Return what `tryable` does, for strategies by which nobody passes certain jobs (S1, S4)."""
    found: list[tuple[WaitClass, JobId]] = []
    nobody_before = True
    for cls in queue.in_order(now_ms, aging_ms, strategy):
        if not passed(cls):
            failed = fails(cls)
            if not failed:
                found.append((cls, cls.members[0][1]))
            if (strategy is Strategy.FIFO or cls.priority >= FIFO_FROM) and not cls.grows:
                return found, (), cls if failed and nobody_before else None
        nobody_before = False
    return found, (), None


def traverses(quota: Quota) -> bool:
    """Return whether no job of the quota's queue blocks another one (S2, S4)."""
    strategy = quota.spec.strategy
    return strategy is Strategy.TRAVERSE or (strategy is Strategy.INTELLIGENT and not quota.queue.urgent)


def head(quota: Quota, now_ms: int, aging_ms: int, passed: Passed) -> tuple[WaitClass, JobId] | None:
    """Return the head of a quota's queue, the first job that is not passed over, with its class; None if there is none.

    A running job that misses replicas is no head: it blocks nobody (P12).
    """
    for cls in quota.queue.in_order(now_ms, aging_ms, quota.spec.strategy):
        if not cls.grows and not passed(cls):
            return cls, cls.members[0][1]
    return None


def _balance_window(
    quota: Quota, now_ms: int, aging_ms: int, balance_ms: int, passed: Passed, fails: Passed
) -> Tryable:
    """Return what `tryable` does, for `balance`: the head alone, the first two once it has been head for long, and so on (S3)."""
    order: list[tuple[WaitClass, JobId]] = []
    growing: list[tuple[int, WaitClass, JobId]] = []  # with the number of jobs ahead that have positions
    passes: dict[int, bool] = {}
    for cls, job_id in quota.queue.jobs_in_order(now_ms, aging_ms, Strategy.BALANCE):
        if passes.setdefault(id(cls), passed(cls)):
            continue
        if cls.grows:
            growing.append((len(order), cls, job_id))
            continue
        order.append((cls, job_id))
        if len(order) >= ONE_BY_ONE:
            break
    before = quota.queue.stood
    stood: list[tuple[JobId, int]] = []
    window = 1
    open_ended = True
    for position, (_, job_id) in enumerate(order):
        since = now_ms
        if position < len(before) and before[position][0] == job_id:
            since = before[position][1]
        stood.append((job_id, since))
        if open_ended and now_ms - since >= balance_ms:
            window = position + 2
        else:
            open_ended = False
    allowed = list(order[:window])
    for ahead, cls, job_id in reversed(growing):
        if ahead < window:
            allowed.insert(ahead, (cls, job_id))
    tried: list[tuple[WaitClass, JobId]] = []
    for cls, job_id in allowed:
        if not fails(cls) and all(cls is not seen for seen, _ in tried):
            tried.append((cls, job_id))
    return tried, tuple(stood), None
