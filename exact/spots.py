"""Where could a replica stand, and what would it cost there at least? The prices that keep the exact model small.

A spot is a node, or a device for fractions. Its price bounds from below what hosting a replica there costs: a unit's
cost is divided among the most spots it could serve.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from exact.problem import Cluster, Group, Problem


@dataclass(frozen=True, slots=True)
class Spot:
    """A node, or for a fraction a device, that can host replicas of one group.

    `prices` are lower bounds on what the first, second ... replica here adds to the cost; they never fall. Their sum
    over all spots in use is at most the cost of the evicted units.
    """

    node: int
    device: int | None
    prices: tuple[int, ...]


def spots_of(cluster: Cluster, group: Group) -> list[Spot]:
    """All spots where a replica of the group could ever stand, cheapest first."""
    if not group.replicas:
        return []
    shares = []
    for unit in cluster.problem.units:
        serves = sum(len(p.devices) for p in unit.places) if group.is_fraction else len(unit.places)
        shares.append(unit.cost // max(1, min(serves, group.replicas)))
    found = []
    for node, free in enumerate(cluster.problem.nodes):
        most = cluster.most(node, group)
        if most <= 0:
            continue
        if group.is_fraction:
            for device, milli in enumerate(free.devices):
                items = [(amount, shares[unit]) for unit, amount in cluster.occupants[node][device]]
                if prices := _prices(items, milli, group.gpu_milli, most):
                    found.append(Spot(node, device, prices))
        elif group.gpus:
            clearable = cluster.clearable(node)
            times = Counter(unit for units in clearable for unit in units)
            items = [
                (devices, sum(shares[unit] // times[unit] for unit in units))
                for units, devices in clearable.items()
                if units
            ]
            if prices := _prices(items, clearable[()], group.gpus, most):
                found.append(Spot(node, None, prices))
        else:
            found.append(Spot(node, None, (0,) * most))
    return sorted(found, key=lambda spot: (spot.prices[0], spot.node, spot.device or 0))


def _prices(items: list[tuple[int, int]], free: int, each: int, most: int) -> tuple[int, ...]:
    """Lower bounds on the cost of each further replica. `items` are the (amount, cost) pieces that can be freed."""
    most = min(most, (free + sum(amount for amount, _ in items)) // each)
    costs = [0, *_cover(items, [max(0, count * each - free) for count in range(1, most + 1)])]
    prices: list[int] = []
    while len(prices) < most:  # along the lower convex hull, rounded down
        at = len(prices)
        price, back = min(((costs[j] - costs[at]) // (j - at), -j) for j in range(at + 1, most + 1))
        prices += [price] * (-back - at)
    return tuple(prices)


def _cover(items: list[tuple[int, int]], needs: list[int]) -> list[int]:
    """For each of the (rising) needs, the lowest cost of freeing at least that much."""
    if not needs:
        return []
    if needs[0] == sum(amount for amount, _ in items):  # all items are needed
        return [sum(cost for _, cost in items)] * len(needs)
    frontier = [(0, 0)]  # (cost, amount), both rising: nothing cheaper frees as much
    for amount, cost in items:
        merged = sorted(frontier + [(c + cost, -min(needs[-1], -a + amount)) for c, a in frontier])
        frontier = []
        for c, a in merged:
            if not frontier or a < frontier[-1][1]:
                frontier.append((c, a))
    return [next(c for c, a in frontier if -a >= need) for need in needs]


def could_ever_fit(problem: Problem, spots: list[list[Spot]]) -> bool:
    """True if evicting all units would give each group enough room and cover both deficits (the prefilter of P7)."""
    for group, group_spots in zip(problem.groups, spots, strict=True):
        if sum(len(spot.prices) for spot in group_spots) < group.replicas:
            return False
    own, above = sum(unit.frees_own for unit in problem.units), sum(unit.frees_all for unit in problem.units)
    return own >= problem.deficit_own and above >= problem.deficit_all


def spots_under(cost: int, replicas: int, spots: list[Spot]) -> int:
    """How many of the spots, which are sorted by price, could be part of a set cheaper than `cost`."""
    others = sorted(price for spot in spots for price in spot.prices)[: max(0, replicas - 1)]
    return bisect_left(spots, cost - sum(others), key=lambda spot: spot.prices[0])
