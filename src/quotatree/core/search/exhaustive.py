"""When only a handful of units may be taken, look at every set of them.

The search for gangs is greedy, and protections (reserved parts, loans that end at min) can lead it into a dead end. With
few candidates there is no need to be clever.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Final

from quotatree.core.model.job import Shape
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search.eligible import Protections, Signature
from quotatree.core.search.one_node import Taken, slots_without, taken, with_companions, without_implied
from quotatree.core.search.placement import FreeIndex
from quotatree.core.state import State

FEW: Final = 10
"""Up to this many candidates, all of their sets are looked at."""


def candidates(state: State, signature: Signature, highest: int, now_ms: int) -> list[Unit] | None:
    """The units that may be taken up to a ladder step, or None if they are not few."""
    found: list[Unit] = []
    for cls in state.classes_below(signature.quota.root):
        entitled = signature.entitled(cls) if cls.buckets else None
        if entitled is None or entitled.ladder > highest:
            continue
        for bucket in cls.buckets.values():
            for *_, unit in bucket:
                if entitled.honours_min_runtime and unit.protected_until_ms > now_ms:
                    continue
                found.append(unit)
                if len(found) > FEW:
                    return None
    return sorted(found, key=lambda u: u.name)


def best_of_few(
    state: State, signature: Signature, highest: int, now_ms: int, shape: Shape, wanted: int, free: FreeIndex,
    avoid: frozenset[int], protections: Protections | None, covered: Callable[[list[Unit]], bool],
) -> Taken | None:  # fmt: skip
    """The cheapest lawful set for `wanted` replicas among few candidates; `covered`: does a set free the quota?"""
    units = candidates(state, signature, highest, now_ms)
    if units is None:
        return None
    base = free.total - sum(free.slots[n] for n in avoid)
    best: Taken | None = None
    for size in range(1, len(units) + 1):
        for chosen in combinations(units, size):
            cost = sum(eviction_cost(u, now_ms) for u in chosen)
            if best is not None and cost >= best.cost:
                continue
            everyone = with_companions(list(chosen))
            if not covered(list(chosen)) or (protections is not None and not protections.allow(everyone)):
                continue
            slots = base
            for index in sorted({n for u in everyone for n in u.nodes} - avoid):
                node = state.nodes[index]
                if node.suits(shape):
                    slots += slots_without(node, shape, everyone) - free.slots[index]
            if slots >= wanted:
                best = without_implied(taken(list(chosen), cost), now_ms)
    return best
