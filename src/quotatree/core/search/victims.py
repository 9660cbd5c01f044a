"""Whom to take within one step of P4, by P5: lowest highest priority first, then least cost.

The one way in: up the ladder with the solver that fits the request (ladder.py, solvers.py), then the ways that may be
cheaper or the only possible ones (demotion.py, surplus_above.py, shared_pool.py), then the proof; of idle work, those that stand in for
it (standing_in.py). The answer is a minimal
(P8) and lawful set, or the reason why there is none; the state has only been read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from quotatree.core.search.certainty import Prospect, prospect_of
from quotatree.core.search.demotion import cheaper_by_turning_idle
from quotatree.core.search.ladder import Found, cheapest_on_ladder, cost_without_ladder
from quotatree.core.search.placement import bounded_by_pools
from quotatree.core.search.proof import needs_proof, proved
from quotatree.core.search.shared_pool import best_in_pools
from quotatree.core.search.standing_in import cheaper_by_standing_in
from quotatree.core.search.surplus_above import better_with_surplus_above
from quotatree.core.search.trial import Request

__all__ = ["Found", "NotFound", "Request", "Why", "cost_without_ladder", "search"]


class Why(Enum):
    """Why a search found no victims."""

    NOBODY_ELIGIBLE = "not even the leaving of everybody eligible would help"
    NO_LAWFUL_SET = "no set of those who are eligible is enough and may be taken together"
    NO_PLACES = "the places of those who would go do not fit together"


@dataclass(frozen=True, slots=True)
class NotFound:
    reason: Why


def search(request: Request, prospect: Prospect | None = None) -> Found | NotFound:
    """Return the best victims for the request, or the reason why there are none.

    `prospect`: that of the request, if it is known; the state must not have changed since.
    """
    overlay, rungs = prospect_of(request) if prospect is None else prospect
    found = cheapest_on_ladder(request, overlay, rungs)
    found = cheaper_by_turning_idle(request, overlay, found)
    found = better_with_surplus_above(request, overlay, found)
    if bounded_by_pools(request.root) and not request.nodes_fit:
        found = best_in_pools(request, overlay, found)
    if found is not None and needs_proof(request, found) and not proved(request, overlay, found):
        return NotFound(Why.NO_PLACES)
    found = cheaper_by_standing_in(request, found)
    if found is None:
        return NotFound(Why.NO_LAWFUL_SET if rungs else Why.NOBODY_ELIGIBLE)
    return found
