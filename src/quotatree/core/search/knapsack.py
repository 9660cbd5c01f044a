"""The cheapest units that free at least an amount of one resource: a knapsack cover, exactly (P5)."""

from __future__ import annotations

from math import gcd, inf
from typing import Final

from quotatree.core.model.unit import Unit
from quotatree.core.search.trial import NOTHING, Effort, Proposal, propose

EXACT_CELLS: Final = 60_000
"""Largest table, in items times amounts, that is solved exactly."""

Item = tuple[int, Unit]  # cost, unit
_COUNTED: Final = 1 << 32
"""A row counts a cost in these, and the units in ones: of two sums the smaller is cheaper, or has fewer units."""


def grain_of(items: list[Item], resource: int, *amounts: int) -> int:
    """Return the largest amount of which all items and these amounts are multiples."""
    return gcd(*[unit.footprint[resource] for _, unit in items], *amounts) or 1


def cover(items: list[Item], resource: int, amount: int, cells: Effort | None = None) -> Proposal | None:
    """Return the cheapest items for `amount`; None if they are not enough or the table would be too large.

    `cells`: how many cells of tables may still be filled, which those of this one are taken from.
    """
    if sum([unit.footprint[resource] for _, unit in items]) < amount:
        return None
    grain = grain_of(items, resource, amount)
    if not _affordable(len(items) * (amount // grain), cells):
        return None
    table = _Table(items, resource, amount // grain, grain)
    return table.cheapest(amount // grain)


def cover_both(
    inside: list[Item],
    beside: list[Item],
    resource: int,
    least_inside: int,
    amount: int,
    cells: Effort | None = None,
) -> Proposal | None:
    """Return the cheapest items for `amount` of which those inside have `least_inside`, or None as `cover` does.

    What those inside have beyond their part leaves less for those beside.
    """
    grain = grain_of([*inside, *beside], resource, least_inside, amount)
    least, most = least_inside // grain, max(least_inside, amount) // grain
    if not _affordable((len(inside) + len(beside)) * most, cells):
        return None
    first = _Table(inside, resource, most, grain)
    second = _Table(beside, resource, amount // grain, grain)
    parts = [(part, max(0, amount // grain - part)) for part in range(least, most + 1)]
    sums = [first.sums[one] + second.sums[other] for one, other in parts]
    cheapest = min(sums, default=inf)
    best: Proposal | None = None
    for (part, rest), total in zip(parts, sums, strict=True):
        if total != cheapest:
            continue
        one, other = first.cheapest(part), second.cheapest(rest)
        if one is None or other is None:
            continue
        both = join(one, other)
        if best is None or both < best:
            best = both
    return best


def _affordable(count: int, cells: Effort | None) -> bool:
    """Return whether a table of so many cells is not too large, and take them from what may still be filled."""
    if count > EXACT_CELLS:
        return False
    if cells is None:
        return True
    if cells.left < count:
        return False
    cells.left -= count
    return True


def join(a: Proposal, b: Proposal) -> Proposal:
    return Proposal(a.cost + b.cost, a.jobs + b.jobs, a.age + b.age, a.names + b.names, a.units + b.units)


class _Table:
    """The cheapest items for at least 0, 1, 2 ... grains of a resource, up to `top`.

    One row for each item says what the cheapest set costs with the items so far; only sets that are asked for are put together. Of
    equally large items only the first are looked at, as many as would do alone: any later one could be replaced by one of those,
    at no more cost.
    """

    __slots__ = ("_items", "_rows")

    def __init__(self, items: list[Item], resource: int, top: int, grain: int) -> None:
        row: list[float] = [0, *[inf] * top]
        self._rows = [row]
        self._items: list[tuple[int, int, Unit]] = []  # size, cost, unit
        seen: dict[int, int] = {}  # items of each size
        for cost, unit in sorted(items, key=lambda item: (item[0], -item[1].started_ms, item[1].name)):
            size = unit.footprint[resource] // grain
            if not size or seen.get(size, 0) * size >= top:
                continue
            seen[size] = seen.get(size, 0) + 1
            more = cost * _COUNTED + 1
            alone = min(size, top) + 1
            # Of equal sums the first is kept: the set without this item.
            with_it = [more] * alone + [sum_ + more for sum_ in row[1 : top - size + 1]]
            row = list(map(min, row, with_it))
            self._rows.append(row)
            self._items.append((size, cost, unit))

    @property
    def sums(self) -> list[float]:
        """For each number of grains, what its cheapest set costs, and then how many units it has; infinite where there is none."""
        return self._rows[-1]

    def cheapest(self, grains: int) -> Proposal | None:
        """Return the cheapest items for at least so many grains; None if all items are not enough."""
        if self.sums[grains] == inf:
            return None
        found: list[tuple[int, Unit]] = []
        for number in range(len(self._items), 0, -1):
            if grains <= 0:
                break
            if self._rows[number][grains] != self._rows[number - 1][grains]:
                size, cost, unit = self._items[number - 1]
                found.append((cost, unit))
                grains = max(0, grains - size)
        best = NOTHING
        for cost, unit in reversed(found):
            best = join(best, propose([unit], cost))
        return best
