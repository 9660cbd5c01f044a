"""Among a handful of candidates the cheapest set is found, whatever is in the way of a greedy search (P5, P8)."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.job import JobId, Placed, Shape
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import Scope
from quotatree.core.planning.plan import plan
from quotatree.core.search import exhaustive, gang
from tests.core.building import MINUTE, World, self_level

HALF = Shape(500, 0, 0)


def three_nodes() -> World:
    """A device each: on n0 and n1 half of it is to be had, from small jobs, on n2 all of it, from a pair of replicas.

    Quota is not short: a fourth node is cordoned.
    """
    world = World(nodes=4, gpus=1)
    world.event(ev.NodeChanged("n3", NodeState.CORDONED))
    world.root(4, self_level=self_level(9, 1, Scope.OWN))
    world.now_ms = 10 * MINUTE
    for node in range(2):
        world.run(f"small {node}", "r", 0.5, places=(Placed(0, node, (0,), HALF),))
        world.run(f"high {node}", "r", 0.5, priority=9, places=(Placed(0, node, (0,), HALF),))
    world.now_ms = 14 * MINUTE
    world.run("pair", "r", 0.5, 2, places=(Placed(0, 2, (0,), HALF), Placed(1, 2, (0,), HALF)))
    world.now_ms = 20 * MINUTE
    return world


def victims(world: World) -> list[JobId]:
    return [d.job for d in plan(world.state, world.now_ms).decisions if isinstance(d, say.Evict)]


def test_one_unit_that_makes_room_for_two_replicas_goes_before_two_that_cost_more_p5() -> None:
    """For one replica each of the small ones is cheaper than the pair; for two replicas the pair is."""
    world = three_nodes()
    world.submit("gang", "r", 0.5, 2, priority=9)
    assert victims(world) == ["pair"]


def test_with_more_candidates_than_a_few_a_local_search_inserts_it_p5(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exhaustive, "FEW", 2)
    world = three_nodes()
    world.submit("gang", "r", 0.5, 2, priority=9)
    assert victims(world) == ["pair"]


def test_the_effort_is_counted_and_what_was_known_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A3: when the steps are used up, the set of the greedy search stands."""
    monkeypatch.setattr(exhaustive, "EXACT", 0)
    monkeypatch.setattr(gang, "ONE_BY_ONE", 0)
    world = three_nodes()
    world.submit("gang", "r", 0.5, 2, priority=9)
    assert victims(world) == ["small 0", "small 1"]


def test_candidates_that_are_all_alike_take_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two devices are wanted and each unit has one: that two must go at least tells that no other set is better."""
    steps: list[int] = []
    decide = exhaustive._Few._decide

    def counted(self: exhaustive._Few, position: int, cost: int) -> None:
        steps.append(position)
        decide(self, position, cost)

    monkeypatch.setattr(exhaustive._Few, "_decide", counted)
    world = World(nodes=2)
    world.root(16, self_level=self_level(9, 1, Scope.OWN))
    for number in range(16):
        world.run(f"j{number}", "r", 1)
    world.submit("gang", "r", 1, 2, priority=9)
    assert len(victims(world)) == 2
    assert steps == [0]
