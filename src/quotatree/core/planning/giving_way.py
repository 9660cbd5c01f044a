"""What becomes of surplus that the start of a job would put on loan: it leaves, or stays after all (P12, P8)?"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core import decisions as say
from quotatree.core.changes.evictions import evict_each, settle_all
from quotatree.core.model.unit import Unit
from quotatree.core.planning.attempt_facts import victim_cost
from quotatree.core.planning.attempt_reasons import why_taken
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.loan_surplus import surplus_on_loan
from quotatree.core.planning.steps import signature_of
from quotatree.core.reasons import Step
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.proof import proved
from quotatree.core.search.trial import with_companions
from quotatree.core.search.victims import Found, Request
from quotatree.core.state import State
from quotatree.core.state.undo_log import Mark


class GivenWay:
    """The surplus that has left for one attempt; `gone` is empty while there is none."""

    def __init__(self, state: State, claimant: Claimant, now_ms: int) -> None:
        self._state, self._claimant, self._now_ms = state, claimant, now_ms
        self.gone: list[tuple[say.VictimCost, say.Evict, Unit]] = []

    @property
    def victims(self) -> tuple[say.VictimCost, ...]:
        return tuple(victim for victim, *_ in self.gone)

    @property
    def evictions(self) -> tuple[say.Evict, ...]:
        return tuple(eviction for _, eviction, _ in self.gone)

    @property
    def units(self) -> tuple[Unit, ...]:
        return tuple(unit for *_, unit in self.gone)

    def clear(self) -> None:
        """Let the surplus leave that the start would put on loan."""
        claimant = self._claimant
        if claimant.quota.tree.surplus_units:
            surplus = surplus_on_loan(self._state, claimant.job, claimant.request)
            self._let_go(surplus)
            settle_all(self._state, surplus, self._now_ms)

    def take_back(self, before: Mark) -> None:
        """Return to the state before surplus left, at this mark."""
        self._state.rollback_to(before)
        self.gone.clear()

    def let_stay(self, request: Request, found: Found, before: Mark) -> None:
        """Let surplus that left stay, dearest first, where the victims alone are enough (P8).

        What leaves all the same leaves together with the victims: each is told with its cost as everything still stands. Jobs
        that lose it are not settled yet.
        """
        leaves = {unit: victim.cost for victim, _, unit in self.gone}
        self.take_back(before)
        claimant = self._claimant
        on_loan = surplus_on_loan(self._state, claimant.job, claimant.request, found.units)
        for unit in sorted(leaves, key=lambda u: (-leaves[u], u.started_ms, u.name)):
            if unit in on_loan:
                continue
            rest = Overlay(self._state)
            for other in leaves:
                if other is not unit and other not in with_companions(list(found.units)):
                    rest.take(other)
            if proved(request, rest, found):
                del leaves[unit]
        self._let_go(leaves)

    def _let_go(self, surplus: Iterable[Unit]) -> None:
        state, job = self._state, self._claimant.job
        signature = signature_of(state, job, Step.IDLE, (), self._claimant.quota)
        victims = [(unit, why_taken(job, signature, unit)) for unit in surplus]
        evicted = evict_each(state, victims, self._now_ms, job.id, counts=True)
        for (unit, _), (eviction, freed) in zip(victims, evicted, strict=True):
            self.gone.append((victim_cost(unit, eviction, freed), eviction, unit))
