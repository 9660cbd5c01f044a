"""How does an attempt tell why a step was not enough, why a unit is taken, and why a job starts (X1, P13)?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from quotatree.core import decisions as say
from quotatree.core.model.job import Job
from quotatree.core.model.quota_arithmetic import loan
from quotatree.core.model.resources import GPU, amount_text
from quotatree.core.model.rights import Work, rules_against
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.planning.attempt_facts import cost_text
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.fair_idle import sharing_from
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.eligible import Signature
from quotatree.core.search.victims import Found, Why

GIVE_WAY_TO_ANYBODY: Final = (Code.IdleTakenBack, Code.SurplusGivesWay)
"""Why idle work and surplus go: they stand on the lowest rung, whatever their priority."""
BY_RIGHT: Final = (
    Code.SelfLevelOwn, Code.SelfLevelSibling, Code.ChildLevel, Code.ReturnOfLoan, Code.HoldTaken, Code.TakenInTurn,
)  # fmt: skip
"""Why others go: some job has a right to take them."""


def why_on_loan(claimant: Claimant) -> Reason:
    quota = claimant.quota
    over = amount_text(GPU, loan(quota, GPU) + claimant.beyond_min(GPU))
    return because(Code.OnLoan, quota=quota.id, loan=over)


def why_nobody(step: Step, why: Why) -> Reason:
    code = Code.NoEligibleVictims if why is Why.NOBODY_ELIGIBLE else Code.NoLawfulSet
    return because(code, step=step.value)


def why_taken(job: Job, signature: Signature, unit: Unit) -> Reason:
    """Return why a unit goes for this job: the rule that gives the right, and whose it is."""
    entitled = signature.entitled(unit.cls)
    assert entitled is not None
    if unit.cls.kind is UnitKind.HOLD:
        return because(Code.HoldTaken, preemptor=job.id)
    if entitled.rule is Code.IdleTakenBack and signature.spared:
        top = sharing_from(unit.job.quota)
        if top is not None and top.tree is job.quota.tree:  # borrowers of another tree have no turn
            return because(Code.LargestShare, preemptor=job.id, quota=top.id)
    by = job.quota
    if entitled.rule is Code.ReturnOfLoan:
        by = next(q for q in unit.job.quota.path if q.parent is job.quota.parent)
    return because(entitled.rule, preemptor=job.id, quota=by.id)


def why_handed_on(before: Reason, taker: Job, kept: Job, victim: Work, protected: bool) -> Reason:
    """Return why a victim goes for `taker`, which was to go for `kept`: by the taker's own right, else by that of `kept` (P8).

    `before`: why it was to go. `protected`: `min_runtime` keeps it from policies (P11), as it did not for `kept`.
    """
    if before.code in GIVE_WAY_TO_ANYBODY:
        return because(before.code, preemptor=taker.id, quota=taker.quota.id)
    facts = dict(before.facts)
    if before.code in BY_RIGHT:
        rules = () if protected else rules_against(taker.quota, taker.priority, victim, claimable=False)
        if rules and before.code is not Code.HoldTaken:
            return because(rules[0], preemptor=taker.id, quota=taker.quota.id)
        if not rules and before.code is not Code.TakenInTurn:
            quota = facts.get("quota", kept.quota.id)
            return because(
                Code.TakenInTurn, preemptor=taker.id, stays=kept.id, rule=before.code.name, quota=quota
            )
    return because(before.code, **(facts | {"preemptor": taker.id}))


def why_started(step: Step, found: Found, victims: Iterable[say.VictimCost]) -> Reason:
    victims = list(victims)
    if step in (Step.IDLE, Step.LOAN):
        freed = sum(victim.freed.gpu_milli for victim in victims)
        return because(Code.AfterIdleBorrowers, freed=amount_text(GPU, freed))
    return because(
        Code.AfterPreemption, victims=len(victims), rule=step.value, highest=found.highest,
        cost=cost_text(found.cost),
    )  # fmt: skip
