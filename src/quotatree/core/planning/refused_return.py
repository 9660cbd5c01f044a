"""Why may a waiting job claim nothing of what siblings have above their min (P15, X1)?"""

from __future__ import annotations

from quotatree.core.model.quota_arithmetic import Shortage, loan
from quotatree.core.model.resources import amount_text
from quotatree.core.model.rights import kept_from, work_of
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.steps import what_is_short
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.search.eligible import above_min_beside


def why_no_return(claimant: Claimant, short: Shortage | None) -> Reason | None:
    """Return why a job has no right to a return; None if nobody beside it is above their min in what it lacks.

    `short`: the lowest quota on its path without room, before anybody gave way; None: only places are short. Asked where the job
    has no such right.
    """
    quota = claimant.quota
    if not quota.tree.loans:
        return None
    if short is not None and short.quota is quota:
        beside = above_min_beside(claimant.state, quota)
        lent = any(claimant.request[i] and loan(sibling, i) for sibling in beside for i in range(3))
        return claimant.why_short(short) if lent else None
    return why_too_little(claimant) or _not_for_those_below(claimant, short)


def why_too_little(claimant: Claimant) -> Reason | None:
    """Return whose policy keeps the job from claiming as much as it lacks, of several siblings the one that keeps most; None if no
    policy does."""
    beside, work = above_min_beside(claimant.state, claimant.quota), work_of(claimant.job)
    lacks = claimant.deficit(False)
    for resource in what_is_short(claimant):
        loans = [(over, sibling) for sibling in beside if (over := loan(sibling, resource))]
        kept = [(min(over, kept_from(sibling, work, resource)), over, sibling) for over, sibling in loans]
        most, over, borrower = max(kept, key=lambda one: one[0], default=(0, 0, claimant.quota))
        claimable = sum(over - part for part, over, _ in kept)
        if most and (not claimable or claimable < lacks[resource]):
            return because(
                Code.ReturnRefused, quota=borrower.id, loan=amount_text(resource, over),
                kept=amount_text(resource, most), claimable=amount_text(resource, over - most),
            )  # fmt: skip
    return None


def _not_for_those_below(claimant: Claimant, short: Shortage | None) -> Reason | None:
    """Return that siblings of a quota above the job's own fill what is short and are above their min: only jobs of that quota
    itself may claim it. None if it is not so."""
    if short is None:
        return None
    path = claimant.quota.path
    lender = path[path.index(short.quota) - 1]
    if lender is claimant.quota:
        return None
    beside = above_min_beside(claimant.state, lender)
    if not any(loan(sibling, short.resource) for sibling in beside):
        return None
    return because(Code.ReturnNotBelow, quota=lender.id)
