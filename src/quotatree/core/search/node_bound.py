"""What does one more replica on a node cost at least?

The bound of a node's offer (node_offer.py) for any rung and any later time, so that nodes can be sought in its order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from quotatree.core.model.resources import INFINITE
from quotatree.core.search.node_offer import Offer, Singles


def line_below(offer: Offer, top: int, now_ms: int, per_slot: bool) -> tuple[int, int]:
    """Return a line that `lower_bound` is never below from now on: its value at time 0, and its slope.

    Costs of single devices are taken as they were when they were worked out, as for indexes of other sizes.
    """
    need, rows = offer.need, offer.rows
    if need > 0 and isinstance(rows, Singles) and rows.from_ms <= now_ms:
        now_ms = rows.from_ms
        low, slope = _bound_of_singles(rows, need, top, now_ms, per_slot)
    else:
        low, slope = lower_bound(offer, top, now_ms, per_slot)
    return low - slope * now_ms, slope


def lower_bound(offer: Offer, top: int, now_ms: int, per_slot: bool) -> tuple[int, int]:
    """Return a lower bound of the cost of any sufficient set up to rung `top`, and the least slope that it grows with.

    `per_slot`: a unit may free several slots at once, so only its cost per GPU is certain.
    """
    need = offer.need
    if need <= 0:
        return 0, 0
    rows = offer.rows
    if isinstance(rows, Singles):
        return _bound_of_singles(rows, need, top, now_ms, per_slot)
    items: list[tuple[int, int]] = []
    all_gpus = all_costs = 0
    least: int | None = None  # lowest cost of a single item, or per GPU
    density = INFINITE
    for rung, gpus, cost, slope, end in rows:
        if rung > top:
            continue
        if end is None:
            cost += slope * now_ms
        else:
            cost += slope * min(now_ms, end)
            slope = 0
        if gpus > 1:
            slope //= gpus
        if slope < density:
            density = slope
        if need == 1 or per_slot:
            if gpus > 1 and per_slot:
                cost //= gpus
            if least is None or cost < least:
                least = cost
        else:
            items.append((gpus, cost))
            all_gpus += gpus
            all_costs += cost
    if need == 1 or per_slot:
        return (0, 0) if least is None else (need * least, need * density)
    if all_gpus <= need:  # the most frequent answer of `cover_cost`
        return all_costs, need * density if items else 0
    return cover_cost(need, items), need * density


def _bound_of_singles(singles: Singles, need: int, top: int, now_ms: int, per_slot: bool) -> tuple[int, int]:
    """Return `lower_bound` of a node whose units free one GPU each, of which some are needed."""
    rungs, slopes, costs, from_ms, rising = singles
    end = bisect_right(rungs, top)
    if not end:
        return 0, 0
    density = need * (slopes[0] if rising else min(slopes[:end]))
    grown: Sequence[int] = costs[:end]
    if now_ms != from_ms:
        passed = now_ms - from_ms
        grown = [cost + slope * passed for cost, slope in zip(grown, slopes, strict=False)]
    if need == 1 or per_slot:
        return need * min(grown), density
    if need < end:
        grown = sorted(grown)[:need]
    return sum(grown), density


def cover_cost(need: int, items: list[tuple[int, int]]) -> int:
    """Return the least cost of items with at least `need` GPUs together; the cost of all if they are not enough."""
    total = sum([gpus for gpus, _ in items])
    if total <= need:
        return sum([cost for _, cost in items])
    if total == len(items):
        return sum(sorted([cost for _, cost in items])[:need])
    best = [0] + [INFINITE] * need
    for gpus, cost in items:
        for j in range(need, 0, -1):
            candidate = cost + (best[j - gpus] if j > gpus else 0)
            if candidate < best[j]:
                best[j] = candidate
    return best[need]
