"""Which of a quota's jobs stand on idle capacity when a regular job takes some of it back (I3)? Those that lose least.

Jobs of one quota, priority, module and size that allow idle have the same rights, and which of them runs idle is an accident of the
order in which they started. So a regular one may stand in for a borrower: it goes, and the borrower becomes regular; the
quota uses and borrows as much as if the borrower had gone. The search sees stand-ins as idle work, on an overlay (ADR 0062).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from quotatree.core.model.effort import ONE_BY_ONE, STAND_INS
from quotatree.core.model.job import Claim, Idle
from quotatree.core.model.resources import WHOLE_GPU, Resources
from quotatree.core.model.unit import Unit, UnitClass, UnitKind
from quotatree.core.search.ladder import Exchange, Found, cheapest_on_ladder
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import bounded_by_pools, grouped
from quotatree.core.search.trial import Request
from quotatree.core.state import State

Bucket = list[tuple[int, int, tuple[str, int], Unit]]


class _Kind(NamedTuple):
    """Borrowers that are alike: of one class and size."""

    cls: UnitClass
    size: Resources


def cheaper_by_standing_in(request: Request, found: Found | None) -> Found | None:
    """Return victims of which some stand in for borrowers, if they cost less than `found`; else `found`."""
    if not _may_stand_in(request):
        return found
    overlay = Overlay(request.state)
    regular: dict[Unit, tuple[Unit, _Kind]] = {}  # by what the search sees of it
    for unit, kind in _cheapest(request):
        as_idle = _as_idle(request.state, unit, kind.cls)
        overlay.take(unit)
        overlay.give_back(as_idle)
        regular[as_idle] = unit, kind
    if not regular:
        return found
    request.effort.spend(len(regular))
    other = cheapest_on_ladder(request, overlay)
    if other is None or (found is not None and other.cost >= found.cost):
        return found
    if any(unit.job.composite for unit in other.units):
        return found
    exchanges = _exchanged(other, regular, request.now_ms)
    if exchanges is None:
        return found
    least = other.cost if found is None else min(found.least, other.cost)
    return replace(other, least=least, exchanges=exchanges)


def could_stand_in(state: State, unit: Unit, now_ms: int) -> bool:
    """Return whether a regular unit could go in place of a borrower of its quota, as things stand (X4)."""
    return _may_go(unit, now_ms) and any(
        unit.footprint in _borrowers(cls)
        for cls in state.classes_giving_way(unit.cls.quota.root)
        if cls.quota is unit.cls.quota and cls.bit == unit.cls.bit
    )


def _may_stand_in(request: Request) -> bool:
    """Return whether places of one shape are wanted of idle work alone, where no set needs a proof (proof.py)."""
    tree = request.quota.tree
    return (
        bool(tree.idle_units)
        and not tree.surplus_units
        and not tree.shares_reserved
        and not request.signature.clauses
        and len(grouped(request.wanted)) == 1
        and not request.nodes_fit
        and not bounded_by_pools(request.root)
    )


def _cheapest(request: Request) -> list[tuple[Unit, _Kind]]:
    """Return the stand-ins that one search looks at, the cheapest of a GPU first."""
    now_ms = request.now_ms
    found: list[tuple[Unit, _Kind]] = []
    for cls, _ in request.signature.classes_in(request.state):
        for size, count in _borrowers(cls).items():
            kind = _Kind(cls, size)
            found += [(unit, kind) for unit in _alike(request.state, kind, now_ms)[:count]]
    found.sort(
        key=lambda one: (one[0].lost_work(now_ms) * WHOLE_GPU // (one[1].size.gpu_milli or 1), one[0].name)
    )
    return found[:ONE_BY_ONE]


def _borrowers(cls: UnitClass) -> dict[Resources, int]:
    """Return the sizes of the borrowers of a class that may become regular, and how many of each, at most STAND_INS of a bucket."""
    found: dict[Resources, int] = {}
    if cls.claim is Claim.IDLE and cls.kind is UnitKind.CORE:
        for bucket in cls.buckets.values():
            for *_, unit in islice(bucket, STAND_INS):
                if _allows(unit):
                    found[unit.footprint] = found.get(unit.footprint, 0) + 1
    return found


def _alike(state: State, kind: _Kind, now_ms: int) -> list[Unit]:
    """Return the cheapest regular units that differ from these borrowers only by their claim, cheapest first."""
    cls, size = kind
    found: list[Unit] = []
    for other in state.classes_at(cls.quota):
        if other.kind is UnitKind.CORE and other.claim is Claim.REGULAR and other.bit == cls.bit:
            for (gpu_milli, interval_ms), bucket in other.buckets.items():
                if gpu_milli == size.gpu_milli:
                    units = islice(_latest_saved_first(bucket, interval_ms, now_ms), ONE_BY_ONE)
                    may_go = (unit for unit in units if unit.footprint == size and _may_go(unit, now_ms))
                    found += islice(may_go, STAND_INS)
    found.sort(key=lambda unit: (unit.cost(now_ms), -unit.started_ms, unit.name))
    return found[:STAND_INS]


def _latest_saved_first(bucket: Bucket, interval_ms: int | None, now_ms: int) -> Iterator[Unit]:
    """Yield the units of a bucket, cheapest first; with declared checkpoints they are in a circle by phase."""
    if interval_ms is None:
        return (entry[3] for entry in bucket)
    start = bisect_right(bucket, now_ms % interval_ms, key=lambda entry: entry[0])
    return (bucket[start - 1 - i][3] for i in range(len(bucket)))


def _earliest_saved_first(bucket: Bucket, interval_ms: int | None, now_ms: int) -> Iterator[Unit]:
    if interval_ms is None:
        return (entry[3] for entry in reversed(bucket))
    start = bisect_right(bucket, now_ms % interval_ms, key=lambda entry: entry[0])
    return (bucket[(start + i) % len(bucket)][3] for i in range(len(bucket)))


def _allows(unit: Unit) -> bool:
    return unit.job.spec.idle is Idle.ALLOW and not unit.job.composite


def _may_go(unit: Unit, now_ms: int) -> bool:
    """Return whether a regular unit may go as idle work does; `min_runtime` keeps it from that (P11)."""
    return _allows(unit) and unit.protected_until_ms <= now_ms


def _as_idle(state: State, unit: Unit, cls: UnitClass) -> Unit:
    twin = Unit(unit.job, cls, unit.places, unit.started_ms)
    twin.price(state.settings.eas_outage_ms, unit.job.checkpoint_ms)
    return twin


def _exchanged(
    found: Found, regular: dict[Unit, tuple[Unit, _Kind]], now_ms: int
) -> tuple[Exchange, ...] | None:
    """Return for whom each stand-in among the victims goes: the borrowers that would lose most stay; None if too few are left."""
    gone = set(found.units)
    exchanges: list[Exchange] = []
    for unit in found.units:
        if unit in regular:
            one, kind = regular[unit]
            left = _dearest(kind, gone, now_ms)
            if not left:
                return None
            spared = max(left, key=lambda other: (other.cost(now_ms), other.name))
            gone.add(spared)
            exchanges.append(Exchange(unit, one, spared))
    return tuple(exchanges)


def _dearest(kind: _Kind, gone: set[Unit], now_ms: int) -> list[Unit]:
    """Return borrowers of this kind that stay so far, of each bucket the one that would lose most."""
    found: list[Unit] = []
    for (gpu_milli, interval_ms), bucket in kind.cls.buckets.items():
        if gpu_milli == kind.size.gpu_milli:
            units = _earliest_saved_first(bucket, interval_ms, now_ms)
            stay = (u for u in units if u.footprint == kind.size and u not in gone and _allows(u))
            found += islice(stay, 1)
    return found
