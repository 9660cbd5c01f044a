"""The starvation guard (S10): the longest-waiting head of a tree gets what becomes free, before it is too late."""

from __future__ import annotations

from bisect import bisect_right

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.model.job import Idle, Job, Shape, least_asked_for, total_request
from quotatree.core.model.quota import Quota
from quotatree.core.model.tree import Tree
from quotatree.core.planning.strategies import cannot_start, first_in_line
from quotatree.core.reasons import Code, Step, because
from quotatree.core.state import State


def place_guards(state: State, trees: tuple[Tree, ...], now_ms: int) -> list[say.Decision]:
    """Guard the longest-waiting head of every tree without a guarded job, if it has waited long enough; return the holds."""
    due = [(tree, _due(state, tree, now_ms)) for tree in trees]
    return [_guard(state, tree, job, now_ms) for tree, job in due if job is not None]


def look_after_guards(state: State, trees: tuple[Tree, ...], now_ms: int) -> list[say.Decision]:
    """Choose other nodes where kept ones are out of order, and end guards of jobs that cannot start any more.

    Returns a release for each guard that ended.
    """
    found: list[say.Decision] = []
    for tree in trees:
        if tree.guard is None:
            continue
        job = state.jobs[tree.guard]
        cls = job.quota.queue.of_job.get(job.id)
        if cls is not None and cannot_start(state, cls):
            effects.clear_guard(state, job)
            state.tell(job, now_ms, Code.GuardEnded.name)
            found.append(say.Release(job.id, because(Code.GuardEnded)))
        elif not _still_hold(state, tree, job):
            state.set_guard(tree, tree.guard, frozenset(_nodes_for(state, tree, job)))
            state.bump(tree.root)
    return found


def guard_due(state: State, trees: tuple[Tree, ...], now_ms: int) -> bool:
    """Return whether `place_guards` would guard a job now."""
    return any(_due(state, tree, now_ms) is not None for tree in trees)


def next_guard_ms(state: State, trees: tuple[Tree, ...], now_ms: int) -> list[int]:
    """Return the next time, in ms, at which the first job of a waiting class will have waited long enough: one or none.

    Whether the job is head by then is not known. Trees with a guarded job are left out.
    """
    after_ms = state.settings.starvation_guard_ms
    if not after_ms:
        return []
    soonest: int | None = None
    for tree in trees:
        if tree.guard is not None:
            continue
        for quota in tree.waiting.values():
            waits = _waiting_since(state, quota)
            later = bisect_right(waits, now_ms - after_ms)
            if later < len(waits) and (soonest is None or waits[later] < soonest):
                soonest = waits[later]
    return [] if soonest is None else [soonest + after_ms]


def _waiting_since(state: State, quota: Quota) -> list[int]:
    """Return since when the first job of each class waits that may be guarded, longest first; kept until the queue changes."""
    queue = quota.queue
    if queue.since is None or queue.since[0] != queue.stamp:
        jobs = state.jobs
        may_be = [cls for cls in queue.classes.values() if not cls.promotes and cls.idle is not Idle.ONLY]
        queue.since = (queue.stamp, sorted([jobs[cls.members[0][1]].queued_ms for cls in may_be]))
    return queue.since[1]


def _due(state: State, tree: Tree, now_ms: int) -> Job | None:
    """Return the head of a tree that has waited longest, if that is long enough and no job of the tree is guarded."""
    after_ms = state.settings.starvation_guard_ms
    if not after_ms or tree.guard is not None:
        return None
    queued_before_ms = now_ms - after_ms
    heads: list[Job] = []
    for quota in tree.waiting.values():
        waits = _waiting_since(state, quota)
        if not waits or waits[0] > queued_before_ms:
            continue
        heads += [
            job
            for job, cls in first_in_line(state, quota, now_ms)
            if not cls.promotes and job.spec.idle is not Idle.ONLY and job.queued_ms <= queued_before_ms
        ]
    if not heads:
        return None
    return min(heads, key=lambda j: (j.queued_ms, j.spec.submitted_ms, j.id))


def _guard(state: State, tree: Tree, job: Job, now_ms: int) -> say.Hold:
    """Keep quota along the path, and enough nodes, for this job, without evicting anything; return the hold."""
    request = total_request(job, least_asked_for(job))
    state.dequeue(job)
    for above in job.quota.path:
        state.set_shadow(above, request)
    state.set_guard(tree, job.id, frozenset(_nodes_for(state, tree, job)))
    state.enqueue(job)
    state.bump(tree.root)  # who would have been taken back by this job is so no longer (S8)
    reason = because(Code.StarvationGuard, waited=f"{(now_ms - job.queued_ms) // 1000} s")
    return say.Hold(job.id, (), (), None, Step.FREE, reason)


def _nodes_for(state: State, tree: Tree, job: Job) -> list[int]:
    """Return the nodes nearest to being empty that could together hold the whole job; fewer if there are not enough."""
    chosen: dict[int, None] = {}
    for shape, missing in _shapes(job).items():
        suited = [
            n
            for n in state.nodes
            if n.spec.pool in tree.pools and n.suits(shape) and n.slots_when_empty(shape)
        ]
        suited.sort(key=lambda n: (-sum(n.free), n.index))
        for node in suited:
            if missing <= 0:
                break
            missing -= node.slots_when_empty(shape)
            chosen[node.index] = None
    return list(chosen)


def _still_hold(state: State, tree: Tree, job: Job) -> bool:
    """Return whether all nodes kept for the guarded job are schedulable and have enough healthy devices for it."""
    kept = [state.nodes[index] for index in tree.guard_nodes]
    if not all(node.schedulable for node in kept):
        return False
    return not any(node.reduced for node in kept) or all(
        sum(node.slots_when_empty(shape) for node in kept if node.suits(shape)) >= count
        for shape, count in _shapes(job).items()
    )


def _shapes(job: Job) -> dict[Shape, int]:
    """Return how many replicas of each shape the job's core is missing, largest shape first."""
    wanted: dict[Shape, int] = {}
    for index in least_asked_for(job):
        shape = job.shape_of(index)
        wanted[shape] = wanted.get(shape, 0) + 1
    return dict(sorted(wanted.items(), key=lambda entry: (-entry[0].gpu_milli, entry[0])))
