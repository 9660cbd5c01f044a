"""How do units leave for a job: those that a search found, and surplus that its start would put on loan (P12, P13)?

What is beyond the wanted number never stands on a loan.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.changes.evictions import Victim, evict_each, settle_all
from quotatree.core.model.job import Claim
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.unit import Unit, UnitClass, UnitKind
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.steps import signature_of
from quotatree.core.planning.why import why_taken
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.eligible import Signature, surplus_below
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.proof import proved
from quotatree.core.search.protections import Protections
from quotatree.core.search.trial import with_companions
from quotatree.core.search.victims import Found, Request
from quotatree.core.state.undo_log import Mark


class Gone(NamedTuple):
    """A unit that has left for a job; `stopped` tells of one that was a core."""

    unit: Unit
    eviction: say.Evict
    victim: say.VictimCost
    stopped: effects.Stopped | None


def take(
    claimant: Claimant, signature: Signature, found: Found, now_ms: int
) -> tuple[list[say.Decision], list[Gone]]:
    """Evict the units that were found, or turn them idle; return the decisions, and who has left.

    Jobs that lose some of their replicas are not settled yet.
    """
    decided, gone = list[say.Decision](), list[Gone]()
    leave, promoted = _exchanged(claimant, found, now_ms)
    for turned_idle, units in groupby(leave, found.demoted.__contains__):
        if turned_idle:
            decided += [effects.demote(claimant.state, unit, now_ms, claimant.job.id) for unit in units]
        else:
            left = _evict(claimant, units, signature, now_ms)
            gone += left
            decided += [one.eviction for one in left]
    return [*decided, *promoted], gone


def _exchanged(claimant: Claimant, found: Found, now_ms: int) -> tuple[list[Unit], list[say.Promote]]:
    """Let borrowers become regular in place of the units that stand in for them, which run idle until they leave (I3).

    Returns the units that leave, as they are now, and what becomes of the borrowers.
    """
    state, preemptor = claimant.state, claimant.job.id
    as_they_are: dict[Unit, Unit] = {}
    promoted: list[say.Promote] = []
    for as_idle, regular, borrower in found.exchanges:
        effects.demote(state, regular, now_ms, preemptor)
        assert regular.job.core is not None
        as_they_are[as_idle] = regular.job.core
        why = because(Code.StoodInFor, victim=regular.job.id, preemptor=preemptor)
        promoted.append(effects.promote(state, borrower.job, [], now_ms, why))
    return [as_they_are.get(unit, unit) for unit in found.units], promoted


def _evict(claimant: Claimant, units: Iterable[Unit], signature: Signature, now_ms: int) -> list[Gone]:
    """Evict units, each with the reason why it is taken, which is the same for all of one class."""
    job, reasons = claimant.job, dict[UnitClass, Reason]()
    leave: list[Victim] = []
    for unit in units:
        why = reasons.get(unit.cls)
        if why is None:
            why = reasons[unit.cls] = why_taken(job, signature, unit)
        leave.append((unit, why))
    stopped = [effects.stopped(unit) if unit.cls.kind is UnitKind.CORE else None for unit, _ in leave]
    evicted = evict_each(claimant.state, leave, now_ms, job.id, counts=True)
    return [
        Gone(unit, eviction, _victim(unit, eviction, freed), core)
        for (unit, _), (eviction, freed), core in zip(leave, evicted, stopped, strict=True)
    ]


def _victim(unit: Unit, eviction: say.Evict, freed: Resources) -> say.VictimCost:
    """Return the line of the ledger for one eviction, which freed so much, with what the unit took along."""
    cls = unit.cls
    return say.VictimCost(
        job=eviction.job, kind=cls.kind, replicas=eviction.replicas, quota=cls.quota.spec.id, priority=cls.priority,
        lost_work=eviction.lost_work, cost=eviction.cost, freed=freed,
    )  # fmt: skip


class GivenWay:
    """The surplus that has left for a job, so that it does not stand on a loan; `gone` is empty while there is none."""

    def __init__(self, claimant: Claimant, now_ms: int) -> None:
        self._claimant, self._now_ms = claimant, now_ms
        self.gone: list[Gone] = []

    @property
    def units(self) -> tuple[Unit, ...]:
        return tuple(one.unit for one in self.gone)

    def clear(self) -> None:
        """Let the surplus leave that the start would put on loan."""
        if self._claimant.quota.tree.surplus_units:
            surplus = surplus_on_loan(self._claimant)
            self._let_go(surplus)
            settle_all(self._claimant.state, surplus, self._now_ms)

    def let_stay(self, request: Request, found: Found, before: Mark) -> None:
        """Let surplus that has left since this mark stay, dearest first, where the victims alone are enough (P8).

        What leaves all the same leaves together with the victims: each is told with its cost as everything still stands. Jobs
        that lose it are not settled yet.
        """
        state, leaves = self._claimant.state, {one.unit: one.victim.cost for one in self.gone}
        state.rollback_to(before)
        self.gone.clear()
        on_loan, along = surplus_on_loan(self._claimant, found.units), with_companions(list(found.units))
        for unit in sorted(leaves, key=lambda u: (-leaves[u], u.started_ms, u.name)):
            if unit in on_loan:
                continue
            rest = Overlay(state)
            for other in leaves:
                if other is not unit and other not in along:
                    rest.take(other)
            if proved(request, rest, found):
                del leaves[unit]
        self._let_go(leaves)

    def _let_go(self, surplus: Iterable[Unit]) -> None:
        claimant = self._claimant
        signature = signature_of(claimant.state, claimant.job, Step.IDLE, (), claimant.quota)
        self.gone += _evict(claimant, surplus, signature, self._now_ms)


def surplus_on_loan(claimant: Claimant, victims: Iterable[Unit] = ()) -> list[Unit]:
    """Return the surplus of the job's quota and below, the newest first, that its start would put on loan.

    `victims`: units that leave for it anyway. What protections keep stays.
    """
    state, quota, request = claimant.state, claimant.quota, claimant.request
    gone = with_companions(list(victims))
    freed = _freed_of(quota, gone)
    left = {i: quota.used[i] + request[i] - freed[i] - bound for i, bound in quota.named if request[i]}
    protections = Protections(signature_of(state, claimant.job, Step.IDLE, (), quota), Overlay(state))
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
