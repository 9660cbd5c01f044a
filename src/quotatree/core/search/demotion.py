"""May work be turned idle for a preemptor that also needs a place? The units that it may take free its quota and run on
idle; idle borrowers, which give way anyway, free its place (I1, I3).

Without this, a quota full of old work and with new work running idle beside it would stop the old for want of quota.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from quotatree.core.model.job import Idle
from quotatree.core.model.quota_arithmetic import idle_room
from quotatree.core.model.resources import GPU
from quotatree.core.model.unit import UnitKind
from quotatree.core.search.ladder import Found, cheapest_on_ladder, climb
from quotatree.core.search.node_offer import LADDER, TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.quota_cover import cheapest_cover, demoted_together
from quotatree.core.search.trial import Proposal, Request, Trial, with_companions


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
