"""The cheapest units for an amount, and for an amount of which a part must be of some of them: all sets are compared (P5)."""

from __future__ import annotations

from itertools import chain, combinations
from random import Random

import pytest

from quotatree.core.model.effort import EXACT
from quotatree.core.model.policy import Module
from quotatree.core.model.resources import GPU
from quotatree.core.model.unit import Unit
from quotatree.core.search import knapsack
from quotatree.core.search.knapsack import Item, cover, cover_both
from quotatree.core.search.trial import Left, implied
from tests.core.building import World


def units(sizes: list[int]) -> list[Unit]:
    world = World(nodes=len(sizes))
    world.root(8 * len(sizes))
    found = [world.run(f"j{number}", "r", size).core for number, size in enumerate(sizes)]
    return [unit for unit in found if unit is not None]


def cheapest(inside: list[Item], beside: list[Item], least_inside: int, amount: int) -> int | None:
    """Return the least cost of any set of both lists that has the amount, and the least amount of those inside."""
    items = [*((*item, True) for item in inside), *((*item, False) for item in beside)]
    costs = [
        sum(cost for cost, _, _ in chosen)
        for chosen in chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))
        if sum(unit.footprint[GPU] for _, unit, _ in chosen) >= amount
        and sum(unit.footprint[GPU] for _, unit, within in chosen if within) >= least_inside
    ]
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(40))
def test_a_cover_costs_as_little_as_any_set(seed: int) -> None:
    random = Random(seed)
    items = [(random.randint(0, 9), unit) for unit in units([random.randint(1, 5) for _ in range(7)])]
    inside, beside = items[:3], items[3:]
    least, amount = random.randint(0, 10) * 1000, random.randint(0, 20) * 1000
    found = cover_both(inside, beside, GPU, least, amount, Left(EXACT))
    assert (None if found is None else found.cost) == cheapest(inside, beside, least, amount)
    found = cover(items, GPU, amount, Left(EXACT))
    assert (None if found is None else found.cost) == cheapest([], items, 0, amount)


@pytest.mark.parametrize("seed", range(60))
def test_a_core_goes_with_the_other_replicas_of_its_job_or_not_at_all_p12(seed: int) -> None:
    """P5: each set is a cheapest one of all in which no replica goes beside its core. The core's cost has theirs."""
    random = Random(seed)
    world = World(nodes=4)
    world.root(32)
    services = [
        world.run(f"s{number}", "r", random.randint(1, 2), random.randint(2, 4), module=Module.EAS)
        for number in range(2)
    ]
    singles = [world.run(f"j{number}", "r", random.randint(1, 3)) for number in range(3)]
    items = [(random.randint(1, 9), job.core) for job in singles if job.core is not None]
    wholes: dict[Unit, int] = {}
    for job in services:
        assert job.core is not None
        extras = [(random.randint(1, 9), unit) for unit in job.extras.values()]
        items += extras
        items.append((random.randint(1, 9) + sum(cost for cost, _ in extras), job.core))
        wholes[job.core] = sum(unit.footprint[GPU] for unit in (job.core, *job.extras.values()))
    amount = random.randint(1, 16) * 1000
    lawful = [
        chosen
        for chosen in chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))
        if not any(implied(unit, [u for _, u in chosen]) for _, unit in chosen)
        and sum(wholes.get(unit, unit.footprint[GPU]) for _, unit in chosen) >= amount
    ]
    found = cover(items, GPU, amount, Left(EXACT), wholes)
    assert (None if found is None else found.cost) == min(
        (sum(cost for cost, _ in chosen) for chosen in lawful), default=None
    )
    if found is not None:
        assert not any(implied(unit, found.units) for unit in found.units)
        assert sum(wholes.get(unit, unit.footprint[GPU]) for unit in found.units) >= amount


def test_of_equally_cheap_sets_the_one_with_fewer_units_is_taken_p5() -> None:
    one, other, both = units([1, 1, 2])
    found = cover([(2, one), (2, other), (4, both)], GPU, 2000, Left(EXACT))
    assert found is not None
    assert (found.cost, found.units) == (4, (both,))


def test_what_one_search_may_fill_in_tables_is_counted_a3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knapsack, "CELLS_A_UNIT", 1)
    items = [(1, unit) for unit in units([1, 1])]
    cells = Left(7)
    assert cover(items, GPU, 2000, cells) is not None
    assert cells.left == 3
    assert cover(items, GPU, 2000, cells) is None, "three are left, and a table has four"
    assert cells.left == 3
    assert cover_both(items[:1], items[1:], GPU, 1000, 2000, cells) is None


def test_where_nothing_more_may_be_spent_no_table_is_filled_however_small_a8() -> None:
    items = [(1, unit) for unit in units([1, 1])]
    assert cover(items, GPU, 2000, Left(1)) is not None
    assert cover(items, GPU, 2000, Left(0)) is None
