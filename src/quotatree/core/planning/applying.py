"""What happens when a proposal is applied: who leaves or turns idle, where the job starts or is held, and what is told of it (P13)?"""

from __future__ import annotations

from typing import Final

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.changes.evictions import settle_all
from quotatree.core.model.job import Claim
from quotatree.core.planning.outcome import Decided, Proposal
from quotatree.core.planning.taking import GivenWay, Gone, take
from quotatree.core.planning.why import why_started
from quotatree.core.reasons import Code, because
from quotatree.core.search.victims import Found, cost_without_ladder
from quotatree.core.state import State

NOBODY: Final = Found((), 0, 0, 0)


def apply(state: State, proposal: Proposal, now_ms: int) -> Decided:
    """Do what is proposed. The state must be the one in which it was found; a transaction must be open."""
    claimant, found, before = proposal.claimant, proposal.found, state.mark()
    given_way = GivenWay(claimant, now_ms)
    if proposal.gives_way:
        given_way.clear()
    decided, gone, saving = list[say.Decision](), list[Gone](), 0
    if found is not None and proposal.request is not None:
        saving = found.cost - cost_without_ladder(found)
        if given_way.gone:
            given_way.let_stay(proposal.request, found, before)
        decided, gone = take(claimant, proposal.request.signature, found, now_ms)
        settle_all(state, (*given_way.units, *found.units), now_ms)
    preemption = None
    if found is not None or given_way.gone:
        preemption = _ledger(proposal, [one.victim for one in (*given_way.gone, *gone)], saving)
    begin = _promote if proposal.promotes else _begin
    begun = begin(state, proposal, now_ms, preemption)
    units = (*given_way.units, *(() if found is None else found.units))
    decisions = (*(one.eviction for one in given_way.gone), *decided, begun)
    return Decided(decisions, before, units, tuple([one.stopped for one in gone if one.stopped is not None]))


def _promote(
    state: State, proposal: Proposal, now_ms: int, preemption: say.Preemption | None
) -> say.Decision:
    job = proposal.claimant.job
    numbers = [i for i, _ in proposal.claimant.wanted]
    assert proposal.reason is not None
    promoted = effects.promote(state, job, numbers, now_ms, proposal.reason, preemption)
    effects.clear_guard(state, job)
    return promoted


def _begin(
    state: State, proposal: Proposal, now_ms: int, preemption: say.Preemption | None
) -> say.Start | say.Hold:
    """Start the job where it fits now, or hold places for it until they are free."""
    claimant, step = proposal.claimant, proposal.step
    job = claimant.job
    found = proposal.places or claimant.soonest_places()
    if found is None:
        raise AssertionError(f"{job.id} does not fit after its victims left: {proposal.found}")
    places, now = found
    reason = proposal.reason
    if reason is None:
        assert proposal.found is not None
        assert preemption is not None
        reason = why_started(step, proposal.found, preemption.victims)
    if now and not effects.waits_for_ending(job, places):
        return effects.start(
            state, job, places, claim=Claim.REGULAR, now_ms=now_ms, step=step, reason=reason,
            preemption=preemption,
        )  # fmt: skip
    if preemption is None:
        waiting = effects.waited_for(state, job, places)
        reason = because(Code.WaitsForLeaving, leaving=max(1, len(waiting)))
    return effects.hold(state, job, places, now_ms=now_ms, step=step, reason=reason, preemption=preemption)


def _ledger(proposal: Proposal, victims: list[say.VictimCost], saving: int) -> say.Preemption:
    """Return the entry of the ledger: the victims, after the surplus that gave way before a loan.

    That surplus, and what of it goes with a core after all, would have gone for other victims as well. `saving`: how much less others would
    have cost without the priority ladder (P5).
    """
    found = proposal.found or NOBODY
    cost = sum(victim.cost for victim in victims)
    return say.Preemption(
        preemptor=proposal.claimant.job.id,
        step=proposal.step,
        victims=tuple(victims),
        demoted=tuple(u.job.id for u in found.units if u in found.demoted),
        cost=cost,
        cost_without_ladder=cost - saving,
        highest_priority=found.highest,
        tried=proposal.tried,
    )
