"""The two questions to nodes: which may be used, and how many replicas of a shape fit on one (R3, R4, R5)."""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, NodeSpec, NodeState
from quotatree.core.search.fit import Tally, may_use
from quotatree.core.search.overlay import Overlay
from tests.core.building import World

POOLS = frozenset({"default"})
LABELLED = Shape(1000, 0, 0, labels=(("rack", "r1"),))


def a_node() -> Node:
    return Node(0, NodeSpec("n", gpus=4, labels=(("rack", "r1"),)))


@pytest.mark.parametrize("state", [s for s in NodeState if s is not NodeState.READY])
def test_only_a_node_that_is_ready_may_be_used_r5(state: NodeState) -> None:
    node = a_node()
    assert may_use(node, LABELLED, POOLS)
    node.state = state
    assert not may_use(node, LABELLED, POOLS)


def test_only_nodes_of_the_pools_of_the_model_and_with_the_labels_may_be_used_r4() -> None:
    node = a_node()
    assert not may_use(node, LABELLED, frozenset({"other"}))
    assert not may_use(node, Shape(1000, 0, 0, labels=(("rack", "r2"),)), POOLS)
    assert not may_use(node, Shape(1000, 0, 0, models=("H100",)), POOLS)
    node.crowded = True
    assert not may_use(node, LABELLED, POOLS)


@pytest.mark.parametrize("seed", range(20))
def test_as_many_fit_without_some_units_as_if_they_had_left_r3(seed: int) -> None:
    random = Random(seed)
    world = World(nodes=1, gpus=6)
    world.root(6)
    for number in range(5):
        world.run(f"v{number}", "r", random.choice([0.3, 0.5, 1, 1]), cpus=random.randint(0, 20))
    node = world.state.nodes[0]
    overlay, tally = Overlay(world.state), Tally(node)
    for unit in random.sample(list(node.units), 3):
        tally.add([node.units[unit]])
        overlay.take(unit)
    for shape in (
        Shape(200, 0, 0),
        Shape(500, 7000, 0),
        Shape(1000, 0, 900),
        Shape(2000, 9000, 0),
        Shape(0, 1, 0),
    ):
        assert tally.slots(shape) == overlay.node(0).slots(shape, now=False)
