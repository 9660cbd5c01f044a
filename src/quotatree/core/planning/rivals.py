"""Which jobs must be tried before a waiting job: those that could evict it (S8), and before a loan the siblings' jobs that
need none (P3)?"""

from __future__ import annotations

from collections.abc import Container

from quotatree.core.model.job import Job, JobId
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import Quota, shortage
from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import Work, could_claim, could_evict, work_of
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.ordering import Ordering


class Claims:
    """Who could claim part of what a quota has borrowed, or would have with `request` more for this work (P15)?

    Asked of jobs beside that quota, who can or cannot alike if they have one parent, priority and module. The quotas must not
    change meanwhile.
    """

    __slots__ = ("_known", "_request", "_victim")

    def __init__(self, victim: Work, request: Resources) -> None:
        self._victim, self._request = victim, request
        self._known: dict[tuple[Quota | None, int, Module], bool] = {}

    def by(self, claimant: Job) -> bool:
        alike = (claimant.quota.parent, claimant.priority, claimant.spec.module)
        known = self._known.get(alike)
        if known is None:
            known = could_claim(work_of(claimant), self._victim, self._request)
            self._known[alike] = known
        return known


def rival_of(
    ordering: Ordering, job: Job, request: Resources, without: Container[JobId] = ()
) -> Candidate | None:
    """Return a waiting job that could evict this one and may be tried now, or None; topmost quotas first (S8).

    `without`: jobs that are left out.
    """
    victim = work_of(job)
    claims = Claims(victim, request)
    found: list[Candidate] = []
    for quota, on_loan in ordering.could_take(victim, request):
        if found and found[0].quota.depth < quota.depth:
            continue
        for cls, other in ordering.ready(quota):
            if other is job or other.id in without:
                continue
            claims_it = on_loan and victim.priority <= other.priority and claims.by(other)
            if claims_it or could_evict(quota, other.priority, victim):
                if found and found[0].quota.depth > quota.depth:
                    found.clear()
                found.append(Candidate(quota, cls, other))
                break
    return ordering.first_of(found)


def before_loan(ordering: Ordering, borrower: Job, without: Container[JobId] = ()) -> Candidate | None:
    """Return a waiting job of a sibling that fits every min on its path and that the borrower could not evict, or None (P3).

    `without`: jobs that are left out.
    """
    parent = borrower.quota.parent
    if parent is None:
        return None
    found: list[Candidate] = []
    for quota in ordering.waiting_below(parent):
        if quota is parent or borrower.quota.contains(quota):
            continue
        for cls, other in ordering.ready(quota):
            if other.id in without or could_evict(borrower.quota, borrower.priority, work_of(other)):
                continue
            if shortage(quota, cls.request) is None:
                found.append(Candidate(quota, cls, other))
                break
    return ordering.first_of(found)
