"""Where may a search on one node begin: with which units, whose leaving gives a replica its devices (P5)?

Where CPU or memory is short too, more must go than the devices alone ask for. Every set that is enough has one of these
beginnings in it. With the devices settled, the others are chosen by what they cost and bring alone, and what a set costs at
least is known before any was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, Share
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, eviction_cost

MOST_BEGINNINGS: Final = 256
"""More are not told apart: the search begins with nothing and has to find the devices itself."""


class Beginning(NamedTuple):
    """Units to begin with, and the least that any set with them costs."""

    least: int
    units: tuple[Unit, ...]


ANYWHERE: Final = (Beginning(0, ()),)
"""Begin with nothing; nothing is known of the cost."""

_Item = tuple[int, list[Share]]
"""Devices that become free without these shares."""


def beginnings(node: Node, shape: Shape, shares: list[Share], now_ms: int) -> tuple[Beginning, ...]:
    """Return where a search among these shares may begin, the one whose sets may be cheapest first; none: there is no set.

    Each share must be alone in its unit's job, and have entire devices or a part of one, not both.
    """
    costs = {share.unit: eviction_cost(share.unit, now_ms) for share in shares}
    missing = _Missing(node, shape, shares, costs)
    need = shape.whole_gpus - node.whole_free
    if need <= 0:
        least = missing.least(())
        return () if least is None else (Beginning(least, ()),)
    items = [(share.whole, [share]) for share in shares if share.whole] + _shared_devices(node, shares)
    items.sort(key=lambda item: -item[0])
    found: list[Beginning] = []
    for number, chosen in enumerate(_just_enough(items, need)):
        if number == MOST_BEGINNINGS:
            return ANYWHERE
        least = missing.least(chosen)
        if least is not None:
            found.append(Beginning(least, tuple(share.unit for share in chosen)))
    found.sort(key=lambda beginning: (beginning.least, [unit.name for unit in beginning.units]))
    return tuple(found)


def _shared_devices(node: Node, shares: list[Share]) -> list[_Item]:
    """Return the shared devices that are free without all their sharers among these."""
    sharers: dict[int, list[Share]] = {}
    for share in shares:
        for device, _ in share.fractions:
            sharers.setdefault(device, []).append(share)
    return [
        (1, some)
        for device, some in sharers.items()
        if node.free[device] + sum(share.fractions[0][1] for share in some) == WHOLE_GPU
    ]


def _just_enough(items: list[_Item], need: int) -> Iterator[list[Share]]:
    """Yield the shares of every choice of items, largest first, that have `need` devices together but not without any one."""
    left_from = [0] * (len(items) + 1)  # devices of all items from a position on
    for position in reversed(range(len(items))):
        left_from[position] = left_from[position + 1] + items[position][0]
    chosen: list[int] = []
    position = 0
    while True:
        if need > 0 and left_from[position] >= need:
            chosen.append(position)
            need -= items[position][0]
            position += 1
            continue
        if need <= 0:
            yield [share for k in chosen for share in items[k][1]]
        if not chosen:
            return
        position = chosen.pop()
        need += items[position][0]
        position += 1


class _Missing:
    """What is missing of CPU and memory, and what it costs at least to get it from these shares."""

    __slots__ = ("_amounts", "_by_cost", "_costs", "_most")

    def __init__(self, node: Node, shape: Shape, shares: list[Share], costs: dict[Unit, int]) -> None:
        self._costs = costs
        self._by_cost = sorted((cost, unit.name, unit) for unit, cost in costs.items())
        self._amounts = (shape.cpu_milli - node.free_cpu, shape.memory_mib - node.free_memory)
        self._most = (
            max((share.cpu_milli for share in shares), default=0),
            max((share.memory_mib for share in shares), default=0),
        )

    def least(self, chosen: list[Share] | tuple[()]) -> int | None:
        """Return what the chosen shares and as many others as must go with them at least cost; None if all are not enough."""
        cpu, memory = self._amounts
        cost = 0
        gone: set[Unit] = set()
        for share in chosen:
            cpu -= share.cpu_milli
            memory -= share.memory_mib
            cost += self._costs[share.unit]
            gone.add(share.unit)
        more = 0
        for amount, most in zip((cpu, memory), self._most, strict=True):
            if amount > 0:
                if not most:
                    return None
                more = max(more, -(-amount // most))
        for others, _, unit in self._by_cost:
            if not more:
                break
            if unit not in gone:
                cost += others
                more -= 1
        return None if more else cost
