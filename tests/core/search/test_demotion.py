"""Work is turned idle only where there is idle room for it (I2)."""

from __future__ import annotations

from quotatree.core.model.job import Idle
from quotatree.core.model.policy import Scope
from tests.core.building import World, self_level


def test_demotion_respects_the_idle_limit_i2() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(9, 1, Scope.OWN), idle_limit_milli=0)
    world.run("allow", "a", 8, idle=Idle.ALLOW)
    world.submit("big", "a", 8, priority=9)
    assert world.plan() == [("Evict", "allow"), ("Start", "big")]
