"""Which waiting classes does every strategy pass over, since nobody's leaving would help them (S1-S4, S11)?"""

from __future__ import annotations

from quotatree.core.model.job import Idle, Shape, least_asked_for
from quotatree.core.model.quota import Quota
from quotatree.core.model.wait_queue import GUARDED, WaitClass
from quotatree.core.planning.attempt_facts import regular_part
from quotatree.core.state import State


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
        request = request.plus(regular_part(state.jobs[cls.members[0][1]]))
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
