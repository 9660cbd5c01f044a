"""The cheapest units that free a given amount of quota, wherever they stand (ADR 0008).

Units of one class and size stand in buckets ordered cheapest first, so only a prefix of each bucket can matter: as many
as the amount needs. Over those, a knapsack cover is solved exactly when it is small, else greedily by cost per GPU with
the superfluous put back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from math import gcd
from typing import Final

from quotatree.core.model.job import Idle
from quotatree.core.model.resources import GPU, Resources
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost
from quotatree.core.search.eligible import Protections, Signature
from quotatree.core.search.one_node import NOTHING, Taken, taken, with_companions
from quotatree.core.state import State

EXACT_STEPS: Final = 60_000
"""Largest table (items x reachable amounts) that is solved exactly."""

SCALE: Final = 840 * 840
"""Ratios are compared as integers, in parts of this."""


def cheapest_cover(
    state: State, signature: Signature, highest: int, deficit: Resources, now_ms: int,
    protections: Protections | None, *, gone: Collection[Unit] = (), demote_room: int = -1,
) -> Taken | None:  # fmt: skip
    """Cheapest eligible units, none of `gone`, whose leaving frees `deficit`; None if there are not enough.

    `demote_room`: where only quota is short and the tree's idle work may grow (not below 0), a unit whose job allows
    idle costs nothing: it is turned idle. That moves its share from used to idle, so the room stays what it is (I1).
    """
    short = [i for i in range(3) if deficit[i] > 0]
    if not short:
        return NOTHING
    main = GPU if GPU in short else short[0]
    items = _prefixes(
        state,
        signature,
        highest,
        deficit=deficit,
        main=main,
        now_ms=now_ms,
        gone=frozenset(gone),
        demote_room=demote_room,
    )
    if len(short) == 1:
        found = _exact_if_lawful(items, main, deficit, protections)
        if found is None and protections is not None:  # who may not go alone may not go with others
            items = [item for item in items if protections.allow(with_companions([item[1]]))]
            found = _exact_if_lawful(items, main, deficit, protections)
        if found is not None:
            return found
    found = _greedy(items, deficit, protections, now_ms)
    return None if found is None else _without_companions_gain(found, items, deficit)


Item = tuple[int, Unit]  # cost, unit


def _exact_if_lawful(
    items: list[Item], main: int, deficit: Resources, protections: Protections | None
) -> Taken | None:
    """The cheapest of all is the cheapest lawful one if it is lawful."""
    found = _exact(items, main, deficit[main])
    if found is None:
        return None
    found = _without_companions_gain(found, items, deficit)
    if protections is None or protections.allow(with_companions(list(found.units))):
        return found
    return None


def _without_companions_gain(found: Taken, items: list[Item], deficit: Resources) -> Taken:
    """P8: a core takes its surplus along; whoever is not needed beside that stays, dearest first."""
    if not any(u.job.composite and u.cls.kind is UnitKind.CORE for u in found.units):
        return found
    costs = {unit: cost for cost, unit in items}
    kept = list(found.units)
    for unit in sorted(found.units, key=lambda u: (-costs[u], u.started_ms, u.name)):
        rest = [u for u in kept if u is not unit]
        gone = with_companions(rest)
        if all(sum(u.footprint[i] for u in gone) >= deficit[i] for i in range(3)):
            kept = rest
    return found if len(kept) == len(found.units) else taken(kept, sum(costs[u] for u in kept))


def _prefixes(
    state: State, signature: Signature, highest: int, deficit: Resources, main: int, now_ms: int,
    gone: Collection[Unit], demote_room: int,
) -> list[Item]:  # fmt: skip
    items: list[Item] = []
    for cls, entitled in signature.classes_among(state.classes_below(signature.quota.root)):
        if not cls.buckets or not entitled.frees_quota or entitled.ladder > highest:
            continue
        for (gpu_milli, interval_ms), bucket in sorted(cls.buckets.items(), key=_bucket_order):
            amount = gpu_milli if main == GPU else 0
            enough = -(-deficit[main] // amount) if amount else len(bucket)
            if protections_matter(signature) or sum(1 for d in deficit if d > 0) > 1:
                enough = len(bucket)
            start = 0
            if interval_ms is not None:
                start = bisect_right(bucket, now_ms % interval_ms, key=lambda entry: entry[0])
            count = 0
            for k in range(len(bucket)):
                unit = bucket[start - 1 - k][3] if interval_ms is not None else bucket[k][3]
                if unit in gone or (entitled.honours_min_runtime and unit.protected_until_ms > now_ms):
                    continue
                free = demote_room >= 0 and may_be_demoted(unit)
                items.append((0 if free else eviction_cost(unit, now_ms), unit))
                count += not free
                if count >= enough:
                    break
    return items


def may_be_demoted(unit: Unit, besides: int = 0) -> bool:
    """I1, I2: its job allows idle, is not about to grow, and its quota may borrow that much `besides`."""
    job = unit.job
    if unit.cls.kind is not UnitKind.CORE or job.spec.idle is not Idle.ALLOW or job.hold is not None:
        return False
    limit = job.quota.spec.idle_limit_milli
    return limit is None or job.quota.own_idle[GPU] + besides + _size(unit) <= limit


def demoted_together(units: Collection[Unit], now_ms: int) -> frozenset[Unit]:
    """Of these, those that may be turned idle at once: a limit (I2) is for all of a quota's, the dearest first."""
    borrowed: dict[str, int] = {}
    found = []
    for unit in sorted(units, key=lambda u: (-eviction_cost(u, now_ms), u.name)):
        quota = unit.job.quota.id
        if may_be_demoted(unit, borrowed.get(quota, 0)):
            borrowed[quota] = borrowed.get(quota, 0) + _size(unit)
            found.append(unit)
    return frozenset(found)


