"""Small knapsacks, exactly (P5): the cheapest units that free an amount of one resource, or that make slots on one node.

A core takes the other replicas of its job along (P12): it frees what they have, and none of them goes beside it. So of each such job
either the whole goes, or some of those replicas, the cheapest first, since they are alike in size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd, inf
from typing import Final, NamedTuple

from quotatree.core.model.effort import CELLS_A_UNIT
from quotatree.core.model.job import Job
from quotatree.core.model.unit import Unit
from quotatree.core.search.trial import NOTHING, Left, Proposal, propose

Item = tuple[int, Unit]  # cost, unit
Wholes = Mapping[Unit, int]
"""Of cores that take replicas along which free something, too: how much each frees of the resource with all of them."""
NO_WHOLES: Final[Wholes] = {}
_COUNTED: Final = 1 << 32
"""A row counts a cost in these, and the units in ones: of two sums the smaller is cheaper, or has fewer units."""


def grain_of(items: list[Item], wholes: Wholes, resource: int, *amounts: int) -> int:
    """Return the largest amount of which all items and these amounts are multiples."""
    return gcd(*[unit.footprint[resource] for _, unit in items], *wholes.values(), *amounts) or 1


def cover(
    items: list[Item], resource: int, amount: int, exact: Left, wholes: Wholes = NO_WHOLES
) -> Proposal | None:
    """Return the cheapest items for `amount`; None if they are not enough or the table would be too large.

    `exact`: how much work may still be done; that of this table is taken from it.
    """
    if sum([unit.footprint[resource] for _, unit in items]) + sum(wholes.values()) < amount:
        return None
    grain = grain_of(items, wholes, resource, amount)
    if not _affordable(len(items) * (amount // grain), exact):
        return None
    table = _Table(items, wholes, resource, amount // grain, grain)
    return table.cheapest(amount // grain)


def cover_both(
    inside: list[Item],
    beside: list[Item],
    resource: int,
    least_inside: int,
    amount: int,
    exact: Left,
    wholes: Wholes = NO_WHOLES,
) -> Proposal | None:
    """Return the cheapest items for `amount` of which those inside have `least_inside`, or None as `cover` does.

    What those inside have beyond their part leaves less for those beside.
    """
    grain = grain_of([*inside, *beside], wholes, resource, least_inside, amount)
    least, most = least_inside // grain, max(least_inside, amount) // grain
    if not _affordable((len(inside) + len(beside)) * most, exact):
        return None
    first = _Table(inside, wholes, resource, most, grain)
    second = _Table(beside, wholes, resource, amount // grain, grain)
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


def _affordable(cells: int, exact: Left) -> bool:
    """Return whether a table of so many cells may be filled, and take them from the work that may still be done."""
    units = cells // CELLS_A_UNIT
    if exact.left < max(1, units):
        return False
    exact.left -= units
    return True


def join(a: Proposal, b: Proposal) -> Proposal:
    return Proposal(a.cost + b.cost, a.jobs + b.jobs, a.age + b.age, a.names + b.names, a.units + b.units)


class _Choice(NamedTuple):
    """One way to take from a job: so many grains for so much, by these units going."""

    size: int
    cost: int
    units: tuple[Item, ...]

    @property
    def sum_(self) -> int:
        return self.cost * _COUNTED + len(self.units)


class _Table:
    """The cheapest items for at least 0, 1, 2 ... grains of a resource, up to `top`.

    One row for each item, or for all of a job of which not every set may go, says what the cheapest set costs with those so far; only sets
    that are asked for are put together.
    """

    __slots__ = ("_choices", "_rows")

    def __init__(self, items: list[Item], wholes: Wholes, resource: int, top: int, grain: int) -> None:
        row: list[float] = [0, *[inf] * top]
        self._rows = [row]
        self._choices: list[list[_Choice]] = []
        for choices in _choices(items, wholes, resource, top, grain):
            before = row
            for choice in choices:
                more, size = choice.sum_, choice.size
                alone = min(size, top) + 1
                # Of equal sums the first is kept: the set without this choice.
                with_it = [more] * alone + [sum_ + more for sum_ in before[1 : top - size + 1]]
                row = list(map(min, row, with_it))
            self._rows.append(row)
            self._choices.append(choices)

    @property
    def sums(self) -> list[float]:
        """For each number of grains, what its cheapest set costs, and then how many units it has; infinite where there is none."""
        return self._rows[-1]

    def cheapest(self, grains: int) -> Proposal | None:
        """Return the cheapest items for at least so many grains; None if all items are not enough."""
        if self.sums[grains] == inf:
            return None
        found: list[Item] = []
        for number in range(len(self._choices), 0, -1):
            if grains <= 0:
                break
            row, before = self._rows[number], self._rows[number - 1]
            if row[grains] != before[grains]:
                made = (
                    c
                    for c in self._choices[number - 1]
                    if before[max(0, grains - c.size)] + c.sum_ == row[grains]
                )
                choice = next(made)
                found += reversed(choice.units)
                grains = max(0, grains - choice.size)
        best = NOTHING
        for cost, unit in reversed(found):
            best = join(best, propose([unit], cost))
        return best


def _choices(
    items: list[Item], wholes: Wholes, resource: int, top: int, grain: int
) -> Iterator[list[_Choice]]:
    """Yield each item as a choice by itself, and after these each job whose core is among `wholes` with the ways to take from it.

    Of equally large single items only the first are yielded, as many as would do alone: any later one could be replaced by one of
    those, at no more cost.
    """
    seen: dict[int, int] = {}  # items of each size
    of_whole: dict[Job, list[Item]] = {core.job: [] for core in wholes}
    for item in sorted(items, key=lambda item: (item[0], -item[1].started_ms, item[1].name)):
        cost, unit = item
        if unit.job in of_whole:
            of_whole[unit.job].append(item)
            continue
        size = unit.footprint[resource] // grain
        if not size or seen.get(size, 0) * size >= top:
            continue
        seen[size] = seen.get(size, 0) + 1
        yield [_Choice(size, cost, (item,))]
    for theirs in of_whole.values():
        others = [item for item in theirs if item[1] not in wholes]
        choices = [
            _Choice(wholes[unit] // grain, cost, ((cost, unit),)) for cost, unit in theirs if unit in wholes
        ]
        for count in range(1, len(others) + 1):
            some = tuple(others[:count])
            size = sum([unit.footprint[resource] for _, unit in some]) // grain
            choices.append(_Choice(size, sum([cost for cost, _ in some]), some))
        yield [choice for choice in choices if choice.size]


class Way(NamedTuple):
    """Units on one node without which it has `slots` more slots, and the cost they are charged with."""

    charge: int
    slots: int
    units: list[Unit]


def cheapest_way(
    need: int, step: int, most: int, items: list[tuple[int, int, Unit]], total: int
) -> Way | None:
    """Return the cheapest items with at least `need` GPUs together, which make one slot; None if all are not enough.

    Up to `most` slots, each further one of `step` GPUs, are made if that is cheaper per slot. An item is (GPUs, charge,
    unit); `total` is the GPUs of all.
    """
    if most == 1:
        if total == need:
            return Way(sum([item[1] for item in items]), 1, [item[2] for item in items])
        if total == len(items):
            order = sorted(items, key=lambda item: (item[1], -item[2].started_ms, item[2].name))[:need]
            return Way(sum(item[1] for item in order), 1, [item[2] for item in order])
    top = need + (most - 1) * step
    best: list[tuple[int, int, tuple[int, ...]] | None] = [(0, 0, ())] + [None] * top
    for k, (gpus, cost, _) in enumerate(items):
        for j in range(top, 0, -1):
            below = best[j - gpus] if j > gpus else best[0]
            if below is None:
                continue
            here = best[j]
            if here is None or below[0] + cost <= here[0]:
                candidate = (below[0] + cost, below[1] + 1, (*below[2], k))
                if here is None or candidate < here:
                    best[j] = candidate
    found: Way | None = None
    for slots in range(1, most + 1):
        way = best[need + (slots - 1) * step]
        if way is not None and (found is None or way[0] * found.slots < found.charge * slots):
            found = Way(way[0], slots, [items[k][2] for k in way[2]])
    return found
