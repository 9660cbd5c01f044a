"""Whom to take where two quotas on the path are short, the upper one by more, and surplus stands between them (P12)?

A search knows one amount of quota to be freed, that of the quota which lacks most, and counts who stands below the lowest one
that is short. Surplus beside that one frees nothing there, but it frees the quotas above: then less must be freed below.
"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core.model.quota_arithmetic import deficit, deficit_at
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.reasons import Code
from quotatree.core.search.ladder import Found, cheapest_on_ladder, highest_rung
from quotatree.core.search.node_offer import TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import find_places
from quotatree.core.search.proof import Proof
from quotatree.core.search.trial import Request


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
    offer = None if more is None else _minimal(request, overlay, [*beside, *more.units])
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


def _minimal(request: Request, overlay: Overlay, units: list[Unit]) -> Found | None:
    """Return these units without those that are not needed, dearest first (P8); None if they may not go or are not enough."""
    proof = Proof(request, TOP_RUNG, overlay)
    proof.take_all(units)
    if not proof.enough():
        return None
    proof.minimise()
    kept = proof.proposal()
    return Found(kept.units, kept.cost, highest_rung(request, kept.units), kept.cost)


def _order(found: Found) -> tuple[int, int, int]:
    return found.highest, found.cost, len(found.units)
