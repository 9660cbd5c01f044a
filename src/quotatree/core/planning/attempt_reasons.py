"""How does an attempt tell why a step was not enough, why a unit is taken, and why a job starts (X1, P13)?"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core import decisions as say
from quotatree.core.model.job import Job
from quotatree.core.model.quota import loan
from quotatree.core.model.resources import GPU, amount_text
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.planning.attempt_facts import cost_text
from quotatree.core.planning.steps import Claimant
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.eligible import Signature
from quotatree.core.search.victims import Found, Why


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
    by = job.quota
    if entitled.rule is Code.ReturnOfLoan:
        by = next(q for q in unit.job.quota.path if q.parent is job.quota.parent)
    return because(entitled.rule, preemptor=job.id, quota=by.id)


def why_started(step: Step, found: Found, victims: Iterable[say.VictimCost]) -> Reason:
    victims = list(victims)
    if step in (Step.IDLE, Step.LOAN):
        freed = sum(victim.freed.gpu_milli for victim in victims)
        return because(Code.AfterIdleBorrowers, freed=amount_text(GPU, freed))
    return because(
        Code.AfterPreemption, victims=len(victims), rule=step.value, highest=found.highest,
        cost=cost_text(found.cost),
    )  # fmt: skip
