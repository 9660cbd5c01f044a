"""A3: whatever raises inside a search leaves nothing behind: the state is what it was, and the next plan is as if nothing had been."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import CO_GENERATOR
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest
from hypothesis import given

from quotatree.core import search
from quotatree.core.changes.apply import apply
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.property import accounting, happenings, worlds
from tests.property.snapshot import snapshot
from tests.property.test_promises import RANDOM
from tests.property.walk import Walk, begin, step

SEARCH = str(Path(search.__file__).parent)
FAULTS = 4


class Interrupted(Exception):
    """Stands for whatever may go wrong."""


@dataclass(slots=True)
class Calls:
    seen: int = 0


@given(RANDOM)
def test_whatever_raises_inside_a_search_leaves_nothing_behind(random: Random) -> None:
    walk = begin(random, worlds.pick(random, worlds.world, worlds.several_trees))
    for _ in range(random.randint(0, 6)):
        step(random, walk, check=False)
    for _ in range(random.randint(1, 4)):
        walk.happen(happenings.push(random, walk.state, walk.now_ms))
    now_ms, faulty, twin = walk.now_ms, again(walk), again(walk)
    with raising_at(None) as calls:
        plan(again(walk), now_ms)
    before = snapshot(faulty)
    kept: list[Interrupted] = []  # keeps alive what the searches had in hand
    for _ in range(FAULTS if calls.seen else 0):
        faulty.begin()
        try:
            with raising_at(random.randint(1, calls.seen)):  # with indexes at hand there may be fewer calls
                plan(faulty, now_ms)
        except Interrupted as fault:
            kept.append(fault)
        faulty.rollback()
        assert snapshot(faulty) == before
        for check in accounting.ALL:
            check(faulty)
    assert plan(faulty, now_ms) == plan(twin, now_ms)


def test_a_plan_that_raises_leaves_no_transaction_open() -> None:
    random = Random(3)
    walk = begin(random)
    before = snapshot(walk.state)
    with raising_at(1), pytest.raises(Interrupted):
        plan(walk.state, walk.now_ms)
    assert not walk.state.in_transaction
    assert snapshot(walk.state) == before


def again(walk: Walk) -> State:
    """The state of a walk, made once more from its log."""
    state = State(walk.settings)
    for now_ms, entry in walk.log:
        if isinstance(entry, str):
            plan(state, now_ms)
        else:
            apply(state, entry, now_ms)
    return state


@contextmanager
def raising_at(call: int | None) -> Iterator[Calls]:
    """Count calls of functions of the search; the one with this number raises instead of being made.

    A generator that goes on is not a call: its `finally` would not be reached, which no real exception does.
    """
    calls = Calls()

    def watch(frame: FrameType, event: str, arg: Any) -> None:
        del event, arg
        code = frame.f_code
        if code.co_filename.startswith(SEARCH) and not code.co_flags & CO_GENERATOR:
            calls.seen += 1
            if calls.seen == call:
                raise Interrupted(code.co_qualname)

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield calls
    finally:
        sys.settrace(before)
