"""Whom to take where a root draws on several pools and its part of one that it shares is used up (Q1)?

The indexes know devices, not parts: they offer free devices that the root may not take, and nobody on the node they stand on
need leave for them, but somebody of the own tree elsewhere in the pool. So each pool is looked at alone, with its part
freed first; what was found is proved on the real state, and whoever the proof does not need is put back (P8).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from quotatree.core.model.resources import ZERO
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search.eligible import Protections
from quotatree.core.search.one_node import taken as taken_together
from quotatree.core.search.one_node import with_companions, without_implied
from quotatree.core.search.placement import PoolRooms, find_places
from quotatree.core.search.victims import Found, Request, left_after, search

Proved = Callable[[Found], bool]


def best_in_pools(request: Request, found: Found | None, proved: Proved) -> Found | None:
    """The best of: what was found anywhere, what is found where parts are left, and in each pool alone."""
    state, root = request.state, request.root
    rooms = PoolRooms(state, root)
    closed = frozenset[int]().union(*(rooms.closed(shape) for _, shape in request.wanted))
    offers = [found]
    if closed:
        offers.append(search(replace(request, avoid=request.avoid | closed)))
    for pool, _ in root.spec.draws:
        outside = frozenset(n.index for n in state.nodes if n.spec.pool != pool)
        inside = replace(request, avoid=request.avoid | outside)
        short = sum(shape.gpu_milli for _, shape in request.wanted) - rooms.left(pool)
        offers.append(search(inside) if short <= 0 else _opened(inside, pool, short))
    lawful = [offer for offer in offers if offer is not None and proved(offer)]
    good = [_put_back(request, offer, proved) for offer in lawful]
    return min(good, key=lambda f: (f.highest, f.cost, len(f.units), [u.name for u in f.units]), default=None)


def _opened(request: Request, pool: str, short: int) -> Found | None:
    """Free the own tree's part of a pool, cheapest first, then what else is missing there."""
    state = request.state
    chosen: list[Unit] = []
    for unit in _standing_in(request, pool):
        if short <= 0:
            break
        if unit not in chosen:
            chosen.append(unit)
            short -= _part(request, unit, pool)
    several_shapes = len({shape for _, shape in request.wanted}) > 1
    if short > 0 or (several_shapes and any(unit.job.composite for unit in chosen)):
        return None  # not looked for: a core that is taken for one shape would take along what is lifted here
    lifted = with_companions(chosen)
    for unit in lifted:
        state.lift(unit)
    left = left_after(request, chosen)
    fits = find_places(state, request.root, request.wanted, now=False, avoid=request.avoid) is not None
    more: tuple[Unit, ...] | None = ()
    if not fits or left != ZERO:
        rest = search(replace(request, deficit=left, nodes_fit=fits, demote_room=-1))
        more = None if rest is None else rest.units
    for unit in lifted:
        state.lower(unit)
    if more is None:
        return None
    return _together(request, list(dict.fromkeys([*chosen, *more])))


def _standing_in(request: Request, pool: str) -> list[Unit]:
    """Units of the own tree that may be taken and stand in a pool, lowest on the ladder first, then cheapest."""
    found: list[tuple[int, int, tuple[str, int], Unit]] = []
    for cls, entitled in request.signature.classes_among(request.state.classes_below(request.root)):
        for bucket in cls.buckets.values():
            for *_, unit in bucket:
                protected = entitled.honours_min_runtime and unit.protected_until_ms > request.now_ms
                if not protected and _part(request, unit, pool):
                    found.append((entitled.ladder, eviction_cost(unit, request.now_ms), unit.name, unit))
    return [entry[3] for entry in sorted(found, key=lambda entry: entry[:3])]


def _part(request: Request, unit: Unit, pool: str) -> int:
    nodes = request.state.nodes
    return sum(p.shape.gpu_milli for p in unit.places if nodes[p.node].spec.pool == pool)


def _together(request: Request, units: list[Unit]) -> Found | None:
    """These units as an offer, if they may be taken together."""
    now_ms, signature = request.now_ms, request.signature
    made = taken_together(units, sum(eviction_cost(u, now_ms) for u in units))
    kept = without_implied(made, now_ms)
    protections = Protections(signature)
    if protections.bind() and not protections.allow(with_companions(list(kept.units))):
        return None
    ladders = [entitled.ladder for u in kept.units if (entitled := signature.entitled(u.cls)) is not None]
    return Found(kept.units, kept.cost, max(ladders, default=0), kept.cost, frozenset())


def _put_back(request: Request, found: Found, proved: Proved) -> Found:
    """P8: dearest first, whoever the proof does not need stays."""
    if found.demoted or len(found.units) <= 1:
        return found
    for unit in sorted(found.units, key=lambda u: (-eviction_cost(u, request.now_ms), u.started_ms, u.name)):
        fewer = _together(request, [u for u in found.units if u is not unit])
        if fewer is not None and proved(fewer):
            found = replace(fewer, cost_without_ladder=min(fewer.cost, found.cost_without_ladder))
    return found
