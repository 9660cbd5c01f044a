"""What plans remember decides nothing, and a question leaves no trace (A8)."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
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
from tests.property.remembering import STEPS, let_time_pass, walk_twice
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


@pytest.mark.parametrize("seed", [758, 5941, 5997, 102_855, 503_636, 505_743, 800_387, 2_001_958, 12_000_868])
def test_walks_that_went_wrong_once(seed: int) -> None:
    """758: a victim was let stay, its preemptor stood elsewhere, and another victim would have had room again (P8, P10).

    5941: a start was put off, and only the next plan makes it (S8). 5997: where less was free, the search in shared pools
    found victims that it had missed, and a failure was remembered (A8).
    102855: a job would have been taken back by another, until that one was guarded (S8, S10). 503636: a guarded job stood behind
    others of lower priority, so its turn depended on whether these were known to fail (S6, A8). 800387: the same, of a job that only
    nodes out of order keep from starting. 505743: a promotion waited for room in its quota, though a loan was possible since that
    no longer shrank (Q5, I1). 2001958: others took the CPU of replicas that had not left yet, and how well a job fitted on less than
    none depended on who had asked first (R6). 12000868: an empty queue forgot who had stood where only if somebody asked for its
    jobs (S3).
    """
    walk_twice(seed, Counter())


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
