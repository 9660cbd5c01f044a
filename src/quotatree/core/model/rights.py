"""Who could evict whom, by policy alone (P1, P2, P15): the question behind S8, S10 and X4."""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core.model.job import Job
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import Quota
from quotatree.core.reasons import Code


class Work(NamedTuple):
    """What policies look at in a job that runs, or would run."""

    quota: Quota
    priority: int
    module: Module


def work_of(job: Job) -> Work:
    return Work(job.quota, job.priority, job.spec.module)


def rules_against(
    taker: Quota, taker_priority: int, victim: Work, *, victim_on_loan: bool
) -> tuple[Code, ...]:
    """Return the rules by which a job of this priority, waiting at `taker`, could take this regular work.

    `victim_on_loan`: the sibling of `taker` that contains the victim is, or would be, above its min (P15).
    """
    quota, spec = victim.quota, taker.spec
    if taker is quota:
        own = spec.self_level is not None and spec.self_level.reaches_own
        return (Code.SelfLevelOwn,) if own and _self_level_applies(taker, taker_priority, victim) else ()
    if taker.contains(quota):
        below = spec.child_level
        return (Code.ChildLevel,) if below and below.lets_take(victim.priority, victim.module) else ()
    if taker.parent is None or not taker.parent.contains(quota) or quota is taker.parent:
        return ()
    returned = (Code.ReturnOfLoan,) if victim_on_loan and victim.priority <= taker_priority else ()
    beside = spec.self_level is not None and spec.self_level.reaches_siblings
    if beside and _self_level_applies(taker, taker_priority, victim):
        return (Code.SelfLevelSibling, *returned)
    return returned


def could_evict(taker: Quota, taker_priority: int, victim: Work, *, victim_on_loan: bool = False) -> bool:
    return bool(rules_against(taker, taker_priority, victim, victim_on_loan=victim_on_loan))


def has_policy_against(taker: Quota, victim: Work) -> bool:
    """Return whether the policies of `taker` (P1, P2) name this work's priority and module, wherever its quota is."""
    self_level, child_level = taker.spec.self_level, taker.spec.child_level
    return (self_level is not None and self_level.lets_take(victim.priority, victim.module)) or (
        child_level is not None and child_level.lets_take(victim.priority, victim.module)
    )


def _self_level_applies(taker: Quota, taker_priority: int, victim: Work) -> bool:
    policy = taker.spec.self_level
    return (
        policy is not None
        and policy.lets_preempt(taker_priority)
        and policy.lets_take(victim.priority, victim.module)
    )


def may_borrow(quota: Quota, priority: int) -> bool:
    """Return whether jobs of this priority may go beyond the quota's own min (P3).

    That needs self-level with scope siblings or level, a parent, and a quota that is not shrinking (Q5).
    """
    policy = quota.spec.self_level
    return (
        policy is not None
        and policy.reaches_siblings
        and policy.lets_preempt(priority)
        and quota.parent is not None
        and not quota.shrinking
    )


def would_be_on_loan(taker: Quota, victim: Quota, request: tuple[int, int, int]) -> bool:
    """Return whether the sibling of `taker` that contains `victim` would be above its min with `request` more (P15).

    False if no sibling contains it.
    """
    for above in victim.path:
        if above.parent is taker.parent and above is not taker:
            return any(above.used[i] + request[i] > bound for i, bound in above.named)
    return False
