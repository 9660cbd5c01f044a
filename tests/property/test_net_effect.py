"""A plan tells its net effect: the same jobs run in the end, and nobody is stopped only to be started again (P8)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from quotatree.core import decisions as say
from quotatree.core.model.job import Job, JobId, Phase
from quotatree.core.model.unit import UnitKind
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, Step
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import World, self_level
from tests.property import happenings, rights, worlds
from tests.property.frozen import frozen, moments
from tests.property.model import Model, total
from tests.property.test_promises import RANDOM
from tests.property.walk import Walk, begin, step, step_by_step


@given(RANDOM)
def test_the_same_jobs_run_as_if_every_step_had_been_told(random: Random) -> None:
    walk = begin(random, worlds.pick(random, worlds.world, worlds.world, worlds.several_trees))
    for _ in range(random.randint(0, 8)):
        step(random, walk, check=False)
    for _ in range(random.randint(1, 4)):
        walk.happen(happenings.push(random, walk.state, walk.now_ms))
    check_net_effect(walk)


@pytest.mark.parametrize("path", frozen("net_effect"), ids=lambda path: path.stem)
def test_the_same_jobs_run_on_walks_that_went_wrong_once(path: Path) -> None:
    for walk, _ in moments(path):
        check_net_effect(walk)


def check_net_effect(walk: Walk) -> None:
    """Plan the walk with and without every step told, and compare what runs and what is told."""
    before = Model.of(walk.state)
    told = restore(snapshot(walk.state))
    with step_by_step():
        every_step = plan(told, walk.now_ms)
    net = plan(walk.state, walk.now_ms)
    mine, theirs = _standing(walk.state), _standing(told)
    assert mine.keys() >= theirs.keys(), "who keeps running costs nobody else their start"
    if mine == theirs:  # else somebody found a place who had none before
        assert {q.id: (q.used, q.idle) for q in walk.state.quotas.values()} == {
            q.id: (q.used, q.idle) for q in told.quotas.values()
        }
    assert set(_cores_taken(net)) <= set(_cores_taken(every_step))
    for decision in net.decisions:
        if isinstance(decision, say.Evict) and decision.kind is UnitKind.CORE:
            _by_right(before, decision, walk.now_ms)
    _names_only_who_left(net)
    _guards_hold(before, net, Model.of(walk.state))
    for job_id in _cores_taken(net):
        assert walk.state.jobs[job_id].phase is not Phase.RUNNING, "a victim runs as if nothing had happened"
    walk.check_capacity()
    walk.check_accounting()
    if net.next_wakeup_ms == walk.now_ms:
        walk.plan_out(check=False)
    walk.check_steady()


def _names_only_who_left(net: say.Plan) -> None:
    """Check that a record names as victims those who go for its preemptor, with their costs, and nobody as kept who goes (P13)."""
    went = {(d.job, d.kind, d.replicas): d for d in net.decisions if isinstance(d, say.Evict)}
    for decision in net.decisions:
        ledger = decision.preemption if isinstance(decision, say.Start | say.Hold | say.Promote) else None
        if ledger is None:
            continue
        for victim in ledger.victims:
            gone = went[victim.job, victim.kind, victim.replicas]
            assert (gone.cost, gone.lost_work) == (victim.cost, victim.lost_work), victim
        assert ledger.cost == sum(victim.cost for victim in ledger.victims)
        assert not {job for job, kind, _ in went if kind is UnitKind.CORE} & set(ledger.kept)
        facts = dict(decision.reason.facts)
        if decision.reason.code in (Code.AfterPreemption, Code.EvictsInstead):
            assert facts["victims"] == str(len(ledger.victims))
            assert not ledger.kept or facts["stays"] in ledger.kept


def _guards_hold(before: Model, net: say.Plan, after: Model) -> None:
    """Check that nobody who may not pass a guard stands on what is kept, since its victims came back (S10)."""
    for decision in net.decisions:
        if not isinstance(decision, say.Start | say.Hold) or decision.preemption is None:
            continue
        root, taker = before.root(before.jobs[decision.job].quota), before.jobs[decision.job]
        guard = before.guards.get(root)
        stay = [*decision.preemption.kept, *(v.job for v in decision.preemption.victims)]
        back = any(after.jobs[job].phase in (Phase.RUNNING, Phase.HELD) for job in stay)
        if (
            guard is None
            or after.guards.get(root, ("",))[0] != guard[0]
            or rights.passes_guard(before, taker)
            or not back
        ):
            continue
        kept, used = total(shape for _, shape in after.missing(after.jobs[guard[0]])), after.used()
        for above in set(after.path(taker.quota)) & set(after.path(after.jobs[guard[0]].quota)):
            for i, bound in enumerate(after.quotas[above].min):
                assert bound is None or not kept[i] or used[above][i] + kept[i] <= bound, (
                    f"{decision} passes {guard}"
                )


RIGHTS = {Code.SelfLevelOwn.name: "own", Code.SelfLevelSibling.name: "sibling", Code.ChildLevel.name: "child"}


def _by_right(before: Model, eviction: say.Evict, now_ms: int) -> None:
    """Check that whoever the reason says has a right to the victim, has it by this very rule, which stands in its quota (P13)."""
    why, facts = eviction.reason, dict(eviction.reason.facts)
    assert facts.get("preemptor") == eviction.preemptor
    in_turn = why.code is Code.TakenInTurn
    rule, who = (facts["rule"], facts["stays"]) if in_turn else (why.code.name, eviction.preemptor)
    if rule in RIGHTS:
        assert who is not None
        taker, victim = before.jobs[who], before.jobs[eviction.job]
        (core,) = (piece for piece in victim.pieces() if piece.kind == "core")
        assert facts["quota"] == taker.quota
        assert RIGHTS[rule] in rights.policies(before, taker, core, Step.SIBLINGS, now_ms), eviction


def test_an_own_victim_that_would_move_stays_p8() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(6, 5))
    world.quota("b", 8)
    world.run("own", "a", 8, priority=6)
    world.run("beside", "b", 8, priority=1)
    world.submit("new", "a", 8, priority=9)
    assert world.plan() == [("Evict", "beside"), ("Hold", "new")]


def _standing(state: State) -> dict[JobId, tuple[bool, object]]:
    """Return which jobs run or will, and on which claim; a job that was to move may run on instead."""
    return {job.id: (True, job.claim) for job in state.jobs.values() if _stands(job)}


def _stands(job: Job) -> bool:
    return job.phase in (Phase.RUNNING, Phase.HELD)


def _cores_taken(made: say.Plan) -> list[JobId]:
    return [d.job for d in made.decisions if isinstance(d, say.Evict) and d.kind is UnitKind.CORE]
