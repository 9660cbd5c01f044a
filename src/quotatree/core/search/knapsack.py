"""The cheapest units that free at least an amount of one resource: a knapsack cover, exactly (P5)."""

from __future__ import annotations

from math import gcd
from typing import Final

from quotatree.core.model.unit import Unit
from quotatree.core.search.trial import NOTHING, Proposal, propose

EXACT_CELLS: Final = 60_000
"""Largest table, in items times amounts, that is solved exactly."""

Item = tuple[int, Unit]  # cost, unit
Table = list[Proposal | None]
"""The cheapest set for at least 0, 1, 2 ... grains of a resource; None where all items are not enough."""


def grain_of(items: list[Item], resource: int, *amounts: int) -> int:
    """Return the largest amount of which all items and these amounts are multiples."""
    return gcd(*[unit.footprint[resource] for _, unit in items], *amounts) or 1


def cover(items: list[Item], resource: int, amount: int) -> Proposal | None:
    """Return the cheapest items for `amount`; None if they are not enough or the table would be too large."""
    if sum([unit.footprint[resource] for _, unit in items]) < amount:
        return None
    grain = grain_of(items, resource, amount)
    if len(items) * (amount // grain) > EXACT_CELLS:
        return None
    return _table(items, resource, amount // grain, grain)[-1]


def cover_both(
    inside: list[Item], beside: list[Item], resource: int, least_inside: int, amount: int
) -> Proposal | None:
    """Return the cheapest items for `amount` of which those inside have `least_inside`, or None as `cover` does.

    What those inside have beyond their part leaves less for those beside.
    """
    grain = grain_of([*inside, *beside], resource, least_inside, amount)
    least, most = least_inside // grain, max(least_inside, amount) // grain
    if (len(inside) + len(beside)) * most > EXACT_CELLS:
        return None
    first = _table(inside, resource, most, grain)
    second = _table(beside, resource, amount // grain, grain)
    best: Proposal | None = None
    for part in range(least, most + 1):
        one, other = first[part], second[max(0, amount // grain - part)]
        if one is None or other is None:
            continue
        both = join(one, other)
        if best is None or both < best:
            best = both
    return best


def join(a: Proposal, b: Proposal) -> Proposal:
    return Proposal(a.cost + b.cost, a.jobs + b.jobs, a.age + b.age, a.names + b.names, a.units + b.units)


def _table(items: list[Item], resource: int, top: int, grain: int) -> Table:
    """Return the cheapest items for every number of grains up to `top`.

    Of equally large items only the first are looked at, as many as would do alone: any later one could be replaced by one
    of those, at no more cost.
    """
    table: Table = [NOTHING] + [None] * top
    seen: dict[int, int] = {}  # items of each size
    for cost, unit in sorted(items, key=lambda item: (item[0], -item[1].started_ms, item[1].name)):
        size = unit.footprint[resource] // grain
        if not size or seen.get(size, 0) * size >= top:
            continue
        seen[size] = seen.get(size, 0) + 1
        single: Proposal | None = None
        for j in range(top, 0, -1):
            below = table[j - size] if j > size else NOTHING
            if below is None:
                continue
            here = table[j]
            total = below.cost + cost
            if here is not None and total >= here.cost and (total > here.cost or below.jobs + 1 >= here.jobs):
                continue
            single = single or propose([unit], cost)
            table[j] = join(below, single)
    return table
