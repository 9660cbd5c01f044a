"""Siblings that need no loan go before one (P3, S6)."""

from __future__ import annotations

import pytest

from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import Work, could_claim
from quotatree.core.planning import rivals
from quotatree.core.planning.ordering import Ordering
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


def test_alike_siblings_are_asked_together_whether_they_could_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """P15: a loan that a start would need could be claimed by any of ten siblings; that they have one priority is enough to know."""
    asked: list[str] = []

    def noted(claimant: Work, victim: Work, request: tuple[int, int, int]) -> bool:
        asked.append(claimant.quota.id)
        return could_claim(claimant, victim, request)

    monkeypatch.setattr(rivals, "could_claim", noted)
    world = World(nodes=3)
    world.root(24)
    world.quota("a", 2, self_level=self_level(6, 1))
    world.run("runs-a", "a", 2, priority=9)
    for number in range(10):
        world.quota(f"beside-{number}", 2)
        world.run(f"runs-{number}", f"beside-{number}", 2, priority=9)
        world.submit(f"waits-{number}", f"beside-{number}", 1, priority=6)
    borrower = world.submit("borrower", "a", 2, priority=6)
    ordering = Ordering(world.state, world.now_ms, borrower.quota.tree.together)
    rival = rivals.rival_of(ordering, borrower, Resources(2000))
    assert rival is not None
    assert rival.job.id == "waits-0"
    assert len(asked) == 1
