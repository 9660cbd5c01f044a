"""The ladder of P5: victims of the lowest highest priority first, and among those the cheapest.

A rung is a priority up to which units may be taken: 0 for idle borrowers and surplus, then 1 to 9. The indexes tell which
rungs could help at all (P7). The solver is asked on each of those, lowest first, and its first lawful answer is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from quotatree.core.model.resources import ZERO
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search.node_index import node_view
from quotatree.core.search.node_offer import LADDER, TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import grouped
from quotatree.core.search.quota_cover import demoted_together, too_little_may_go
from quotatree.core.search.solvers import no_node_may_be_freed, solve
from quotatree.core.search.trial import Proposal, Request, Trial, left_after, without_implied


class Exchange(NamedTuple):
    """A regular unit goes in place of a borrower, which becomes regular; `as_idle` is what the search saw of it (I3)."""

    as_idle: Unit
    regular: Unit
    borrower: Unit


@dataclass(frozen=True, slots=True)
class Found:
    """A lawful, minimal set of victims, and what it costs.

    `cost` counts only the units that are evicted, not those of `demoted`, which run on with an idle claim. `highest` is the
    highest rung of any victim. `least`, at most `cost`, is the least cost of any set that was met on the way; `higher` are the
    requests that a set beyond their first rung may answer more cheaply. `cost_without_ladder` asks them. `exchanges`: those of the units
    that are regular and stand in for borrowers (standing_in.py).
    """

    units: tuple[Unit, ...]
    cost: int
    highest: int
    least: int
    higher: tuple[Request, ...] = ()
    demoted: frozenset[Unit] = frozenset()
    exchanges: tuple[Exchange, ...] = ()


def climb(rungs: Iterable[int], ask: Callable[[int], Proposal | None]) -> tuple[int, Proposal] | None:
    """Ask about each rung in turn; return the first rung with an answer and that answer, None if no rung has one."""
    for rung in rungs:
        found = ask(rung)
        if found is not None:
            return rung, found
    return None


def first_on_ladder(request: Request, overlay: Overlay, rungs: list[int]) -> tuple[int, Proposal] | None:
    """Return the lowest of these rungs on which the solver finds a set that frees the quota, and that set.

    `rungs` is in ascending order. None: no rung has such a set.
    """

    def ask(rung: int) -> Proposal | None:
        found = solve(Trial(request, rung, overlay))
        if found is None:
            return None
        found = without_implied(found, request.now_ms)
        # The solver's answer is checked: a job must never start beyond its quotas.
        return found if left_after(request, found.units) == (ZERO, ZERO) else None

    return climb(rungs, ask)


def cheapest_on_ladder(request: Request, overlay: Overlay, rungs: list[int] | None = None) -> Found | None:
    """Return the best victims for the request, which is one step of P4, up the ladder; None if no rung has any.

    `rungs`: the rungs to ask, in ascending order; None means all that could help.
    """
    if rungs is None:
        rungs = rungs_that_could_help(request, overlay)
    first = first_on_ladder(request, overlay, rungs)
    if first is None:
        return None
    rung, found = first
    cost, demoted = found.cost, frozenset[Unit]()
    if request.nodes_fit and request.demote_room >= 0:
        demoted = demoted_together(found.units, request.now_ms)
        cost = sum(eviction_cost(u, request.now_ms) for u in found.units if u not in demoted)
    higher = (request,) if rung != rungs[-1] else ()
    return Found(found.units, cost, highest_rung(request, found.units), cost, higher, demoted)


def cost_without_ladder(found: Found) -> int:
    """Return the least cost found for a set of any rung, at most that of `found` (P5).

    The state must be the one in which `found` was. Only what is taken in the end is told this: most sets are given up for a
    rival (S8), and this is as much work as finding them.
    """
    others = [solve(Trial(request, TOP_RUNG, Overlay(request.state))) for request in found.higher]
    return min([found.least, *(other.cost for other in others if other is not None)])


def highest_rung(request: Request, units: Iterable[Unit]) -> int:
    """Return the highest rung of any of these units that may be taken; 0 if there is none."""
    classes = dict.fromkeys([unit.cls for unit in units])
    entitled = [request.signature.entitled(cls) for cls in classes]
    return max((e.rung for e in entitled if e is not None), default=0)


def rungs_that_could_help(request: Request, overlay: Overlay) -> list[int]:
    """Return, in ascending order, the rungs that have units and up to which all units together would be enough (P7).

    Protections are left aside, so a rung that is returned may still have no lawful set. Where it is certain that none has one, the last
    is returned alone, and nodes are not looked at.
    """
    present = [False] * LADDER
    freed = [[0] * LADDER for _ in range(3)]
    short = [i for i in range(3) if request.deficit[i] > 0]
    signature, off = request.signature, overlay.off
    for cls, entitled in signature.classes_in(request.state):
        request.state.work.done += 1
        if not cls.buckets:
            continue
        rung = entitled.rung
        if off:
            gone = [unit for unit in off if unit.cls is cls]
            if len(gone) == sum(len(bucket) for bucket in cls.buckets.values()):
                continue
            if entitled.frees_quota:
                for i in short:
                    freed[i][rung] -= sum(unit.footprint[i] for unit in gone)
        present[rung] = True
        if entitled.frees_quota:
            for i in short:
                freed[i][rung] += cls.standing[i]
    present[0] = present[0] or overlay.idle_units(request.quota.tree) > 0
    totals: list[tuple[list[int], int]] = [(list(accumulate(freed[i])), request.deficit[i]) for i in short]
    if any(request.inside):
        totals += _freed_inside(request)
    rungs = [p for p in range(min(LADDER, request.highest + 1)) if present[p] and _enough(totals, p)]
    if not rungs or request.nodes_fit:
        return rungs
    widest = Trial(request, rungs[-1], overlay)
    if too_little_may_go(widest) or no_node_may_be_freed(widest):
        return rungs[-1:]
    reached = _reached_on_nodes(request, overlay)
    return [p for p in rungs if _enough(reached, p)]


def _freed_inside(request: Request) -> list[tuple[list[int], int]]:
    """Return what all units in the taker's quota and below it have of what is short there, by rung, and how much that is."""
    found = []
    for i in [i for i in range(3) if request.inside[i]]:
        freed = [0] * LADDER
        for cls, entitled in request.signature.classes_in(request.state):
            if entitled.frees_quota and request.quota.contains(cls.quota):
                freed[entitled.rung] += cls.standing[i]
        found.append((list(accumulate(freed)), request.inside[i]))
    return found


def _enough(totals: list[tuple[list[int], int]], rung: int) -> bool:
    return all(total[rung] >= need for total, need in totals)


def _reached_on_nodes(request: Request, overlay: Overlay) -> list[tuple[list[int], int]]:
    """Return for each shape how many replicas would fit, by rung, without all units up to it, and how many are wanted."""
    found = []
    for shape, indexes in grouped(request.wanted).items():
        by_share = len(indexes) > 1
        index = node_view(overlay, request.signature, shape, request.root, by_share, request.now_ms)
        total = index.total_without(request.avoid) if request.avoid else index.total
        found.append((total, len(indexes)))
    return found
