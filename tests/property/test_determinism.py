"""A3: the same events give byte-identical plans: in another process, under another hash seed, whoever asked meanwhile."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from quotatree.core import decisions as say
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import explain, exposure, preview
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.profiles import by_profile
from tests.property import happenings
from tests.property.test_promises import RANDOM
from tests.property.walk import Walk, begin, rerun, step

ROOT = Path(__file__).resolve().parents[2]
SEEDS = range(by_profile(quick=6, deep=25, long=500))
SEEDS_OF_MEMORY = range(by_profile(quick=14, deep=60, long=1000))


def digest(plans: list[say.Plan]) -> str:
    """Sets are the one thing whose repr depends on the hash seed; plans must not contain any."""
    text = repr(plans)
    assert "frozenset" not in text
    return hashlib.sha256(text.encode()).hexdigest()


def seeded_walk(seed: int) -> Walk:
    random = Random(seed)
    walk = begin(random)
    for _ in range(15):
        step(random, walk, check=False)
    return walk


def all_digests() -> str:
    walks = [seeded_walk(seed) for seed in SEEDS]
    return "\n".join(digest(rerun(walk.log, walk.settings)) for walk in walks)


@given(RANDOM)
def test_the_same_events_give_the_same_plans(random: Random) -> None:
    walk = begin(random)
    plans = [step(random, walk, check=False) for _ in range(10)]
    assert digest(rerun(walk.log, walk.settings)) == digest(plans)


def test_the_hash_seed_of_the_process_changes_nothing() -> None:
    program = (
        "from tests.property.test_determinism import all_digests; import sys; sys.stdout.write(all_digests())"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "4242")
    ]
    assert answers[0] == answers[1]
    assert len(answers[0].split()) == len(SEEDS)


def test_what_a_plan_remembers_of_the_order_changes_nothing() -> None:
    """A4: a queue in which everybody failed is not looked at again, and a failure leaves the others' order alone."""
    for seed in SEEDS_OF_MEMORY:
        walk = seeded_walk(seed)
        assert digest(plans_without_memory(walk)) == digest(rerun(walk.log, walk.settings)), f"seed {seed}"


def plans_without_memory(walk: Walk) -> list[say.Plan]:
    state = State(walk.settings)
    plans = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ordering, "drop", lambda self, cls: self.touch(cls.quota))
        for now_ms, entry in walk.log:
            if isinstance(entry, str):
                for quota in state.quotas.values():
                    quota.queue.exhausted = None
                plans.append(plan(state, now_ms))
            else:
                apply(state, entry, now_ms)
    return plans


def test_asking_questions_in_between_changes_no_plan() -> None:
    for seed in SEEDS:
        walk = seeded_walk(seed)
        asked, plain = plans_with_questions(walk, seed), rerun(walk.log, walk.settings)
        assert [deeds(p) for p in asked] == [deeds(p) for p in plain], f"seed {seed}"


def deeds(made: say.Plan) -> list[say.Decision]:
    """Without waits: a question makes the planner look again, so a reason may be told with newer figures."""
    return [d for d in made.decisions if not isinstance(d, say.Wait)]


def plans_with_questions(walk: Walk, seed: int) -> list[say.Plan]:
    random = Random(f"questions {seed}")
    state = State(walk.settings)
    plans = []
    for now_ms, entry in walk.log:
        if state.quotas:
            for job in list(state.jobs.values()):
                explain(state, job.id, now_ms)
                if job.core is not None:
                    exposure(state, job.id, now_ms)
            preview(state, [happenings.submit_possible(random, state, now_ms)], now_ms)
        if isinstance(entry, str):
            plans.append(plan(state, now_ms))
        else:
            apply(state, entry, now_ms)
    return plans
