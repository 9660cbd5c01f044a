"""A plan tells its net effect: the same jobs run in the end, and nobody is stopped only to be started again (P8)."""

from __future__ import annotations

from random import Random

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
from tests.property.model import Model
from tests.property.test_promises import RANDOM
from tests.property.walk import begin, step, step_by_step


@given(RANDOM)
def test_the_same_jobs_run_as_if_every_step_had_been_told(random: Random) -> None:
    walk = begin(random, worlds.pick(random, worlds.world, worlds.world, worlds.several_trees))
    for _ in range(random.randint(0, 8)):
        step(random, walk, check=False)
    for _ in range(random.randint(1, 4)):
        walk.happen(happenings.push(random, walk.state, walk.now_ms))
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
    for job_id in _cores_taken(net):
        assert walk.state.jobs[job_id].phase is not Phase.RUNNING, "a victim runs as if nothing had happened"
    walk.check_capacity()
    walk.check_accounting()
    if net.next_wakeup_ms == walk.now_ms:
        walk.plan_out(check=False)
    walk.check_steady()


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
