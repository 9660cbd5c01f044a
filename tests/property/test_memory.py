"""What plans remember decides nothing, and a question leaves no trace (A8)."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from quotatree.core.errors import Refused
from quotatree.core.explanation import explain, exposure, preview
from quotatree.core.model.job import Phase
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from tests.profiles import by_profile
from tests.property import happenings, worlds
from tests.property.frozen import frozen, moments
from tests.property.remembering import STEPS, compare, let_time_pass, walk_twice
from tests.property.test_promises import RANDOM
from tests.property.walk import begin, step

WALKS = by_profile(quick=6, deep=25, long=1100)
"""Walks of each chunk; 4 chunks of 12 plans each: `long` makes more than 50,000 pairs of plans."""
ENOUGH = 5


@pytest.mark.parametrize("chunk", range(4))
def test_a_restored_state_plans_as_the_one_that_lived_through_it_all(chunk: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(chunk * 100_000, chunk * 100_000 + WALKS):
        walk_twice(seed, met)
    assert met["plans compared"] - met["plans that ask for the next at once"] == WALKS * STEPS
    assert met["questions asked before a plan"] >= ENOUGH


@pytest.mark.parametrize("path", frozen("restored"), ids=lambda path: path.stem)
def test_walks_that_went_wrong_once(path: Path) -> None:
    walk_frozen_twice(path)


def walk_frozen_twice(path: Path) -> None:
    for number, (walk, asked) in enumerate(moments(path)):
        compare(walk, asked, Counter(), f"{path.stem}, plan {number}")


@pytest.mark.parametrize("path", [*frozen("ends_early"), *frozen("cut_short")], ids=lambda path: path.stem)
def test_walks_that_went_wrong_where_plans_were_cut_short(path: Path) -> None:
    walk_frozen_twice(path)


def test_the_walks_meet_everything_that_a_plan_looks_at() -> None:
    met: Counter[str] = Counter()
    for seed in range(40):
        walk_twice(seed, met)
    assert {name for name, count in met.items() if name.startswith("with:") and count >= ENOUGH} >= EVERYTHING


EVERYTHING = {
    f"with: {name}"
    for name in (
        "several self-level policies", "any: lower", "child-level", "weights", "fair borrowing", "reserved parts", "loans",
        "surplus", "idle: allow running idle", "idle: only running", "min_runtime", "preemption_delay", "guards", "holds",
        "amount limits", "several roots", "several pools", "draining nodes", "lost or cordoned nodes",
        "running jobs that miss replicas",
    )
}  # fmt: skip


@given(RANDOM)
def test_a_question_changes_no_decision(random: Random) -> None:
    walk = begin(random, worlds.pick(random, worlds.world, worlds.world, worlds.several_trees))
    for _ in range(random.randint(1, STEPS)):
        step(random, walk, check=False)
    let_time_pass(random, walk)
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
