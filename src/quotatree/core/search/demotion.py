"""May work be turned idle for a preemptor that also needs a place? Its quota from those it may take, which run on; its
place from idle borrowers, who give way anyway (I1, I3).

Without this, a quota full of old work and with new work running idle beside it would stop the old for want of quota.
"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core.model.quota import idle_room
from quotatree.core.model.resources import GPU, ZERO
from quotatree.core.search.eligible import Protections, Signature
from quotatree.core.search.node_offer import LADDER
from quotatree.core.search.one_node import Taken, with_companions
from quotatree.core.search.quota_cover import cheapest_cover, demoted_together
from quotatree.core.search.victims import Found, Request, search


def cheaper_by_turning_idle(request: Request, idle: Signature, found: Found | None) -> Found | None:
    """`found`, or what costs less without going higher up the ladder. `idle`: who gives way without a policy."""
    if request.nodes_fit or request.deficit == ZERO or not request.root.idle_units:
        return found
    highest, turned = _turned(request, found.highest if found is not None else LADDER - 1)
    if turned is None:
        return found
    places = search(replace(request, deficit=ZERO, signature=idle))
    if places is None or (found is not None and places.cost >= found.cost):
        return found
    if not _keeps_to_idle_room(request, places):
        return found
    without = places.cost if found is None else min(places.cost, found.cost_without_ladder)
    return Found(turned.units + places.units, places.cost, highest, without, frozenset(turned.units))


def _turned(request: Request, top: int) -> tuple[int, Taken | None]:
    """The lowest step of the ladder at which work that may be turned idle frees the quota, and that work."""
    protections = Protections(request.signature)
    bound = protections if protections.bind() else None
    for highest in range(1, top + 1):
        found = cheapest_cover(
            request.state, request.signature, highest, request.deficit, request.now_ms, bound, demote_room=0
        )
        if found is None or any(unit.job.composite for unit in found.units):
            continue
        if len(demoted_together(found.units, request.now_ms)) == len(found.units):
            return highest, found
    return 0, None


def _keeps_to_idle_room(request: Request, places: Found) -> bool:
    """I2, once these have gone; turning idle moves a share from used to idle and leaves the room as it is."""
    gone = with_companions(list(places.units))
    for unit in gone:
        request.state.lift(unit)
    room = idle_room(request.quota, request.root.min[GPU] or 0, GPU)
    for unit in gone:
        request.state.lower(unit)
    return room >= sum(shape.gpu_milli for _, shape in request.wanted)
