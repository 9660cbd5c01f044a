"""Can a job start on idle capacity now, or get replicas there that it is missing, and if not, why not (I1, I2, P12)?"""

from __future__ import annotations

from quotatree.core.model.job import Job, Placed, asked_for, least_count, total_request
from quotatree.core.model.resources import resources_text
from quotatree.core.planning.attempt_facts import idle_refusal, kept_for_guard, passes_guard
from quotatree.core.planning.extra_replicas import over_limit
from quotatree.core.planning.fair_idle import waits_for_leaving
from quotatree.core.planning.no_place import why_no_part
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.search.placement import find_places
from quotatree.core.state import State


def idle_start(state: State, job: Job) -> tuple[Placed, ...] | Reason:
    """Return free places for as many of the replicas a job asks for as may run idle, or why not even the least may."""
    if job.leaving and not job.running:
        return because(Code.StillLeaving, replicas=len(job.leaving))
    numbers = asked_for(job)
    least = min(len(numbers), least_count(job))
    found = _places(state, job, numbers[:least])
    if isinstance(found, Reason):
        waits = not job.running and waits_for_leaving(state, job)
        return because(Code.FairTurn, leaving=state.leaving_replicas) if waits else found
    if len(numbers) == least:
        return found
    enough, too_many = least, len(numbers) + 1
    while too_many - enough > 1:
        count = len(numbers) if too_many > len(numbers) else (enough + too_many) // 2
        gpu_milli = total_request(job, numbers[:count]).gpu_milli
        more = None if over_limit(state, job, gpu_milli) else _places(state, job, numbers[:count])
        if more is None or isinstance(more, Reason):
            too_many = count
        else:
            found, enough = more, count
    return found


def _places(state: State, job: Job, numbers: list[int]) -> tuple[Placed, ...] | Reason:
    """Return free places for exactly these replicas, or why they cannot start on idle capacity."""
    refusal = idle_refusal(state, job, total_request(job, numbers))
    if refusal is not None:
        return refusal
    tree = job.quota.tree
    wanted = job.shaped(numbers)
    avoid = frozenset() if passes_guard(state, job) else tree.guard_nodes
    places = find_places(state, tree.root, wanted, now=True, avoid=avoid)
    if places is not None:
        return places
    if avoid and tree.guard is not None and find_places(state, tree.root, wanted, now=True) is not None:
        return kept_for_guard(state, job)
    part = why_no_part(state, tree.root, wanted, avoid)
    if part is not None:
        return part
    return because(Code.IdleNoPlacement, shape=resources_text(wanted[0][1].resources))
