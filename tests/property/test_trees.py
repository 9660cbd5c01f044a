"""Several trees on shared pools: what is remembered of one tree must not go stale through another (A3, A4, S6).

A decision in one tree may free devices for another that shares no pool with it: an idle borrower that is taken back may
stand on further pools of its own tree.
"""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeState
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.profiles import by_profile
from tests.property import worlds
from tests.property.test_determinism import digest
from tests.property.test_snapshot import happenings_of, in_any_order, let_happen
from tests.property.test_walks import walk_with_all_checks
from tests.property.walk import Walk, begin, rerun, step

WALKS = by_profile(quick=3, deep=12, long=1500)
"""Walks of each chunk."""
STEPS = 14


@pytest.mark.parametrize("chunk", range(4))
def test_every_promise_holds_with_several_trees(chunk: int) -> None:
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS):
        try:
            walk_with_all_checks(seed, worlds.several_trees)
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem


@pytest.mark.parametrize("chunk", range(4))
def test_gangs_take_idle_gangs_back_only_where_their_own_tree_may_stand(chunk: int) -> None:
    """P7, Q1, I3: an idle gang of another root may also stand in pools that the taker's root does not draw on.

    Every plan is replayed, and small ones are compared with brute force.
    """
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS * 8):
        try:
            crowd_of_gangs(Random(f"gangs {seed}"))
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem


def crowd_of_gangs(random: Random) -> None:
    """Fill several trees with idle gangs, lose a node now and then, and let regular gangs come for the room."""
    walk = Walk()
    for event in worlds.several_trees(random):
        walk.happen(event)
    for number in range(14):
        regular = number >= 8 and worlds.chance(random, 70)
        gang = ReplicaGroup(random.randint(1, 3), Shape(worlds.pick(random, 1000, 1000, 1000, 500), 0, 0))
        quota = worlds.pick(random, *walk.state.quotas)
        idle = Idle.NEVER if regular else Idle.ONLY
        walk.happen(ev.JobSubmitted(JobSpec(JobId(f"j{number:02}"), quota, (gang,), walk.now_ms, idle=idle)))
        if number == 0 or worlds.chance(random, 15):
            node = worlds.pick(random, *walk.state.nodes)
            walk.happen(ev.NodeChanged(node.spec.name, worlds.pick(random, *NodeState)))
        walk.plan_out()
        walk.check_steady()
        walk.wait(60_000)
        for job_id in list(walk.state.leaving_jobs):
            walk.happen(ev.JobLeft(job_id))
        walk.plan()


@pytest.mark.parametrize("chunk", range(4))
def test_a_state_that_remembers_decides_as_one_that_was_just_built(chunk: int) -> None:
    """Failures, indexes and orders that were remembered over the whole walk, against none at all, at every plan."""
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS * 4):
        random = Random(f"warm {seed}")
        walk = begin(random, worlds.several_trees)
        for number in range(STEPS):
            let_happen(walk.state, happenings_of(random, walk), walk.now_ms)
            fresh = restore(snapshot(walk.state))
            warm, cold = plan(walk.state, walk.now_ms), plan(fresh, walk.now_ms)
            assert in_any_order(warm) == in_any_order(cold), f"seed {seed}, step {number}"


@pytest.mark.parametrize("chunk", range(4))
def test_who_is_next_in_each_tree_may_be_remembered(chunk: int) -> None:
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS * 4):
        random = Random(f"heads {seed}")
        walk = begin(random, worlds.several_trees)
        for _ in range(STEPS):
            step(random, walk, check=False)
        assert digest(plans_that_always_ask(walk)) == digest(rerun(walk.log, walk.settings)), f"seed {seed}"


def plans_that_always_ask(walk: Walk) -> list[say.Plan]:
    best = Ordering.best

    def asked_anew(self: Ordering) -> Candidate | None:
        self.start_over()
        return best(self)

    state = State(walk.settings)
    plans: list[say.Plan] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ordering, "best", asked_anew)
        for now_ms, entry in walk.log:
            if isinstance(entry, str):
                plans.append(plan(state, now_ms))
            else:
                apply(state, entry, now_ms)
    return plans
