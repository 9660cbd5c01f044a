"""Whom to take where a root draws on several pools and its part of one that it shares is used up (Q1)?

The indexes know devices, not parts: they offer free devices that the root may not use until units of its own tree leave
the pool, on whichever node. So each pool is searched alone, with the root's part of it freed first; what was found is
proved, and each victim is dropped, dearest first, without which the proof still holds (P8).
"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search.ladder import Found, cheapest_on_ladder, highest_rung
from quotatree.core.search.node_offer import TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import find_places
from quotatree.core.search.proof import Proof, proved
from quotatree.core.search.tentative import PoolRooms
from quotatree.core.search.trial import (
    Request,
    Trial,
    left_after,
    let_stay,
    propose,
    with_companions,
    without_implied,
)


def best_in_pools(request: Request, overlay: Overlay, found: Found | None) -> Found | None:
    """Return the best set of: `found`, the set outside pools whose part is used up, and the set in each pool alone.

    Only sets that are proved count; None if there is none.
    """
    state, root = request.state, request.root
    rooms = PoolRooms(overlay, root)
    closed = frozenset[int]().union(*(rooms.closed(shape) for _, shape in request.wanted))
    offers = [found]
    if closed:
        offers.append(cheapest_on_ladder(replace(request, avoid=request.avoid | closed), overlay))
    for pool, _ in root.spec.draws:
        outside = frozenset(n.index for n in state.nodes if n.spec.pool != pool)
        inside = replace(request, avoid=request.avoid | outside)
        short = sum(shape.gpu_milli for _, shape in request.wanted) - rooms.left(pool)
        offers.append(
            cheapest_on_ladder(inside, overlay) if short <= 0 else _opened(inside, overlay, pool, short)
        )
    good = [_minimal(request, overlay, o) for o in offers if o is not None and proved(request, overlay, o)]
    return min(good, key=lambda f: (f.highest, f.cost, len(f.units), [u.name for u in f.units]), default=None)


def _opened(request: Request, overlay: Overlay, pool: str, short: int) -> Found | None:
    """Return a set that frees `short` milli-GPU of the root's part of a pool and what else is missing there, or None.

    For the part, units lowest on the ladder are taken first, then the cheapest; what a later one makes superfluous stays.
    """
    chosen: list[Unit] = []
    for unit in _standing_in(request, pool):
        if short <= 0:
            break
        chosen.append(unit)
        short -= _part(request, unit, pool)

    def spare(unit: Unit) -> bool:
        nonlocal short
        part = _part(request, unit, pool)
        if short + part > 0:
            return False
        short += part
        chosen.remove(unit)
        return True

    let_stay(list(chosen), lambda unit: eviction_cost(unit, request.now_ms), spare)
    several_shapes = len({shape for _, shape in request.wanted}) > 1
    if short > 0 or (several_shapes and any(unit.job.composite for unit in chosen)):
        return None  # several shapes with cores are not searched: a core would take surplus along that is gone already
    without = overlay.fork()
    for unit in with_companions(chosen):
        without.take(unit)
    left, inside = left_after(request, chosen)
    places = find_places(
        request.state, request.root, request.wanted, now=False, avoid=request.avoid, overlay=without
    )
    more: tuple[Unit, ...] = ()
    rest = replace(request, deficit=left, inside=inside, nodes_fit=places is not None, demote_room=-1)
    if places is None or rest.short_of_quota:
        found = cheapest_on_ladder(rest, without)
        if found is None:
            return None
        more = found.units
    return _together(request, overlay, list(dict.fromkeys([*chosen, *more])))


def _standing_in(request: Request, pool: str) -> list[Unit]:
    """Return the units of the root's tree in a pool that may be taken, lowest on the ladder first, then cheapest."""
    now_ms = request.now_ms
    found = [
        (entitled.rung, eviction_cost(unit, now_ms), unit.name, unit)
        for entitled, unit in request.signature.units_in(request.state, now_ms)
        if _part(request, unit, pool)
    ]
    return [entry[3] for entry in sorted(found, key=lambda entry: entry[:3])]


def _part(request: Request, unit: Unit, pool: str) -> int:
    """Return how much of a unit stands in a pool, in milli-GPU."""
    nodes = request.state.nodes
    return sum(p.shape.gpu_milli for p in unit.places if nodes[p.node].spec.pool == pool)


def _together(request: Request, overlay: Overlay, units: list[Unit]) -> Found | None:
    """Return these units as a found set; None if they may not be taken together."""
    now_ms = request.now_ms
    kept = without_implied(propose(units, sum(eviction_cost(u, now_ms) for u in units)), now_ms)
    if not Trial(request, TOP_RUNG, overlay).lawful(kept.units):
        return None
    return Found(kept.units, kept.cost, highest_rung(request, kept.units), kept.cost)


def _minimal(request: Request, overlay: Overlay, found: Found) -> Found:
    """Drop each victim, dearest first, without which the set still passes the proof (P8)."""
    if found.demoted or len(found.units) <= 1:
        return found
    proof = Proof(request, TOP_RUNG, overlay)
    proof.take_all(found.units)
    proof.minimise()
    if len(proof.taken) == len(found.units):
        return found
    fewer = proof.proposal()
    highest = highest_rung(request, fewer.units)
    return replace(
        found, units=fewer.units, cost=fewer.cost, highest=highest,
        least=min(fewer.cost, found.least),
    )  # fmt: skip
