"""Who may be tried inside one quota: whom does every strategy pass over, and what does its own do about a blocked head (S1-S4, S11)?"""

from __future__ import annotations

from collections.abc import Callable

from quotatree.core.model.effort import FEW, ONE_BY_ONE
from quotatree.core.model.job import Claim, Idle, Job, JobId, Shape, least_asked_for
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import Resources
from quotatree.core.model.wait_queue import FIFO_FROM, GUARDED, WaitClass
from quotatree.core.state import State

Fails = Callable[[WaitClass], bool]
"""Whether a class is known to fail."""

Tryable = tuple[list[tuple[WaitClass, JobId]], tuple[tuple[JobId, int], ...], WaitClass | None]
"""The jobs that may be tried, in order, the positions that `balance` should remember, and the class that lets nobody be tried: the
first of the queue, if it fails and blocks all others."""


def tryable(state: State, quota: Quota, now_ms: int, fails: Fails) -> Tryable:
    """Return the jobs that the strategy lets be tried now.

    A class that `fails` blocks (fifo) or is skipped (traverse) without being tried again: its failure is remembered.
    """
    queue, strategy, aging_ms = quota.queue, quota.spec.strategy, state.settings.aging_interval_ms
    if strategy is Strategy.BALANCE:
        return _balance_window(state, quota, now_ms, fails)
    if not traverses(quota):
        return _up_to_blocker(state, quota, now_ms, fails)
    ready: list[WaitClass] = []
    for cls in queue.classes.values():  # asked in every plan: no comprehension
        if (cls.failed is None or not fails(cls)) and not passed(state, cls):
            ready.append(cls)
    if len(ready) <= 1:
        return [(cls, cls.members[0][1]) for cls in ready] if ready else [], (), None
    if len(ready) <= FEW:
        ordered = queue.ordered(ready, now_ms, aging_ms, strategy)
    else:
        wanted = set(ready)
        ordered = [c for c in queue.in_order(now_ms, aging_ms, strategy) if c in wanted]
    return [(cls, cls.members[0][1]) for cls in ordered], (), None


def _up_to_blocker(state: State, quota: Quota, now_ms: int, fails: Fails) -> Tryable:
    """Return what `tryable` does, for strategies by which nobody passes certain jobs (S1, S4)."""
    found: list[tuple[WaitClass, JobId]] = []
    nobody_before, strategy = True, quota.spec.strategy
    for cls in quota.queue.in_order(now_ms, state.settings.aging_interval_ms, strategy):
        if not passed(state, cls):
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


def first_in_line(state: State, quota: Quota, now_ms: int) -> list[tuple[Job, WaitClass]]:
    """Return the head of a quota's queue, the first job that is not passed over, and before it the running jobs that miss replicas.

    These are no heads: they block nobody (S10, P12).
    """
    found: list[tuple[Job, WaitClass]] = []
    for cls in quota.queue.in_order(now_ms, state.settings.aging_interval_ms, quota.spec.strategy):
        if passed(state, cls):
            continue
        found.append((state.jobs[cls.members[0][1]], cls))
        if not cls.grows:
            break
    return found


def head(state: State, quota: Quota, now_ms: int) -> Job | None:
    """Return the head of a quota's queue; None if there is none."""
    found = first_in_line(state, quota, now_ms)
    return found[-1][0] if found and not found[-1][1].grows else None


def _balance_window(state: State, quota: Quota, now_ms: int, fails: Fails) -> Tryable:
    """Return what `tryable` does, for `balance`: the head alone, the first two once it has been head for long, and so on (S3)."""
    order: list[tuple[WaitClass, JobId]] = []
    growing: list[tuple[int, WaitClass, JobId]] = []  # with the number of jobs ahead that have positions
    passes: dict[int, bool] = {}
    settings = state.settings
    for cls, job_id in quota.queue.jobs_in_order(now_ms, settings.aging_interval_ms, Strategy.BALANCE):
        if passes.setdefault(id(cls), passed(state, cls)):
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
        if open_ended and now_ms - since >= settings.balance_timeout_ms:
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


