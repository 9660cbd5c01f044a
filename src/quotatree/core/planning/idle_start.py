"""Can a waiting job start on idle capacity now, and if not, why not (I1, I2)?"""

from __future__ import annotations

from quotatree.core.model.job import Job, Placed, missing_core, total_request
from quotatree.core.model.resources import Resources, resources_text
from quotatree.core.planning.attempt_facts import idle_refusal, passes_guard
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.search.placement import Wanted, find_places
from quotatree.core.state import State


def idle_start(state: State, job: Job, request: Resources) -> tuple[Placed, ...] | Reason:
    """Return the free places for the core of a job that asks for `request`, or why it cannot start on idle capacity."""
    if job.leaving:
        return because(Code.StillLeaving, replicas=len(job.leaving))
    refusal = idle_refusal(state, job, request)
    if refusal is not None:
        return refusal
    wanted = [(i, job.shape_of(i)) for i in missing_core(job)]
    avoid = frozenset() if passes_guard(state, job) else job.quota.tree.guard_nodes
    places = find_places(state, job.quota.root, wanted, now=True, avoid=avoid)
    return _no_place(state, job, wanted, avoid) if places is None else places


def _no_place(state: State, job: Job, wanted: Wanted, avoid: frozenset[int]) -> Reason:
    tree = job.quota.tree
    if avoid and tree.guard is not None and find_places(state, tree.root, wanted, now=True) is not None:
        guarded = state.jobs[tree.guard]
        kept = resources_text(total_request(guarded, missing_core(guarded)))
        return because(Code.KeptForGuard, quota=tree.root.id, kept=kept, head=tree.guard)
    return because(Code.IdleNoPlacement, shape=resources_text(wanted[0][1].resources))
