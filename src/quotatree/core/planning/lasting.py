"""Would a job keep what it takes, or could a waiting job start by taking it away again (S8)?

Asked after the job's start or hold was applied: its victims wait, and so do others that may have a right against it only
now, since its quota stands on a loan.
"""

from __future__ import annotations

from quotatree.core.model.job import Claim, Idle, Job, JobId
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import ZERO
from quotatree.core.model.rights import (
    Work,
    could_claim,
    could_evict,
    work_of,
)
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.attempt_facts import fits_own_min
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.outcome import Around, Proposal, alone
from quotatree.core.planning.rivals import takers_waiting
from quotatree.core.state import State


def who_would_take_it_back(
    state: State, job: Job, taken: tuple[Unit, ...], now_ms: int, around: Around | None = None
) -> JobId | None:
    """Return a waiting job that could now start by evicting this one, which has just taken these units; or None.

    Only where it took regular work, or an idle job that could be regular. `around`: what each of them may spend; None: as much as it
    takes.
    """
    if not taken or not any(_matters(unit) for unit in taken):
        return None
    victims = {unit.job.id for unit in taken}
    ordering = Ordering(state, now_ms, job.quota.tree.together)
    work = work_of(job)
    for quota, on_loan in takers_waiting(work, ZERO):
        if not on_loan and not _concerned(quota, work, taken):
            continue
        for cls, other in ordering.ready(quota):
            fits = quota.tree.surplus_units or fits_own_min(quota, cls.request)
            claimable = bool(on_loan and fits and could_claim(work_of(other), work, ZERO))
            if not could_evict(quota, other.priority, work, claimable=claimable):
                continue
            if other.id not in victims and _could_take_all(quota, other.priority, taken):
                continue  # it could not start on all that either
            if _would_take(state, Candidate(quota, cls, other), job, now_ms, around or alone(state)):
                return other.id
    return None


def _matters(unit: Unit) -> bool:
    if unit.cls.claim is Claim.IDLE:
        return unit.job.spec.idle is Idle.ALLOW
    return unit.cls.kind is not UnitKind.SURPLUS


def _concerned(quota: Quota, work: Work, taken: tuple[Unit, ...]) -> bool:
    """Return whether a job may wait at this quota that could evict this work by a policy, and could not have started before.

    Asked before anybody looks who may be tried there, since most quotas have none.
    """
    if quota.spec.strategy is Strategy.BALANCE or any(unit.job.quota is quota for unit in taken):
        return True
    return any(
        could_evict(quota, priority, work) and not _could_take_all(quota, priority, taken)
        for priority in {cls.priority for cls in quota.queue.classes.values()}
    )


def _could_take_all(quota: Quota, priority: int, taken: tuple[Unit, ...]) -> bool:
    return all(
        unit.cls.rung == 0
        or could_evict(quota, priority, Work(unit.cls.quota, unit.cls.priority, unit.cls.module))
        for unit in taken
    )


def _would_take(state: State, candidate: Candidate, victim: Job, now_ms: int, around: Around) -> bool:
    """Return whether the candidate could start now, and would take the victim for it."""
    outcome = attempt(state, candidate.job, candidate.cls, now_ms, around, patient=False)
    return isinstance(outcome, Proposal) and any(unit.job is victim for unit in outcome.taken)
