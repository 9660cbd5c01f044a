"""What one node offers to a preemptor: how far evictions reach there, and the raw material for a bound on their cost.

An offer is worked out from the node's units once per change. Its rows say (rung of the ladder, GPUs, cost at time 0, slope,
end of growth), so that a lower bound for any rung and any later time (node_bound.py) needs no look at the units:

    cost(now) = cost at time 0 + slope * min(now, end of growth)

Where every unit frees one GPU and its cost grows without end, as on most nodes, three columns say the same: `Singles`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from quotatree.core.model.effort import NODES_KEPT
from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, slots_in
from quotatree.core.model.policy import HIGHEST_PRIORITY
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, companions
from quotatree.core.search.eligible import Signature

LADDER: Final = HIGHEST_PRIORITY + 1
"""Rungs of the ladder (P5): 0 for idle and surplus, then priorities 1..9."""
TOP_RUNG: Final = LADDER - 1
NO_REACH: Final = (0,) * LADDER

Row = tuple[int, int, int, int, int | None]  # rung, GPUs, cost at time 0, slope, end of growth
Tie = tuple[int, tuple[str, int]]
"""(minus the newest start, the first name) of all units on offer: smallest tie-break key a victim here can have (P5)."""
NO_TIE: Final[Tie] = (0, ("", 0))
LAST_NAME: Final = ("\U0010ffff", 0)


Most = tuple[int, int, int]
"""Entire devices, milli-CPU and MiB that would be free on a node without all units on offer there."""


class Singles(NamedTuple):
    """Units that free one GPU each, by rung; what each costs grows without end."""

    rungs: tuple[int, ...]
    slopes: tuple[int, ...]
    costs: tuple[int, ...]  # at `from_ms`
    from_ms: int
    rising: bool  # no slope is below the first one


NO_SINGLES: Final = Singles((), (), (), 0, True)


class Offer(NamedTuple):
    """What one node offers. `reach[p]`: replicas that fit once all eligible units up to rung p have left."""

    need: int  # GPUs that must become free for one more replica
    rows: list[Row] | Singles
    reach: tuple[int, ...]
    expires_ms: int | None  # when the clock alone makes this offer wrong
    tie: Tie = NO_TIE


NO_OFFER: Final = Offer(0, [], NO_REACH, None)


class Material(NamedTuple):
    """The part of a node's offer that does not depend on how many whole GPUs are wanted; indexes of all sizes share it."""

    rows: list[Row] | Singles
    whole_free: tuple[int, ...]  # entire devices that are free once all units up to each rung have left
    expires_ms: int | None
    tie: Tie
    most: Most


class OfRung(NamedTuple):
    """What all units of one rung have on a node; `opened`: milli-GPU by shared device."""

    whole: int
    cpu_milli: int
    memory_mib: int
    opened: dict[int, int]


class InFull(NamedTuple):
    """The part of a node's offer that does not depend on the shape, where CPU, memory or parts of devices are wanted."""

    rows: list[Row]
    by_rung: dict[int, OfRung]
    expires_ms: int | None
    tie: Tie


class Materials:
    """The material of every node for one signature, computed anew when the node has changed or it has expired."""

    __slots__ = ("_by_share", "_in_full", "_known", "_signature", "_widest")

    def __init__(self, signature: Signature, by_share: bool) -> None:
        self._signature, self._by_share = signature, by_share
        self._known: dict[int, tuple[int, Material]] = {}
        self._in_full: dict[int, tuple[int, InFull]] = {}
        self._widest: Widest | None = None

    def of(self, node: Node, now_ms: int) -> Material:
        known = self._known.get(node.index)
        if known is not None and known[0] == node.stamp:
            expires = known[1].expires_ms
            if expires is None or expires > now_ms:
                return known[1]
        made = _material(node, self._signature, now_ms, self._by_share)
        self._known[node.index] = (node.stamp, made)
        return made

    def in_full(self, node: Node, now_ms: int) -> InFull:
        known = self._in_full.get(node.index)
        if known is not None and known[0] == node.stamp:
            expires = known[1].expires_ms
            if expires is None or expires > now_ms:
                return known[1]
        made = _in_full(node, self._signature, now_ms, self._by_share)
        self._in_full[node.index] = (node.stamp, made)
        return made

    def widest(self, nodes: list[Node], seen: object, now_ms: int) -> Widest:
        """Return how much evictions could free at most on any of these nodes.

        `seen` stands for all that has happened to the nodes: while it is equal, only the clock can change the answer.
        """
        known = self._widest
        if known is not None and known.holds(seen, now_ms):
            return known
        expires: int | None = None
        most: list[Most] = [(0, 0, 0)]
        for node in nodes:
            material = self.of(node, now_ms)
            expires = _sooner(expires, material.expires_ms)
            whole = material.most[0]
            most += [(0, 0, 0)] * (whole + 1 - len(most))
            most[whole] = _each_larger(most[whole], material.most)
        for whole in reversed(range(len(most) - 1)):
            most[whole] = _each_larger(most[whole], most[whole + 1])
        self._widest = found = Widest(most, seen, now_ms, expires)
        return found


