"""Work is turned idle only where there is idle room for it (I2)."""

from __future__ import annotations

import pytest

from quotatree.core.model.job import Idle
from quotatree.core.model.policy import Scope
from quotatree.core.search import other_ways
from quotatree.core.search.quota_cover import cheapest_cover
from quotatree.core.search.trial import Proposal, Trial
from tests.core.building import World, self_level


def test_demotion_respects_the_idle_limit_i2() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(9, 1, Scope.OWN), idle_limit_milli=0)
    world.run("allow", "a", 8, idle=Idle.ALLOW)
    world.submit("big", "a", 8, priority=9)
    assert world.plan() == [("Evict", "allow"), ("Start", "big")]


@pytest.mark.parametrize(("allowing", "rungs"), [(0, []), (1, []), (2, [3])])
def test_nobody_is_sought_where_too_few_may_be_turned_idle_i1(
    monkeypatch: pytest.MonkeyPatch, allowing: int, rungs: list[int]
) -> None:
    """Sets are sought from the first rung on that has enough work which may run idle, if any has."""
    asked: list[int] = []

    def counted(trial: Trial) -> Proposal | None:
        asked.append(trial.rung)
        return cheapest_cover(trial)

    monkeypatch.setattr(other_ways, "cheapest_cover", counted)
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(9, 3, Scope.OWN))
    world.quota("b", 8)
    for number, priority in enumerate((3, 1)):
        idle = Idle.ALLOW if number < allowing else Idle.NEVER
        world.run(f"old-{number}", "a", 4, priority=priority, idle=idle)  # both on one node
    world.submit("borrower", "b", 8, idle=Idle.ONLY)
    assert world.plan() == [("Start", "borrower")]
    world.submit("big", "a", 8, priority=9)
    decided = world.plan()
    assert asked == rungs
    assert (("Demote", "old-0") in decided) == (allowing == 2)
