"""Whom to take within one step of P4, by P5: lowest highest priority first, then least cost.

Asks the indexes first whether evicting everybody eligible could help at all (P7), then searches: quota alone, one
replica (exact), or a gang. What comes back is minimal (P8) and lawful (protections).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Final

from quotatree.core.model.job import Job, Shape
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost
from quotatree.core.search.eligible import Protections, Signature
from quotatree.core.search.exhaustive import best_of_few
from quotatree.core.search.gang import GangSearch
from quotatree.core.search.node_index import NodeIndex, node_index
from quotatree.core.search.node_offer import LADDER, Tie
from quotatree.core.search.one_node import (
    NOTHING,
    Taken,
    cheapest_on_node,
    room_without,
    taken,
    with_companions,
    without_implied,
)
from quotatree.core.search.placement import Wanted, find_places, free_index
from quotatree.core.search.quota_cover import cheapest_cover, demoted_together
from quotatree.core.state import State

NODES_WITHOUT_GAIN: Final = 64
TIED_NODES: Final = 16
"""Nodes looked at that can only be as cheap as the best. Where the bound is exact the newest comes first, so one will do."""


@dataclass(slots=True)
class Request:
    """What a preemptor needs in one step. `deficit` is the quota that victims must free along its path."""

    state: State
    job: Job
    quota: Quota
    wanted: Wanted
    deficit: Resources
    signature: Signature
    now_ms: int
    avoid: frozenset[int]
    nodes_fit: bool  # by plan there is room on nodes already: only quota is short
    demote_room: int  # idle room left beside the preemptor; not below 0: units may be turned idle (I1)
    _steps: list[int] | None = field(default=None, init=False)

    @property
    def root(self) -> Quota:
        return self.quota.root

    def steps(self) -> list[int]:
        """Ladder steps that could help; asked by the search and, when it finds nobody, by the reason."""
        if self._steps is None:
            self._steps = _steps_that_could_help(self)
        return self._steps


@dataclass(frozen=True, slots=True)
class Found:
    """A lawful, minimal set, its cost, and what the cheapest set without the priority ladder would cost (P5)."""

    units: tuple[Unit, ...]
    cost: int
    highest: int
    cost_without_ladder: int
    demoted: frozenset[Unit]


def search(request: Request) -> Found | None:
    """The best victims of this step, or None."""
    steps = request.steps()
    if not steps:
        return None
    protections = Protections(request.signature)
    bound = protections if protections.bind() else None
    for highest in steps:
        found = _within(request, highest, bound)
        if found is None:
            continue
        found = without_implied(found, request.now_ms)
        if (
            left_after(request, found.units) != ZERO
        ):  # whatever the search says, nothing starts beyond its quotas
            continue
        cost, demoted = found.cost, frozenset[Unit]()
        if request.nodes_fit and request.demote_room >= 0:
            demoted = demoted_together(found.units, request.now_ms)
            cost = sum(eviction_cost(u, request.now_ms) for u in found.units if u not in demoted)
        touched = max((_ladder(request.signature, u) for u in found.units), default=0)
        without = cost
        if highest != steps[-1]:
            other = _within(request, LADDER - 1, bound)
            if other is not None:
                without = min(cost, other.cost)
        return Found(found.units, cost, touched, without, demoted)
    return None


def could_ever_help(request: Request) -> bool:
    """P7's prefilter: would it fit with every eligible unit gone, protections aside?"""
    return bool(request.steps())


def _steps_that_could_help(request: Request) -> list[int]:
    """Ladder steps that add something, from the first at which everybody's leaving would be enough."""
    signature = request.signature
    present = [False] * LADDER
    freed = [[0] * LADDER for _ in range(3)]
    short = [i for i in range(3) if request.deficit[i] > 0]
    for cls, entitled in signature.classes_among(request.state.classes_below(request.root)):
        if not cls.buckets:
            continue
        present[entitled.ladder] = True
        if short and entitled.frees_quota:
            for i in short:
                freed[i][entitled.ladder] += cls.standing[i]
    present[0] = present[0] or bool(request.root.idle_units)
    totals: list[tuple[list[int], int]] = [(list(accumulate(freed[i])), request.deficit[i]) for i in short]
    if not request.nodes_fit:
        for shape, count in _shapes(request.wanted).items():
            index = _index(request, shape, count)
            total = index.total
            if request.avoid:
                total = index.total_without(request.avoid)
            totals.append((total, count))
    return [p for p in range(LADDER) if present[p] and all(total[p] >= need for total, need in totals)]


def _index(request: Request, shape: Shape, count: int) -> NodeIndex:
    return node_index(request.state, request.signature, shape, request.root, count > 1, request.now_ms)


