"""What does a waiting job ask for, and how much room is there for it, in its quotas and on nodes?"""

from __future__ import annotations

from quotatree.core.model.effort import Effort
from quotatree.core.model.job import Job, Placed, least_asked_for, total_request
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import Shortage, deficit, reserved_below, shortage
from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import could_claim, could_evict, may_borrow, work_of
from quotatree.core.search.placement import find_places
from quotatree.core.state import State


class Claimant:
    """A waiting job, and the replicas of it that are asked for.

    `request`: what they ask of quotas; `wanted`: what they ask of nodes. `past_guard`: it may use what a guard keeps (S10); `avoid`:
    nodes that it may not use, since they are kept for a guarded job. `effort`: what searches for it may spend in vain.
    """

    __slots__ = (
        "_lacks", "avoid", "effort", "job", "past_guard", "quota", "request", "root", "state", "wanted",
    )  # fmt: skip

    def __init__(self, state: State, job: Job, replicas: list[int], effort: Effort) -> None:
        self.state, self.job, self.effort = state, job, effort
        self.quota, self.root = job.quota, job.quota.root
        self.request, self.wanted = total_request(job, replicas), job.shaped(replicas)
        self.past_guard, self.avoid = passes_guard(state, job), kept_nodes(state, job)
        # By whether a loan is allowed: all changes by then, and what is lacking.
        self._lacks: dict[bool, tuple[object, tuple[Quota, Resources, bool]]] = {}

    # -- in its quotas -------------------------------------------------------------------------------------------

    def may_borrow(self) -> bool:
        """Return whether the job has a right to a loan (P3) that puts no reserved part below its quota out of reach (Q8)."""
        return may_borrow(self.quota, self.job.priority) and not reserved_below(self.quota, self.request)

    def beyond_min(self, resource: int) -> int:
        """Return how much of the request, in one resource, would be above the quota's own min."""
        bound = self.quota.min[resource]
        if bound is None:
            return 0
        used = self.quota.used[resource]
        return max(0, used + self.request[resource] - bound) - max(0, used - bound)

    def shortage(self, loan_allowed: bool) -> Shortage | None:
        """Return the lowest quota on the path without room for the request; None if all have.

        `loan_allowed`: the job's own quota need not have room.
        """
        return shortage(self.quota, self.request, loan_allowed=loan_allowed, past_guard=self.past_guard)

    def deficit(self, loan_allowed: bool) -> Resources:
        """Return how much victims must free of each resource so that the request fits every quota on the path."""
        return deficit(self.quota, self.request, loan_allowed=loan_allowed, past_guard=self.past_guard)

    def lacks(self) -> list[int]:
        """Return the resources that quotas on the path are short of; if there are none, those that are wanted."""
        deficit = self.deficit(False)
        return [i for i in range(3) if deficit[i] > 0] or [i for i in range(3) if self.request[i]]

    # -- on nodes ------------------------------------------------------------------------------------------------

    def places(self, *, now: bool) -> tuple[Placed, ...] | None:
        """Return places for all that is wanted, free now or, if `now` is False, also those being freed; None if there are none."""
        return find_places(self.state, self.root, self.wanted, now=now, avoid=self.avoid)

    def soonest_places(self) -> tuple[tuple[Placed, ...], bool] | None:
        """Return places for all that is wanted, and whether they are free now or only being freed; None if there are none."""
        if not self.job.leaving or self.job.running:
            places = find_places(self.state, self.root, self.wanted, now=True, avoid=self.avoid)
            if places is not None:
                return places, True
        places = self.places(now=False) if self.state.leaving_replicas else None
        return None if places is None else (places, False)

    # -- in both -------------------------------------------------------------------------------------------------

    def lacking(self, loan_allowed: bool) -> tuple[Quota, Resources, bool]:
        """Return the lowest quota without room, how much is short, and whether all replicas have places once all left who leave.

        What stands below that quota frees quota wherever the request is short of it; what stands elsewhere in the tree does not. It is
        the root if all have room. The steps of one attempt ask in the same state, unless surplus gives way or others are tried in
        between.
        """
        now = self.state.all_changes
        known = self._lacks.get(loan_allowed)
        if known is None or known[0] != now:
            short = self.shortage(loan_allowed)
            short_at = self.root if short is None else short.quota
            found = (short_at, self.deficit(loan_allowed), self.places(now=False) is not None)
            known = self._lacks[loan_allowed] = now, found
        return known[1]


def kept_nodes(state: State, job: Job) -> frozenset[int]:
    """Return the nodes that a job may not use, since they are kept for a guarded job (S10)."""
    kept = job.quota.tree.guard_nodes
    return frozenset() if not kept or passes_guard(state, job) else kept


def passes_guard(state: State, job: Job) -> bool:
    """Return whether this job may use what the tree's guard keeps: it is the guarded job, or could evict it (S10).

    True if the tree has no guarded job.
    """
    guard = job.quota.tree.guard
    if guard is None or guard == job.id:
        return True
    guarded = state.jobs[guard]
    request = total_request(guarded, least_asked_for(guarded))
    claimable = could_claim(work_of(job), work_of(guarded), request)
    return could_evict(job.quota, job.priority, work_of(guarded), claimable=claimable)
