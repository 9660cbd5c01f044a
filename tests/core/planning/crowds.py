"""Small clusters in which many may take from many, for tests of who comes before whom."""

from __future__ import annotations

from random import Random

from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope
from quotatree.core.state import State
from tests.core.building import ALL, World, self_level


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
