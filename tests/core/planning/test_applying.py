"""What a proposal says is what happens when it is applied, and the ledger tells it (P13)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core.model.job import Job, Phase
from quotatree.core.planning.applying import apply
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.outcome import Proposal, alone
from quotatree.core.reasons import Code, Step
from quotatree.core.snapshots import snapshot
from tests.core.building import World, self_level


def proposed(world: World, job: Job) -> Proposal:
    outcome = attempt(world.state, job, job.quota.queue.of_job[job.id], world.now_ms, alone(world.state))
    assert isinstance(outcome, Proposal)
    return outcome


def test_where_nobody_has_to_go_the_job_starts_on_the_places_that_were_proposed() -> None:
    world = World()
    world.root(8)
    job = world.submit("job", "r", 2)
    world.state.begin()
    proposal = proposed(world, job)
    assert proposal.step is Step.FREE
    assert proposal.taken == ()
    decided = apply(world.state, proposal, 0)
    (start,) = decided.decisions
    assert isinstance(start, say.Start)
    assert start.preemption is None
    assert proposal.places is not None
    assert job.core is not None
    assert job.core.places == proposal.places[0]


def test_those_who_were_proposed_go_and_stand_in_the_ledger_with_what_was_tried_before() -> None:
    world = World()
    world.root(8, self_level=self_level(6, 5))
    low = world.run("low", "r", 8, priority=1)
    job = world.submit("high", "r", 8, priority=9)
    world.state.begin()
    before = snapshot(world.state)
    proposal = proposed(world, job)
    assert [unit.job for unit in proposal.taken] == [low]
    assert snapshot(world.state) == before, "nothing is written yet"
    decided = apply(world.state, proposal, 0)
    evict, hold = decided.decisions
    assert isinstance(evict, say.Evict)
    assert isinstance(hold, say.Hold)
    assert hold.reason.code is Code.AfterPreemption
    assert hold.preemption is not None
    assert [victim.job for victim in hold.preemption.victims] == [low.id]
    assert hold.preemption.tried[0].step is Step.FREE
    assert (low.phase, job.phase) == (Phase.WAITING, Phase.HELD)
    world.state.rollback_to(decided.before)
    assert snapshot(world.state) == before, "and it can be taken back"