def _shapes(wanted: Wanted) -> dict[Shape, int]:
    counts: dict[Shape, int] = {}
    for _, shape in wanted:
        counts[shape] = counts.get(shape, 0) + 1
    return counts


def _ladder(signature: Signature, unit: Unit) -> int:
    entitled = signature.entitled(unit.cls)
    return entitled.ladder if entitled is not None else 0


def _within(request: Request, highest: int, protections: Protections | None) -> Taken | None:
    """The cheapest set up to one ladder step."""
    if request.nodes_fit:
        return cheapest_cover(
            request.state, request.signature, highest, request.deficit, request.now_ms, protections,
            demote_room=request.demote_room,
        )  # fmt: skip
    shapes = _shapes(request.wanted)
    if len(shapes) > 1:
        return _several_shapes(request, highest, protections)
    ((shape, count),) = shapes.items()
    if count == 1:
        return _one_replica(request, shape, highest, protections)
    free = free_index(request.state, shape, request.root, False)
    found = GangSearch(
        state=request.state,
        index=_index(request, shape, count),
        free=free,
        wanted=count,
        deficit=request.deficit,
        highest=highest,
        now_ms=request.now_ms,
        protections=protections,
        avoid=request.avoid,
    ).run()
    if found is not None:
        return found
    return best_of_few(
        request.state,
        request.signature,
        highest,
        now_ms=request.now_ms,
        shape=shape,
        wanted=count,
        free=free,
        avoid=request.avoid,
        protections=protections,
        covered=lambda units: left_after(request, units) == ZERO,
    )


def _one_replica(
    request: Request, shape: Shape, highest: int, protections: Protections | None
) -> Taken | None:
    """Exact: nodes in the order of their lower bounds until no other can be better.

    Where quota must be freed beyond what a node gives, its bound says little; then the search also ends after
    NODES_WITHOUT_GAIN nodes in a row that brought nothing.
    """
    state, signature, now_ms, deficit = request.state, request.signature, request.now_ms, request.deficit
    index = _index(request, shape, 1)
    best: Taken | None = None
    floor: int | None = None if any(amount > 0 for amount in deficit) else 0
    complete = partial(_with_quota, request, highest, protections) if floor is None else None
    fruitless = tied = 0
    stream = index.cheapest_first(highest, now_ms, request.avoid)
    for bound, node_number in stream:
        if best is not None:
            behind = _behind(best, index.tie_of(node_number))
            if bound > best.cost or (bound == best.cost and behind):
                break
            if floor is None:  # what the quota alone costs bounds every node from below
                alone = cheapest_cover(state, signature, highest, deficit, now_ms, None)
                floor = alone.cost if alone is not None else best.cost
            if max(bound, floor) >= best.cost:  # no node can be cheaper, but it may have somebody newer
                tied += 1
                if tied > TIED_NODES:
                    break
                if behind:
                    continue
        node = state.nodes[node_number]
        found = cheapest_on_node(
            node, shape, signature, highest=highest, now_ms=now_ms, protections=protections, complete=complete
        )
        if found is not None and (best is None or found < best):
            best, fruitless = found, 0
        elif complete is not None and (fruitless := fruitless + 1) > NODES_WITHOUT_GAIN:
            break
    stream.close()
    if best is None or best.jobs <= 1:
        return best
    return _put_back(request, shape, best)


def _behind(best: Taken, tie: Tie) -> bool:
    """Is nobody of a node with this tie to be chosen before `best` at the same cost: fewer jobs, newer, name (P5)?"""
    newest, first = tie
    return (1, newest, (first,)) >= (best.jobs, best.age, best.names)


def _with_quota(
    request: Request, highest: int, protections: Protections | None, found: Taken
) -> Taken | None:
    """Complete a node's victims by the cheapest units that free the rest of the quota."""
    both = found
    while (left := left_after(request, both.units)) != ZERO:
        more = cheapest_cover(
            request.state, request.signature, highest, left, request.now_ms, protections,
            gone=with_companions(list(both.units)),
        )  # fmt: skip
        if more is None or not more.units:
            return None
        both = taken(list(both.units + more.units), both.cost + more.cost)
    if (
        both is not found
        and protections is not None
        and not protections.allow(with_companions(list(both.units)))
    ):
        return None
    return both


def left_after(request: Request, units: tuple[Unit, ...] | list[Unit]) -> Resources:
    freed = [0, 0, 0]
    for unit in with_companions(list(units)):
        entitled = request.signature.entitled(unit.cls)
        if entitled is not None and entitled.frees_quota:
            for i in range(3):
                freed[i] += unit.footprint[i]
    return Resources(*(max(0, request.deficit[i] - freed[i]) for i in range(3)))