def _size(unit: Unit) -> int:
    return sum(u.footprint[GPU] for u in with_companions([unit]))


def _bucket_order(entry: tuple[tuple[int, int | None], object]) -> tuple[int, int]:
    (gpu_milli, interval_ms), _ = entry
    return (gpu_milli, interval_ms or 0)


def protections_matter(signature: Signature) -> bool:
    return signature.bounded or signature.quota.root.shares_reserved


def _exact(items: list[Item], resource: int, amount: int) -> Taken | None:
    """Knapsack cover over reachable sums; None when the table would be too large or the items too few."""
    sizes = [unit.footprint[resource] for _, unit in items]
    if sum(sizes) < amount:
        return None
    step = _common_divisor([*sizes, amount])
    if len(items) * (amount // step) > EXACT_STEPS:
        return None
    table: list[Taken | None] = [NOTHING] + [None] * (amount // step)
    order = sorted(range(len(items)), key=lambda k: (items[k][0], -items[k][1].started_ms, items[k][1].name))
    top = len(table) - 1
    for k in order:
        cost, unit = items[k]
        size = sizes[k] // step
        if not size:
            continue
        single: Taken | None = None
        for j in range(top, 0, -1):
            below = table[j - size] if j > size else NOTHING
            if below is None:
                continue
            here = table[j]
            total = below.cost + cost
            if here is not None and total >= here.cost and (total > here.cost or below.jobs + 1 >= here.jobs):
                continue
            single = single or taken([unit], cost)
            table[j] = _join(below, single)
    return table[top]


def _join(a: Taken, b: Taken) -> Taken:
    return Taken(a.cost + b.cost, a.jobs + b.jobs, a.age + b.age, a.names + b.names, a.units + b.units)


def _common_divisor(numbers: list[int]) -> int:
    return gcd(*numbers) or 1


def _greedy(
    items: list[Item], deficit: Resources, protections: Protections | None, now_ms: int
) -> Taken | None:
    """Cheapest per amount first until covered, then put back the dearest that are not needed."""
    short = [i for i in range(3) if deficit[i] > 0]

    def key(item: Item) -> tuple[int, int, int, tuple[str, int]]:
        cost, unit = item
        useful = sum(min(SCALE, unit.footprint[i] * SCALE // deficit[i]) for i in short)
        return (cost * SCALE // max(1, useful), cost, -unit.started_ms, unit.name)

    chosen: list[Item] = []
    left = list(deficit)
    for item in sorted(items, key=key):
        if all(left[i] <= 0 for i in short):
            break
        unit = item[1]
        if not any(left[i] > 0 and unit.footprint[i] for i in short):
            continue
        if protections is not None and not protections.allow(
            with_companions([u for _, u in chosen] + [unit])
        ):
            continue
        chosen.append(item)
        for i in short:
            left[i] -= unit.footprint[i]
    if any(left[i] > 0 for i in short):
        return None
    for item in sorted(chosen, key=lambda it: (-it[0], it[1].name)):
        unit = item[1]
        if all(left[i] + unit.footprint[i] <= 0 for i in short):
            chosen.remove(item)
            for i in short:
                left[i] += unit.footprint[i]
    return taken([unit for _, unit in chosen], sum(cost for cost, _ in chosen))
