"""What plans remember decides nothing, and a question leaves no trace (A8)."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from hypothesis import given

from quotatree.core.errors import Refused
from quotatree.core.explanation import explain, exposure, preview
from quotatree.core.model.job import Phase
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from tests.property import happenings, worlds
from tests.property.test_promises import RANDOM
from tests.property.walk import Walk, begin, step

STEPS = 12


@given(RANDOM)
def test_a_restored_state_plans_as_the_one_that_lived_through_it_all(random: Random) -> None:
    walk = begin(random, worlds.pick(random, worlds.world, worlds.world, worlds.several_trees))
    for _ in range(STEPS):
        _happenings(random, walk)
        afresh = plan(restore(snapshot(walk.state)), walk.now_ms)
        assert walk.plan(check=False).decisions == afresh.decisions


@given(RANDOM)
def test_a_question_changes_no_decision(random: Random) -> None:
    walk = begin(random, worlds.pick(random, worlds.world, worlds.world, worlds.several_trees))
    for _ in range(random.randint(1, STEPS)):
        step(random, walk, check=False)
    _happenings(random, walk)
    unasked = plan(restore(snapshot(walk.state)), walk.now_ms)
    before = snapshot(walk.state)
    for job in list(walk.state.jobs.values()):
        explain(walk.state, job.id, walk.now_ms)
        if job.phase is Phase.RUNNING:
            exposure(walk.state, job.id, walk.now_ms)
    with suppress(Refused):  # it may be larger than its quota
        preview(walk.state, [happenings.submit(random, walk.state, walk.now_ms)], walk.now_ms)
    assert snapshot(walk.state) == before
    assert walk.plan(check=False).decisions == unasked.decisions


def _happenings(random: Random, walk: Walk) -> None:
    walk.wait(worlds.pick(random, 0, 1_000, 20_000, 90_000, 700_000))
    for _ in range(random.randint(1, 4)):
        event = happenings.anything(random, walk.state, walk.now_ms)
        if event is not None:
            walk.happen(event)
