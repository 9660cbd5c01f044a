"""Where a search on one node may begin: every set that is enough has a beginning in it and costs at least what that says (P5)."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search import branching as module
from quotatree.core.search.branching import ANYWHERE, Beginning, beginnings
from quotatree.core.search.fit import Tally
from tests.core.building import MINUTE, World, self_level

UNITS = 9


def crowded(random: Random) -> World:
    """One node with entire devices, shares of one and none at all in use, and CPU in odd amounts."""
    world = World(nodes=1, gpus=6)
    world.root(6, self_level=self_level(9, 8))
    left = 6.0
    for number in range(UNITS):
        world.now_ms = random.randrange(100 * MINUTE)
        gpus = random.choice([size for size in (0, 0.25, 0.5, 0.75, 1, 1, 2) if size <= left])
        left -= -(-gpus // 1)  # whether or not sharers meet on one device
        cpus = random.randrange(1, 14)
        world.run(f"v{number}", "r", gpus, cpus=cpus, priority=4)
    world.now_ms = 100 * MINUTE
    return world


def enough(node: Node, shape: Shape, units: tuple[Unit, ...]) -> bool:
    tally = Tally(node)
    tally.add([node.units[unit] for unit in units])
    return tally.fits(shape)


@pytest.mark.parametrize("seed", range(40))
def test_every_set_that_is_enough_has_a_beginning_and_costs_no_less(seed: int) -> None:
    random = Random(seed)
    world = crowded(random)
    node, now_ms = world.state.nodes[0], world.now_ms
    shape = Shape(random.choice([0, 0, 500, 1000, 2000, 3000]), random.choice([70, 110, 125]) * 1000, 0)
    found = beginnings(node, shape, list(node.units.values()), now_ms)
    assert list(found) == sorted(found, key=lambda one: one.least)
    for size in range(UNITS + 1):
        for units in combinations(node.units, size):
            if enough(node, shape, units):
                cost = sum(eviction_cost(unit, now_ms) for unit in units)
                within = [one for one in found if set(one.units) <= set(units)]
                assert within, f"{units} has no beginning"
                assert all(one.least <= cost for one in within)


def test_a_beginning_frees_no_device_too_many() -> None:
    world = crowded(Random(3))
    node = world.state.nodes[0]
    shape = Shape(2000, 120_000, 0)
    found = beginnings(node, shape, list(node.units.values()), world.now_ms)
    assert found
    for one in found:
        free = Tally(node)
        free.add([node.units[unit] for unit in one.units])
        assert free.fits(Shape(2000, 0, 0))
        for spared in one.units:
            if node.units[spared].whole:
                without = Tally(node)
                without.add([node.units[unit] for unit in one.units if unit is not spared])
                assert not without.fits(Shape(2000, 0, 0))


def test_without_units_enough_there_is_none() -> None:
    world = crowded(Random(3))
    node = world.state.nodes[0]
    assert beginnings(node, Shape(0, 1 << 40, 0), list(node.units.values()), world.now_ms) == ()
    assert beginnings(node, Shape(0, 0, 1 << 40), list(node.units.values()), world.now_ms) == ()


def test_too_many_are_not_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(nodes=1)
    world.root(8, self_level=self_level(9, 8))
    for number in range(8):
        world.run(f"v{number}", "r", 1, cpus=10)
    node = world.state.nodes[0]
    shape, shares = Shape(4000, 120_000, 0), list(node.units.values())
    assert len(beginnings(node, shape, shares, 0)) == 70
    monkeypatch.setattr(module, "BEGINNINGS", 69)
    assert beginnings(node, shape, shares, 0) == ANYWHERE == (Beginning(0, ()),)
