"""Jobs are tried for the sake of others, hundreds in a row, and it does not matter how many of them inside each other (S8)."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.hard_worlds import LATER, any_lower, levels, reserved_siblings
from quotatree.core import decisions as say
from quotatree.core.model.policy import SelfLevel, SelfLevels
from quotatree.core.planning import chain
from quotatree.core.planning.plan import plan
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


@pytest.mark.parametrize("most", [1, 2, 3])
def test_how_many_are_tried_inside_each_other_changes_nothing(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were given up are tried again, from the last one backwards: with the same answers (A8)."""
    given_up = 0

    class Counted(chain.TooDeep):
        def __init__(self, links: list[chain.Link]) -> None:
            nonlocal given_up
            given_up += 1
            super().__init__(links)

    families = (partial(any_lower, 12), partial(reserved_siblings, 30), partial(levels, 3))
    queues = (partial(aged, free) for free in range(1, 6))
    for build in (*families, *queues, *(partial(crowded, seed) for seed in range(30))):
        expected = plan(build(), LATER)
        with monkeypatch.context() as patch:
            patch.setattr(chain, "LINKS_AT_MOST", most)
            patch.setattr(chain, "TooDeep", Counted)
            assert plan(build(), LATER) == expected
    assert given_up >= 5