class Widest(NamedTuple):
    """By entire devices free, the most of everything that evictions could free on any node with at least that many."""

    most: list[Most]
    seen: object
    from_ms: int
    expires_ms: int | None  # when the clock alone may make more possible

    def holds(self, seen: object, now_ms: int) -> bool:
        in_time = self.from_ms <= now_ms and (self.expires_ms is None or now_ms < self.expires_ms)
        return in_time and self.seen == seen

    def excludes(self, shape: Shape) -> bool:
        """Return whether it is certain that no evictions on any of the nodes make room for one replica."""
        whole = shape.whole_gpus
        if whole >= len(self.most):
            return True
        _, cpu_milli, memory_mib = self.most[whole]
        return shape.cpu_milli > cpu_milli or shape.memory_mib > memory_mib


def _each_larger(a: Most, b: Most) -> Most:
    return max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2])


def offer_of(
    node: Node, shape: Shape, signature: Signature, now_ms: int, by_share: bool, materials: Materials | None
) -> Offer:
    """Return what a node that suits the shape offers.

    `by_share`: for gangs; a unit that spans nodes is charged here by the part of it on this node, and free devices that
    already make a slot do not help the next one. Without `materials` nothing is remembered.
    """
    wanted = shape[0] // WHOLE_GPU
    if not wanted or shape[1] or shape[2]:
        if materials is not None:
            known = materials.of(node, now_ms)
            whole, cpu_milli, memory_mib = known.most
            if wanted > whole or shape[1] > cpu_milli or shape[2] > memory_mib:
                return Offer(1, [], NO_REACH, known.expires_ms, known.tie)
            return _offer_in_full(node, shape, by_share, materials.in_full(node, now_ms))
        return _offer_in_full(node, shape, by_share, _in_full(node, signature, now_ms, by_share))
    if materials is None:
        rows, whole_free, expires, tie, _ = _material(node, signature, now_ms, by_share)
    else:
        rows, whole_free, expires, tie, _ = materials.of(node, now_ms)
    free = node.whole_free
    need = wanted - (free % wanted if by_share else free)
    return Offer(need, rows, _reach(whole_free, wanted), expires, tie)


