"""The same promises on plain seeded walks: faster than hypothesis, and a failing seed is a whole story by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from quotatree.core.events import Event
from quotatree.core.planning import effort
from tests.profiles import by_profile
from tests.property import walk as walk_module
from tests.property import worlds
from tests.property.frozen import frozen, moments
from tests.property.walk import Walk, begin, step

WALKS = by_profile(quick=6, deep=20, long=2000)
"""Walks of each chunk."""
STEPS = 20


@pytest.mark.parametrize("chunk", range(8))
def test_every_promise_holds_on_seeded_walks(chunk: int) -> None:
    for seed in range(chunk * 10_000, chunk * 10_000 + WALKS):
        try:
            walk_with_all_checks(seed)
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem


@pytest.mark.parametrize("most", [1, 60, 300])
def test_every_promise_holds_where_plans_are_cut_short_a8(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each plan may do next to nothing: victims are lawful and minimal all the same, and all is decided in the end."""
    monkeypatch.setattr(effort, "PLAN_AT_MOST", most)
    monkeypatch.setattr(walk_module, "AT_ONCE", 2_000)
    for seed in range(80_000, 80_000 + 2 * WALKS):
        try:
            walk_with_all_checks(seed)
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem


def walk_with_all_checks(seed: int, world: Callable[[Random], list[Event]] = worlds.world) -> Walk:
    random = Random(seed)
    walk = begin(random, world)
    made = walk.plan_out()
    for _ in range(STEPS):
        check(walk)
        walk.check_before_wakeup(made)
        made = step(random, walk)
    walk.settle()
    check(walk)
    return walk


@pytest.mark.parametrize("path", frozen("promises"), ids=lambda path: path.stem)
def test_every_promise_holds_on_walks_that_went_wrong_once(path: Path) -> None:
    for walk, _ in moments(path):
        made = walk.plan_out()
        check(walk)
        walk.check_before_wakeup(made)
    walk.settle()
    check(walk)


def check(walk: Walk) -> None:
    walk.check_capacity()
    walk.check_accounting()
    walk.check_holds()
    walk.check_steady()
