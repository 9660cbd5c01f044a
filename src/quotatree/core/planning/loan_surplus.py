"""Which surplus leaves before its quota borrows? What is beyond the wanted number never stands on a loan (P12)."""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.model.job import Claim, Job
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.unit import Unit
from quotatree.core.planning.steps import signature_of
from quotatree.core.reasons import Step
from quotatree.core.search.eligible import surplus_below
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.protections import Protections
from quotatree.core.search.trial import with_companions
from quotatree.core.state import State


def surplus_on_loan(state: State, job: Job, request: Resources, victims: Iterable[Unit] = ()) -> list[Unit]:
    """Return the surplus of the job's quota and below, the newest first, that its start would put on loan.

    `victims`: units that leave for it anyway. What protections keep stays.
    """
    quota, gone = job.quota, with_companions(list(victims))
    freed = _freed_of(quota, gone)
    left = {i: quota.used[i] + request[i] - freed[i] - bound for i, bound in quota.named if request[i]}
    protections = Protections(signature_of(state, job, Step.IDLE, (), quota), Overlay(state))
    chosen: list[Unit] = []
    for unit in sorted(surplus_below(state, quota), key=lambda u: (-u.started_ms, u.name)):
        helps = unit not in gone and any(over > 0 and unit.footprint[i] for i, over in left.items())
        if helps and protections.allow([*chosen, unit]):
            chosen.append(unit)
            for i in left:
                left[i] -= unit.footprint[i]
    for unit in reversed(chosen.copy()):
        if all(over + unit.footprint[i] <= 0 for i, over in left.items() if unit.footprint[i]):
            chosen.remove(unit)  # a larger one that came after it is enough (P8)
            for i in left:
                left[i] += unit.footprint[i]
    return chosen


def _freed_of(quota: Quota, units: Iterable[Unit]) -> Resources:
    """Return what these units use of a quota's regular room."""
    found = ZERO
    for unit in units:
        if unit.cls.claim is not Claim.IDLE and quota.contains(unit.cls.quota):
            found = found.plus(unit.footprint)
    return found
