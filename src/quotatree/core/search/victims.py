"""Whom to take within one step of P4, by P5: lowest highest priority first, then least cost.

The one way in: up the ladder with the solver that fits the request (ladder.py, solvers.py), then the ways that may be
cheaper or the only possible ones (other_ways.py), then the proof; of idle work, those that stand in for it (standing_in.py). The answer is a minimal
(P8) and lawful set, or the reason why there is none; the state has only been read. Whether there is an answer is often certain before
anything is sought: most jobs that could start are overtaken first (S8), and then nobody needs to know whom they would have taken.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from quotatree.core.model.node import Node
from quotatree.core.model.resources import GPU, WHOLE_GPU
from quotatree.core.search.ladder import Found, cheapest_on_ladder, cost_without_ladder, rungs_that_could_help
from quotatree.core.search.node_index import node_view
from quotatree.core.search.one_replica import items_of
from quotatree.core.search.other_ways import (
    best_in_pools,
    better_with_surplus_above,
    cheaper_by_turning_idle,
    lacking_above,
)
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import bounded_by_pools
from quotatree.core.search.proof import needs_proof, proved
from quotatree.core.search.solvers import no_node_may_be_freed
from quotatree.core.search.standing_in import cheaper_by_standing_in
from quotatree.core.search.trial import Request, Trial

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


class Prospect(NamedTuple):
    """Which rungs of the ladder could help a request, in ascending order; of the state as it is."""

    overlay: Overlay
    rungs: list[int]


def prospect_of(request: Request) -> Prospect:
    overlay = Overlay(request.state)
    return Prospect(overlay, rungs_that_could_help(request, overlay))


def surely_found(request: Request, prospect: Prospect) -> bool:
    """Return True only if a search would find victims for the request.

    All units up to a rung that could help free the quota and a node together. So there is a set for one replica, and its solver
    finds one, unless units may not be taken together, are protected for now, are sought in one pool after the other, or part of them
    must stand in the quota itself.
    """
    tree, signature = request.quota.tree, request.signature
    if (
        not prospect.rungs
        or len(request.wanted) != 1
        or any(request.inside)
        or tree.idle_units
        or tree.surplus_units
        or request.state.next_protection_end()
        or bounded_by_pools(request.root)
    ):
        return False
    if not signature.binds():
        return True
    return not signature.bounded and not request.nodes_fit and _one_node_will_do(request, prospect)


def surely_none(request: Request, prospect: Prospect) -> bool:
    """Return True only if a search would find no victims for the request, nor for one that may take fewer units."""
    return (
        not prospect.rungs
        and not any(lacking_above(request))  # else more may go than frees the lowest quota
        and not bounded_by_pools(request.root)
    )


def _one_node_will_do(request: Request, prospect: Prospect) -> bool:
    """Return whether all units of the cheapest node may be taken together, and any of them that free it free the quota, too."""
    overlay, (rung, *_) = prospect
    ((_, shape),) = request.wanted
    trial = Trial(request, rung, overlay)
    if no_node_may_be_freed(trial):
        return False
    index = node_view(overlay, request.signature, shape, request.root, False, request.now_ms)
    with closing(index.cheapest_first(rung, request.now_ms, request.avoid)) as stream:
        first = next(stream, None)
    if first is None:
        return False
    node = overlay.node(first[1])
    units = [share.unit for share in items_of(trial, index, node, shape).shares]
    return _frees_quota(request, node) and not any(u.job.composite for u in units) and trial.lawful(units)


def _frees_quota(request: Request, node: Node) -> bool:
    """Return whether as many devices as are missing on the node are what is short of quota, or more."""
    ((_, shape),) = request.wanted
    missing = max(0, shape.whole_gpus - node.whole_free) * WHOLE_GPU
    return all(amount <= (missing if i == GPU else 0) for i, amount in enumerate(request.deficit))
