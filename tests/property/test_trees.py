"""Several trees on shared pools: what is remembered of one tree must not go stale through another (A3, A4, S6).

A decision in one tree may free devices for another that shares no pool with it: an idle borrower that is taken back may
stand on further pools of its own tree.
"""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import decisions as say
from quotatree.core.changes.apply import apply
from quotatree.core.planning.ordering import Candidate, Ordering
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.profiles import by_profile
from tests.property import worlds
from tests.property.test_determinism import digest
from tests.property.test_snapshot import happenings_of, in_any_order, let_happen
from tests.property.test_walks import walk_with_all_checks
from tests.property.walk import Walk, begin, rerun, step

WALKS = by_profile(quick=4, deep=12, long=1500)
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
