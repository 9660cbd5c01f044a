"""Jobs are tried for the sake of others, hundreds in a row, and it does not matter how many of them inside each other (S8)."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from benchmarks.hard_worlds import LATER, levels, reserved_siblings
from quotatree.core import decisions as say
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope
from quotatree.core.planning import chain
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import ALL, World, self_level


def test_hundreds_of_siblings_may_each_have_to_be_tried_before_another_s8() -> None:
    """Whatever one of them would borrow, all others could claim back (P15)."""
    made = plan(reserved_siblings(200), LATER)
    assert any(isinstance(decision, say.Hold) for decision in made.decisions)


def crowded(seed: int) -> State:
    """Teams on three levels that may take from each other, and services with surplus."""
    chance = Random(seed)
    world = World(nodes=4, gpus=4)
    world.root(16, child_level=ChildLevel(Priorities(1, 9), ALL))
    for number in range(4):
        scope = chance.choice(list(Scope))
        world.quota(f"t{number}", 4, self_level=self_level(chance.choice([4, 6]), 3, scope))
    world.quota("below", 2, parent="t0", self_level=self_level(4, 3))
    teams = ["t0", "t1", "t2", "t3", "below"]
    for number in range(14):
        world.run(f"runs-{number:02}", chance.choice(teams), 1, priority=chance.randrange(1, 9))
    for number in range(10):
        quota, gpus = chance.choice([*teams, "r"]), chance.choice([1, 1, 2])
        most = {"max_replicas": 3, "min_replicas": 1, "module": Module.EAS} if chance.random() < 0.2 else {}
        world.submit(f"waits-{number:02}", quota, gpus, priority=chance.randrange(4, 10), **most)
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

    families = (partial(reserved_siblings, 30), partial(levels, 3))
    for build in (*families, *(partial(crowded, seed) for seed in range(30))):
        expected = plan(build(), LATER)
        with monkeypatch.context() as patch:
            patch.setattr(chain, "LINKS_AT_MOST", most)
            patch.setattr(chain, "TooDeep", Counted)
            assert plan(build(), LATER) == expected
    assert given_up >= 5
