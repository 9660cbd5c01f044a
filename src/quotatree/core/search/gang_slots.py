"""The cheapest way to make one or several slots on a single node: a small knapsack over whole GPUs."""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core.model.unit import Unit


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