@lru_cache(maxsize=NODES_KEPT)
def _reach(whole_free: tuple[int, ...], wanted: int) -> tuple[int, ...]:
    """Return by rung how many replicas of `wanted` entire devices fit on as many as are free up to it."""
    return whole_free if wanted == 1 else tuple([free // wanted for free in whole_free])


def _material(node: Node, signature: Signature, now_ms: int, by_share: bool) -> Material:
    expires: int | None = None
    singles: list[tuple[int, int, int]] = []  # rung, slope, cost now
    rows: list[Row] = []
    freed = [0] * LADDER
    devices: dict[int, list[int]] = {}  # shared device -> milli freed, rung, cost at time 0, slope
    entitled_of = signature.entitled
    newest, first = 0, LAST_NAME
    cpu, memory = node.free_cpu, node.free_memory
    for unit, gpus, fractions, cpu_milli, memory_mib in node.units.values():
        entitled = entitled_of(unit.cls)
        if entitled is None:
            continue
        if entitled.honours_min_runtime and unit.protected_until_ms > now_ms:
            expires = _sooner(expires, unit.protected_until_ms)
            continue
        if unit.started_ms > newest:
            newest = unit.started_ms
        if unit.name < first:
            first = unit.name
        rung = entitled.rung
        freed[rung] += gpus
        cpu += cpu_milli
        memory += memory_mib
        slope, job = unit.slope, unit.job
        if (
            unit.interval_ms is None
            and unit.cap_ms is None
            and len(unit.nodes) == 1
            and not job.extras
            and job.hold is None
        ):
            if gpus == 1 and not fractions:
                cost = unit.base + slope * (now_ms - unit.anchor_ms) if slope else unit.base
                singles.append((rung, slope, cost))
                continue
            row: Row = (rung, gpus, unit.base - slope * unit.anchor_ms if slope else unit.base, slope, None)
        else:
            row, due = _row(node, unit, rung, gpus, now_ms, by_share)
            expires = _sooner(expires, due)
        if fractions:
            row = _part(row, len(fractions) + (1 if gpus else 0))
            for device, milli in fractions:
                _share_device(devices, device, milli, row)
        if gpus:
            rows.append(row)
    for device, (milli, rung, at_zero, slope) in devices.items():
        if node.free[device] + milli == WHOLE_GPU:
            rows.append((rung, 1, at_zero, slope, None))
            freed[rung] += 1
    freed[0] += node.whole_free
    whole_free = tuple(accumulate(freed))
    if rows:
        rows += [(rung, 1, cost - slope * now_ms, slope, None) for rung, slope, cost in singles]
    return Material(
        rows or columns(singles, now_ms), whole_free, expires, (-newest, first), (whole_free[-1], cpu, memory)
    )


def columns(singles: list[tuple[int, int, int]], now_ms: int) -> Singles:
    """Return units that free one GPU each, given as (rung, slope, cost now)."""
    if not singles:
        return NO_SINGLES
    singles.sort()
    rungs, slopes, costs = zip(*singles, strict=True)
    return Singles(rungs, slopes, costs, now_ms, slopes[0] == min(slopes))


def _share_device(devices: dict[int, list[int]], device: int, milli: int, row: Row) -> None:
    """Add one sharer to a shared device, which is free only without all its sharers.

    The cost of a sharer whose growth ends is left out, so the device's cost is a lower bound.
    """
    rung, _, at_zero, slope, end = row
    known = devices.get(device)
    if known is None:
        known = devices[device] = [0, 0, 0, 0]
    known[0] += milli
    if rung > known[1]:
        known[1] = rung
    if end is None:
        known[2] += at_zero
        known[3] += slope


def _sooner(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _row(node: Node, unit: Unit, rung: int, gpus: int, now_ms: int, by_share: bool) -> tuple[Row, int | None]:
    """Return the row of one unit, and when its next declared checkpoint makes it cheaper (None: it declares none).

    The cost of surplus that goes along is left out, so the row is a lower bound.
    """
    slope, due, end = unit.slope, None, None
    at_zero = unit.base - slope * unit.anchor_ms if slope else unit.base
    if unit.interval_ms is not None:
        age = unit.age_ms(now_ms)
        due = now_ms + unit.interval_ms - age
        at_zero, slope = unit.base + unit.slope * age, 0
    elif unit.cap_ms is not None:
        end = unit.anchor_ms + unit.cap_ms
    gpus += sum(node.units[piece].whole for piece in companions(unit) if piece in node.units)
    if by_share and len(unit.nodes) > 1 and gpus:
        whole_unit = max(gpus, unit.footprint[0] // WHOLE_GPU)
        at_zero, slope = at_zero * gpus // whole_unit, slope * gpus // whole_unit
    return (rung, gpus, at_zero, slope, end), due


def _offer_in_full(node: Node, shape: Shape, by_share: bool, known: InFull) -> Offer:
    """Return the offer where CPU or memory count, or a fraction or no GPU is wanted.

    If a replica does not fit, at least one unit must go; the exact search finds which, so the bound is the cheapest unit.
    """
    need = 0 if node.slots(shape, False) and not by_share else 1
    if shape.whole_gpus and not node.shared:
        short = shape.whole_gpus - (node.whole_free % shape.whole_gpus if by_share else node.whole_free)
        need = max(need, short)
    return Offer(need, known.rows, _reach_in_full(node, shape, known.by_rung), known.expires_ms, known.tie)


def _in_full(node: Node, signature: Signature, now_ms: int, by_share: bool) -> InFull:
    expires: int | None = None
    rows: list[Row] = []
    by_rung: dict[int, OfRung] = {}
    newest, first = 0, LAST_NAME
    for unit, share in node.units.items():
        entitled = signature.entitled(unit.cls)
        if entitled is None:
            continue
        if entitled.honours_min_runtime and unit.protected_until_ms > now_ms:
            expires = _sooner(expires, unit.protected_until_ms)
            continue
        whole, cpu, memory, opened = by_rung.get(entitled.rung) or (0, 0, 0, {})
        for device, milli in share.fractions:
            opened[device] = opened.get(device, 0) + milli
        by_rung[entitled.rung] = OfRung(
            whole + share.whole, cpu + share.cpu_milli, memory + share.memory_mib, opened
        )
        row, due = _row(node, unit, entitled.rung, share.whole, now_ms, by_share)
        expires = _sooner(expires, due)
        rows.append((row[0], max(1, row[1]), row[2], row[3], row[4]))
        newest, first = max(newest, unit.started_ms), min(first, unit.name)
    return InFull(rows, by_rung, expires, (-newest, first))


def _part(row: Row, pieces: int) -> Row:
    rung, gpus, at_zero, slope, end = row
    return (rung, gpus, at_zero // pieces, slope // pieces, end)


def _reach_in_full(node: Node, shape: Shape, by_rung: dict[int, OfRung]) -> tuple[int, ...]:
    free = list(node.free)
    gone_whole = 0
    free_cpu, free_memory = node.free_cpu, node.free_memory
    reach: list[int] = []
    for p in range(LADDER):
        gone = by_rung.get(p)
        if gone is not None:
            gone_whole += gone.whole
            free_cpu += gone.cpu_milli
            free_memory += gone.memory_mib
            for device, milli in gone.opened.items():
                free[device] += milli
        elif p:
            reach.append(reach[-1])
            continue
        whole = free.count(WHOLE_GPU) + gone_whole
        reach.append(slots_in(shape, whole, gone_whole, free, free_cpu, free_memory))
    return tuple(reach) if reach[-1] else NO_REACH
