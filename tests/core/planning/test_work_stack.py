"""Jobs are tried for the sake of others, hundreds in a row, on one stack; nothing is applied before all of them were (S8, A8)."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.hard_worlds import LATER, any_lower, levels, reserved_siblings
from quotatree.core import decisions as say
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import SelfLevel, SelfLevels
from quotatree.core.planning import effort
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.outcome import alone
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import snapshot
from quotatree.core.state import State
from tests.core.building import ALL, World
from tests.core.planning.crowds import crowded

HOURS = 20 * 3_600_000


def test_hundreds_of_siblings_may_each_have_to_be_tried_before_another_s8() -> None:
    """Whatever one of them would borrow, all others could claim back (P15)."""
    made = plan(reserved_siblings(200), LATER)
    assert any(isinstance(decision, say.Hold) for decision in made.decisions)


def aged(count: int) -> State:
    """Jobs of one quota that have waited long enough to stand by their age; each could take from all that came before it (S4, P1)."""
    world = World()
    world.root(8, self_level=SelfLevels.of(SelfLevel.over_any_lower(ALL)))
    world.run("runs", "r", 8 - count, priority=9)
    for number in range(6):
        world.now_ms = -HOURS + number
        world.submit(f"waits-{number}", "r", 1, priority=1 + number)
    return world.state


BUILDERS = [
    *(partial(any_lower, 12), partial(reserved_siblings, 30), partial(levels, 3)),
    *(partial(aged, free) for free in range(1, 6)),
    *(partial(crowded, seed) for seed in range(30)),
]


def test_an_attempt_is_a_question_and_writes_nothing() -> None:
    """Not even where surplus has to leave in thought, so that no loan carries it (P12)."""
    asked = 0
    for build in BUILDERS:
        state = build()
        before, work = snapshot(state), state.change
        state.begin()
        for quota in list(state.waiting_quotas.values()):
            for cls in list(quota.queue.classes.values()):
                attempt(state, state.jobs[cls.members[0][1]], cls, LATER, alone(state))
                asked += 1
        assert state.change == work
        state.commit()
        assert snapshot(state) == before
    assert asked > 100


def test_a_stack_that_is_cut_short_takes_nobodys_work_and_the_next_plan_goes_on_with_its_last_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The jobs of `aged` that came later could take from those before them: the last is to be tried before all others."""
    expected = [d.job for d in plan(aged(1), LATER).decisions if isinstance(d, say.PLACINGS)]
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 1)
    state = aged(1)
    depth: list[int] = []
    made = plan(state, LATER)
    while not [d for d in made.decisions if isinstance(d, say.PLACINGS)]:
        unfinished = state.roots[0].tree.unfinished
        assert unfinished is not None
        depth.append(len(unfinished.stack))
        made = plan(state, LATER)
    assert depth == sorted(depth)
    assert max(depth) > 1, "one more job of the stack is tried in each plan"
    placed = [d.job for d in made.decisions if isinstance(d, say.PLACINGS)]
    assert placed == expected[:1] == [JobId("waits-5")]