def passed(state: State, cls: WaitClass) -> bool:
    """Return whether every strategy passes over this class: idle only, guarded, over an amount limit, or too large."""
    if cls.idle is Idle.ONLY or cls.key[0] == GUARDED or (cls.limits and over_limit(state, cls)):
        return True
    return over_min(state, cls) or not nodes_hold(state, cls)  # as `cannot_start`: asked very often


def cannot_start(state: State, cls: WaitClass) -> bool:
    """Return whether no eviction would help: over an amount limit, larger than a min on its path or the ready nodes."""
    return (bool(cls.limits) and over_limit(state, cls)) or over_min(state, cls) or not nodes_hold(state, cls)


def over_limit(state: State, cls: WaitClass) -> bool:
    """Return whether a start would exceed an amount limit (W4)."""
    if not cls.limits or cls.promotes:  # what runs idle is within its limits already
        return False
    used = state.limit_used
    return any(used.get(lim, 0) + cls.request.gpu_milli > lim.gpu_milli for lim in cls.limits)


def over_min(state: State, cls: WaitClass) -> bool:
    """Return whether the class asks for more than a min on its path has."""
    request = cls.request
    if cls.grows:  # beside what runs of the job itself, which does not leave for it
        request = request.plus(_regular_part(state.jobs[cls.members[0][1]]))
    for above in cls.quota.path:
        for i, bound in above.named:
            if request[i] > bound and not (above is cls.quota and _borrows(cls)):
                return True
    return False


def nodes_hold(state: State, cls: WaitClass) -> bool:
    """Return whether the nodes that are ready now, if all were empty, could hold every replica that is wanted."""
    if cls.promotes:
        return True
    root, job = cls.quota.root, state.jobs[cls.members[0][1]]
    groups, count = job.spec.groups, job.core_replicas
    if job.core is None and len(groups) == 1:
        return _slots_when_empty(state, root, groups[0].shape, count) >= count
    wanted: dict[Shape, int] = {}
    for index in [*job.core_indexes, *job.extras, *least_asked_for(job)]:
        shape = job.shape_of(index)
        wanted[shape] = wanted.get(shape, 0) + 1
    return all(_slots_when_empty(state, root, shape, count) >= count for shape, count in wanted.items())


def without_nodes(state: State, quota: Quota) -> list[WaitClass]:
    """Return the classes of a queue that only nodes out of order keep from starting."""
    return [
        cls
        for cls in quota.queue.classes.values()
        if cls.idle is not Idle.ONLY
        and not over_limit(state, cls)
        and not over_min(state, cls)
        and not nodes_hold(state, cls)
    ]


def _slots_when_empty(state: State, root: Quota, shape: Shape, enough: int) -> int:
    """Return how many replicas the ready nodes of a tree could hold if all were empty, counted until there are enough."""
    key = ("roomy", root.id, shape)
    known: tuple[int, int, bool] | None = state.indexes.get(key)
    if known is None or known[0] != state.ready_version or (known[1] < enough and not known[2]):
        pools = root.tree.pools
        slots, everywhere = 0, True
        for node in state.nodes:
            if slots >= enough:
                everywhere = False
                break
            if node.spec.pool in pools and node.suits(shape):
                slots += node.slots_when_empty(shape)
        known = state.indexes[key] = (state.ready_version, slots, everywhere)
    return known[1]


def _borrows(cls: WaitClass) -> bool:
    return cls.quota.spec.self_level.reaches_siblings(cls.priority)


def _regular_part(job: Job) -> Resources:
    """Return what the regular replicas of a running job take."""
    units = [unit for unit in (job.core, *job.extras.values()) if unit is not None]
    regular = [unit.footprint for unit in units if unit.cls.claim is Claim.REGULAR]
    return Resources(*(sum(footprint[i] for footprint in regular) for i in range(3)))
