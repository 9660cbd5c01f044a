"""One replica, many nodes: those that cannot be better are not searched, and a node that stays as it is only once (P5)."""

from __future__ import annotations

import pytest

from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.node import Node
from quotatree.core.model.policy import ChildLevel, Priorities
from quotatree.core.search import one_replica
from quotatree.core.search.one_replica import NodeItems, cheapest_on_node, items_on
from quotatree.core.search.trial import Proposal, Trial
from tests.core.building import ALL, World

NODES = 6


@pytest.fixture
def world() -> World:
    """Nodes that are alike, each full of work of a team, and a right over it."""
    world = World(nodes=NODES)
    world.root(8 * NODES, child_level=ChildLevel(Priorities(1, 9), ALL))
    world.quota("team", 8 * NODES)
    for node in range(NODES):
        for device in range(8):
            place = Placed(0, node, (device,), Shape(1000, 0, 0))
            world.run(f"runs-{node}-{device}", "team", 1, places=(place,))
    return world


def test_nodes_that_only_cost_the_same_are_not_searched(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []

    def counted(trial: Trial, node: Node, *rest: object) -> Proposal | None:
        searched.append(node.spec.name)
        return cheapest_on_node(trial, node, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(one_replica, "cheapest_on_node", counted)
    world.submit("waits", "r", 2)
    assert world.plan() == [("Evict", "runs-0-0"), ("Evict", "runs-0-1"), ("Hold", "waits")]
    assert set(searched) == {"n0"}


def test_a_node_that_stays_as_it_is_is_looked_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def counted(trial: Trial, node: Node, shape: Shape) -> NodeItems:
        looked_at.append(node.spec.name)
        return items_on(trial, node, shape)

    monkeypatch.setattr(one_replica, "items_on", counted)
    for number in range(3):
        world.submit(f"waits-{number}", "r", 2)
    assert [who for what, who in world.plan() if what == "Evict"] == [f"runs-0-{n}" for n in range(6)]
    for name in {f"n{number}" for number in range(1, NODES)}:
        assert looked_at.count(name) <= 1
    assert looked_at.count("n0") > 1, "it has changed with every decision"
