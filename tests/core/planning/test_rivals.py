"""Siblings that need no loan go before one (P3, S6)."""

from __future__ import annotations

from tests.core.building import World, self_level


def test_siblings_that_go_before_a_loan_go_in_their_order_s6() -> None:
    world = World()
    world.root(8)
    world.quota("a", 2, self_level=self_level(9, 1))
    world.quota("b", 3)
    world.quota("c", 3)
    for name, gpus in (("a", 2), ("b", 2), ("c", 2), ("r", 1)):
        world.run(f"runs-{name}", name, gpus, priority=9)
    world.submit("low", "b", 1, priority=2)
    world.submit("high", "c", 1, priority=7)
    world.submit("borrower", "a", 1, priority=9)
    assert world.plan() == [("Start", "high")]


def test_siblings_go_also_before_a_loan_that_needs_victims_p3() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, self_level=self_level(9, 3))
    world.quota("b", 4)
    world.run("runs-a", "a", 4, priority=9)
    world.run("runs-b", "b", 3, priority=1)
    world.submit("sibling", "b", 1, priority=5)
    world.submit("borrower", "a", 4, priority=9)
    assert world.plan() == [("Start", "sibling")]
