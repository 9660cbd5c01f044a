"""Three ways that the ladder alone does not know, which may be cheaper or the only ones.

- Turning idle (I1, I3): the units that a preemptor may take free its quota and run on idle; idle borrowers, which give way anyway, free
  its place. Without this, a quota full of old work and with new work running idle beside it would stop the old for want of quota.
- Surplus above (P12): two quotas on the path are short, the upper one by more, and surplus stands between them. A search knows one amount of
  quota to be freed, that of the quota which lacks most, and counts who stands below the lowest one that is short. Surplus beside that one
  frees nothing there, but it frees the quotas above: then less must be freed below.
- Several pools (Q1): a root draws on several pools and its part of one that it shares is used up. The indexes know devices, not parts: they
  offer free devices that the root may not use until units of its own tree leave the pool, on whichever node. So each pool is searched
  alone, with the root's part of it freed first; what was found is proved, and each victim is dropped, dearest first, without which the
  proof still holds (P8).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from quotatree.core.model.job import Idle
from quotatree.core.model.quota_arithmetic import deficit, deficit_at, idle_room
from quotatree.core.model.resources import GPU
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost
from quotatree.core.reasons import Code
from quotatree.core.search.ladder import Found, cheapest_on_ladder, climb, highest_rung
from quotatree.core.search.node_offer import LADDER, TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import find_places
from quotatree.core.search.proof import Proof, proved
from quotatree.core.search.quota_cover import cheapest_cover, demoted_together
from quotatree.core.search.tentative import PoolRooms
from quotatree.core.search.trial import (
    Proposal,
    Request,
    Trial,
    left_after,
    let_stay,
    propose,
    with_companions,
    without_implied,
)

# -- turning idle ------------------------------------------------------------------------------------------------


def cheaper_by_turning_idle(request: Request, overlay: Overlay, found: Found | None) -> Found | None:
    """Return victims that are turned idle or borrow idle, if they cost less and stand no higher than `found`; else `found`."""
    idle = request.gives_way
    if (
        idle is None
        or request.nodes_fit
        or not request.short_of_quota
        or not overlay.idle_units(request.quota.tree)
    ):
        return found
    turned = _turned(request, overlay, found.highest if found is not None else min(TOP_RUNG, request.highest))
    if turned is None:
        return found
    places = cheapest_on_ladder(request.for_places_only(signature=idle), overlay)
    if places is None or (found is not None and places.cost >= found.cost):
        return found
    if not _keeps_to_idle_room(request, overlay, places):
        return found
    rung, demoted = turned
    least, higher = (places.cost, ()) if found is None else (min(places.cost, found.least), found.higher)
    return Found(
        demoted.units + places.units, places.cost, rung, least, higher, frozenset(demoted.units)
    )  # fmt: skip


def _turned(request: Request, overlay: Overlay, top: int) -> tuple[int, Proposal] | None:
    """Return the lowest rung up to `top` on which units that may all be turned idle free the quota, and those units."""
    turning = replace(request, demote_room=0)
    lowest = _lowest_rung_with_enough(request, top)
    if lowest is None:
        return None

    def ask(rung: int) -> Proposal | None:
        found = cheapest_cover(Trial(turning, rung, overlay))
        if found is None or any(unit.job.composite for unit in found.units):
            return None
        all_may = len(demoted_together(found.units, request.now_ms)) == len(found.units)
        return found if all_may else None

    return climb(range(lowest, top + 1), ask)


def _lowest_rung_with_enough(request: Request, top: int) -> int | None:
    """Return the lowest rung from 1 to `top` up to which all that may be turned idle would free the quota; None if there is none.

    Limits are left aside, so there may still be no set. Mostly nobody may be turned idle: then no set is sought.
    """
    freed = [[0] * LADDER for _ in range(3)]
    short = [i for i in range(3) if request.deficit[i] > 0 or request.inside[i] > 0]
    for entitled, unit in request.signature.units_in(request.state, request.now_ms):
        runs = unit.cls.kind in (UnitKind.CORE, UnitKind.WANTED)
        if runs and entitled.frees_quota and unit.job.spec.idle is Idle.ALLOW and not unit.job.composite:
            for i in short:
                freed[i][entitled.rung] += unit.footprint[i]
    totals = [(list(accumulate(freed[i])), max(request.deficit[i], request.inside[i])) for i in short]
    enough = (rung for rung in range(1, top + 1) if all(total[rung] >= need for total, need in totals))
    return next(enough, None)


def _keeps_to_idle_room(request: Request, overlay: Overlay, places: Found) -> bool:
    """Return whether the idle room holds all that is wanted once these units have gone (I2).

    Turning work idle moves its share from used to idle and leaves the idle room the same.
    """
    without = overlay.fork()
    for unit in with_companions(list(places.units)):
        without.take(unit)
    room = idle_room(request.quota, request.root.min[GPU] or 0, GPU, without)
    return room >= sum(shape.gpu_milli for _, shape in request.wanted)


# -- surplus above -----------------------------------------------------------------------------------------------


def better_with_surplus_above(request: Request, overlay: Overlay, found: Found | None) -> Found | None:
    """Return a set with surplus that frees only upper quotas if it is better than `found` (P5); else `found`."""
    beside = _surplus_beside(request)
    if not beside:
        return found
    without = overlay.fork()
    for unit in beside:
        without.take(unit)
    left = deficit(
        request.quota, request.amount, loan_allowed=request.loan_allowed or any(request.inside),
        past_guard=request.past_guard, usage=without,
    )  # fmt: skip
    if left == request.deficit:
        return found
    fits = request.nodes_fit or _fits(request, without)
    more = cheapest_on_ladder(replace(request, deficit=left, nodes_fit=fits, demote_room=-1), without)
    offer = None if more is None else _needed(request, overlay, [*beside, *more.units])
    if offer is None or found is None:
        return offer or found
    if _order(found) <= _order(offer):
        return found
    return replace(offer, least=min(offer.least, found.least), higher=found.higher)


def lacking_above(request: Request) -> list[int]:
    """Return how much more of each resource the quotas above lack than the lowest one that is short; 0 where no surplus stands."""
    if not request.quota.tree.surplus_units or not any(request.deficit):
        return [0, 0, 0]
    lowest = deficit_at(
        request.signature.short_at, request.quota, request.amount, past_guard=request.past_guard
    )
    return [most - here for most, here in zip(request.deficit, lowest, strict=True)]


def _surplus_beside(request: Request) -> list[Unit]:
    """Return surplus that is not below the lowest quota that is short: the cheapest, as much as those above it lack more.

    Empty where none of them lacks more.
    """
    more = lacking_above(request)
    if not any(more):
        return []
    signature, now_ms = request.signature, request.now_ms
    units = [
        unit
        for entitled, unit in signature.units_in(request.state, now_ms)
        if entitled.rule is Code.SurplusGivesWay and not entitled.frees_quota
    ]
    found: list[Unit] = []
    for unit in sorted(units, key=lambda u: (eviction_cost(u, now_ms), -u.started_ms, u.name)):
        if any(more[i] > 0 and unit.footprint[i] for i in range(3)):
            found.append(unit)
            more = [lacking - freed for lacking, freed in zip(more, unit.footprint, strict=True)]
    return found


def _fits(request: Request, without: Overlay) -> bool:
    wanted, avoid = request.wanted, request.avoid
    return (
        find_places(request.state, request.root, wanted, now=False, avoid=avoid, overlay=without) is not None
    )


def _needed(request: Request, overlay: Overlay, units: list[Unit]) -> Found | None:
    """Return these units without those that are not needed, dearest first (P8); None if they may not go or are not enough."""
    proof = Proof(request, TOP_RUNG, overlay)
    proof.take_all(units)
    if not proof.enough():
        return None
    proof.minimise()
    return _as_found(request, proof.proposal())


def _as_found(request: Request, kept: Proposal) -> Found:
    return Found(kept.units, kept.cost, highest_rung(request, kept.units), kept.cost)


def _order(found: Found) -> tuple[int, int, int]:
    return found.highest, found.cost, len(found.units)


# -- several pools -----------------------------------------------------------------------------------------------


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
    more: tuple[Unit, ...] = ()
    rest = replace(request, deficit=left, inside=inside, nodes_fit=_fits(request, without), demote_room=-1)
    if not rest.nodes_fit or rest.short_of_quota:
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
    return _as_found(request, kept)


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
