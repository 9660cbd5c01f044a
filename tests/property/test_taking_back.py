"""S8: a job takes regular work only if afterwards no waiting job could start by evicting it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from quotatree.core import events as ev
from quotatree.core.model.job import JobId
from tests.profiles import by_profile
from tests.property.taking_back import taken_back
from tests.property.walk import begin, step
from tests.property.worlds import pick

WALKS = by_profile(quick=4, deep=25, long=2000)
"""Walks of each chunk."""
STEPS = 20


@pytest.mark.parametrize("chunk", range(4))
def test_who_takes_regular_work_keeps_what_it_took(chunk: int) -> None:
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS):
        assert walk_and_ask(seed) == [], f"seed {seed}"


def test_the_question_finds_what_a_plan_must_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quotatree.core.planning.work_stack.who_would_take_it_back", lambda *_: None)
    assert walk_and_ask(327), "a start that would be taken back later was allowed, and nobody noticed"


def walk_and_ask(seed: int) -> list[tuple[JobId, JobId]]:
    """Let a cluster live in which some quotas wait before they preempt; return who could be taken back, plan by plan."""
    random = Random(seed)
    walk = begin(random)
    for quota in list(walk.state.quotas.values()):
        delay_ms = pick(random, 0, 0, 600_000)
        walk.happen(ev.QuotaUpdated(replace(quota.spec, preemption_delay_ms=delay_ms, min_runtime_ms=None)))
    found = taken_back(walk.state, walk.plan_out(check=False))
    for _ in range(STEPS):
        found += taken_back(walk.state, step(random, walk, check=False))
    return found
