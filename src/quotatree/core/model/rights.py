"""Who could evict whom, by policy alone (P1, P2, P15): the question behind S8, S10 and X4."""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core.model.job import Job
from quotatree.core.model.policy import Module, Scope, reaches
from quotatree.core.model.quota import Quota
from quotatree.core.reasons import Code


class Work(NamedTuple):
    """What policies look at in a job that runs, or would run."""

    quota: Quota
    priority: int
    module: Module


def work_of(job: Job) -> Work:
    return Work(job.quota, job.priority, job.spec.module)


def rules_against(taker: Quota, taker_priority: int, victim: Work, *, claimable: bool) -> tuple[Code, ...]:
    """Return the rules by which a job of this priority, waiting at `taker`, could take this regular work.

    `claimable`: the job may claim a part of what the sibling that contains the victim has borrowed (P15; `could_claim`).
    """
    quota, spec = victim.quota, taker.spec
    if taker is quota:
        own = reaches(spec.self_level.own(taker_priority), victim.priority, victim.module)
        return (Code.SelfLevelOwn,) if own else ()
    if taker.contains(quota):
        below = spec.child_level
        taken = below is not None and reaches(below.reach, victim.priority, victim.module)
        return (Code.ChildLevel,) if taken else ()
    if taker.parent is None or not taker.parent.contains(quota) or quota is taker.parent:
        return ()
    returned = (Code.ReturnOfLoan,) if claimable and victim.priority <= taker_priority else ()
    if reaches_siblings(taker, taker_priority, victim):
        return (Code.SelfLevelSibling, *returned)
    return returned


def could_evict(taker: Quota, taker_priority: int, victim: Work, *, claimable: bool = False) -> bool:
    return bool(rules_against(taker, taker_priority, victim, claimable=claimable))


class Against(NamedTuple):
    """The quotas of a tree whose policies name work of one priority and module, by where that work stands."""

    own: frozenset[Quota]
    below: frozenset[Quota]
    beside: frozenset[Quota]


def policies_against(victim: Work) -> Against:
    """Return the quotas of the victim's tree whose policies name such work; the tree keeps them until rights change."""
    tree = victim.quota.tree
    key = (victim.priority, victim.module)
    found = tree.against.get(key)
    if found is None:
        quotas = tree.quotas()
        found = tree.against[key] = Against(
            own=frozenset(q for q in quotas if _names(q, victim, Scope.OWN)),
            below=frozenset(
                q for q in quotas
                if q.spec.child_level is not None and reaches(q.spec.child_level.reach, *victim[1:])
            ),
            beside=frozenset(q for q in quotas if _names(q, victim, Scope.SIBLINGS)),
        )  # fmt: skip
    return found


def _names(taker: Quota, victim: Work, scope: Scope) -> bool:
    """Return whether a self-level policy of `taker` lets jobs of some priority take such work in this scope, `own` or `siblings`."""
    return any(
        policy.scope in (scope, Scope.LEVEL)
        and reaches(policy.reach_of(policy.high.high), victim.priority, victim.module)
        for policy in taker.spec.self_level
    )


def may_borrow(quota: Quota, priority: int) -> bool:
    """Return whether jobs of this priority may go beyond the quota's own min (P3).

    That needs self-level with scope siblings or level, a parent, and a quota that is not shrinking (Q5).
    """
    return (
        quota.parent is not None and not quota.shrinking and quota.spec.self_level.reaches_siblings(priority)
    )


def could_claim(claimant: Work, victim: Work, request: tuple[int, int, int]) -> bool:
    """Return whether a job waiting at a quota could claim part of a sibling's loan once the victim has `request` more (P15).

    The sibling is the one that contains the victim; False if none does.
    """
    borrower = _sibling_above(claimant.quota, victim.quota)
    if borrower is None:
        return False
    takes_back = victim.quota is borrower and reaches_siblings(borrower, victim.priority, claimant)
    for i, bound in borrower.named:
        loan = borrower.used[i] + request[i] - bound
        safe = kept_from(borrower, claimant, i) + (request[i] if takes_back else 0)
        if loan > max(0, safe):
            return True
    return False


def kept_from(borrower: Quota, claimant: Work, resource: int) -> int:
    """Return how much of what the borrower's own jobs use the claimant may not claim: those jobs could evict it again (P15)."""
    return sum(
        used[resource]
        for priority, used in borrower.own_by_priority.items()
        if used[resource] and reaches_siblings(borrower, priority, claimant)
    )


def reaches_siblings(taker: Quota, taker_priority: int, victim: Work) -> bool:
    """Return whether jobs of this priority at `taker` may take this work in a sibling by self-level (P1)."""
    return reaches(taker.spec.self_level.beside(taker_priority), victim.priority, victim.module)


def _sibling_above(quota: Quota, other: Quota) -> Quota | None:
    """Return the sibling of `quota` that is `other` or contains it; None if there is none."""
    if quota.parent is None:
        return None
    for above in other.path:
        if above.parent is quota.parent and above is not quota:
            return above
    return None