def _put_back(request: Request, shape: Shape, found: Taken) -> Taken:
    """P8: whoever is not needed, neither for a place nor for quota, stays; dearest first."""
    kept = list(found.units)
    for unit in sorted(found.units, key=lambda u: (-eviction_cost(u, request.now_ms), u.started_ms, u.name)):
        rest = [u for u in kept if u is not unit]
        if left_after(request, rest) == ZERO and _fits_without(request, shape, rest):
            kept = rest
    if len(kept) == len(found.units):
        return found
    return taken(kept, sum(eviction_cost(u, request.now_ms) for u in kept))


def _fits_without(request: Request, shape: Shape, units: list[Unit]) -> bool:
    nodes = {n for u in with_companions(units) for n in u.nodes}
    return any(
        request.state.nodes[n].suits(shape)
        and n not in request.avoid
        and room_without(request.state.nodes[n], shape, units)
        for n in sorted(nodes)
    )


def _several_shapes(request: Request, highest: int, protections: Protections | None) -> Taken | None:
    """Groups of different sizes: largest first, each with the ones before it standing; then put back.

    Runs on the real state and takes everything back before it returns.
    """
    state, job = request.state, request.job
    by_shape: dict[Shape, list[int]] = {}
    for index, shape in request.wanted:
        by_shape.setdefault(shape, []).append(index)
    gone: list[Unit] = []
    stood: list[Unit] = []
    complete = True
    for shape in sorted(by_shape, key=lambda s: (-s.gpu_milli, -s.cpu_milli, -s.memory_mib, s)):
        part: Wanted = [(index, shape) for index in by_shape[shape]]
        places = find_places(state, request.root, part, now=False, avoid=request.avoid)
        if places is None:
            found = _part(request, part, highest, protections)
            if found is None:
                complete = False
                break
            for unit in with_companions(list(found.units)):
                if unit not in gone:
                    state.lift(unit)
                    gone.append(unit)
            places = find_places(state, request.root, part, now=False, avoid=request.avoid)
            if places is None:
                complete = False
                break
        unit = state.make_unit(job, UnitKind.HOLD, job.claim, places, request.now_ms)
        state.lower(unit)
        stood.append(unit)
    for unit in stood:
        state.lift(unit)
    result: Taken | None = None
    if complete:
        chosen = [u for u in gone if not _goes_along(u, gone)]
        result = _complete_and_trim(request, highest, protections, chosen, gone)
    for unit in gone:
        state.lower(unit)
    if result is None or protections is None:  # only now does everybody count again where protections look
        return result
    return result if protections.allow(with_companions(list(result.units))) else None


def _goes_along(unit: Unit, gone: list[Unit]) -> bool:
    return unit.cls.kind is not UnitKind.CORE and unit.job.core in gone


def _part(request: Request, part: Wanted, highest: int, protections: Protections | None) -> Taken | None:
    smaller = Request(
        state=request.state,
        job=request.job,
        quota=request.quota,
        wanted=part,
        deficit=ZERO,
        signature=request.signature,
        now_ms=request.now_ms,
        avoid=request.avoid,
        nodes_fit=False,
        demote_room=0,
    )
    return _within(smaller, highest, protections)


def _complete_and_trim(
    request: Request, highest: int, protections: Protections | None, chosen: list[Unit], gone: list[Unit]
) -> Taken | None:
    """Free the rest of the quota, then put back by trying: the displaced units are off their nodes here."""
    state = request.state
    left = left_after(request, chosen)
    if left != ZERO:
        more = cheapest_cover(state, request.signature, highest, left, request.now_ms, protections)
        if more is None:
            return None
        for unit in with_companions(list(more.units)):
            if unit not in gone:  # surplus that went before its core
                state.lift(unit)
                gone.append(unit)
        chosen = [u for u in [*chosen, *more.units] if not _goes_along(u, gone)]
    for unit in sorted(chosen, key=lambda u: (-eviction_cost(u, request.now_ms), u.started_ms, u.name)):
        rest = [u for u in chosen if u is not unit]
        if left_after(request, rest) != ZERO:
            continue
        back = with_companions([unit])
        for piece in back:
            state.lower(piece)
        if find_places(state, request.root, request.wanted, now=False, avoid=request.avoid) is None:
            for piece in back:
                state.lift(piece)
        else:
            chosen = rest
            for piece in back:
                gone.remove(piece)
    return taken(chosen, sum(eviction_cost(u, request.now_ms) for u in chosen)) if chosen else NOTHING
