"""The cheapest units that make room for one replica somewhere, and free its quota: exactly, node after node (P5).

On one node the usual case is a knapsack over devices: a unit with whole GPUs is an item, a shared device with all its sharers is an
item. When CPU or memory is short, when protections do not allow the cheapest items, when a service has core and surplus
side by side or a unit spans several shared devices, branch and bound over the units answers instead (branching.py).
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import NamedTuple

from quotatree.core.model.effort import ONE_BY_ONE
from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, Share
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search.branching import ANYWHERE, Beginning, Complete, beginnings, cheapest_subset
from quotatree.core.search.lawful_room import lawful_room
from quotatree.core.search.node_index import NodeIndex, NodeView, node_view
from quotatree.core.search.node_offer import Tie
from quotatree.core.search.quota_cover import cheapest_cover
from quotatree.core.search.slot_trial import SlotTrial
from quotatree.core.search.trial import NOTHING, Proposal, Trial, propose, without_implied


def cheapest_for_one(trial: Trial, shape: Shape) -> Proposal | None:
    """Return the cheapest units found that make room for one replica and free its quota; None if no node can be freed.

    Nodes are tried in the order of their lower bounds until no other can be better. Where quota must be freed too, a
    node's bound says little; then the search also ends after many nodes in a row without a better set.
    """
    best = _over_nodes(trial, shape)
    if best is None or best.jobs <= 1:
        return best
    slots = SlotTrial(trial, shape, 1)
    slots.take_all(best.units)
    slots.minimise()
    return best if len(slots.taken) == len(best.units) else slots.proposal()


def _over_nodes(trial: Trial, shape: Shape) -> Proposal | None:
    request, now_ms = trial.request, trial.now_ms
    index = node_view(trial.overlay, trial.signature, shape, request.root, False, now_ms)
    best: Proposal | None = None
    floor: int | None = None if request.short_of_quota else 0
    complete = partial(_with_quota, trial) if floor is None else None
    lawful = lawful_room(trial)
    fruitless = tied = 0

    def on_node(node: Node) -> Proposal | None:
        items, found = items_of(trial, index, node, shape), None
        if items.may_be_better(best):
            found = cheapest_on_node(trial, node, shape, items, complete, best)
        if found is None:  # a set on the first node is found in any case
            request.effort.spend(1 + len(items.shares) + 2 * len(items.begin))
        return found

    with closing(index.cheapest_first(trial.rung, now_ms, request.avoid)) as stream:
        for bound, node_number in stream:
            if best is not None:
                behind = _behind(best, index.tie_of(node_number))
                if bound > best.cost or (bound == best.cost and behind):
                    break
                if floor is None and bound < best.cost:
                    # What the quota alone costs bounds every node from below.
                    alone = cheapest_cover(Trial(request, trial.rung, trial.overlay, protected=False))
                    floor = alone.cost if alone is not None else best.cost
                if bound == best.cost or (floor is not None and floor >= best.cost):
                    # This node cannot be cheaper, but it may have newer units.
                    tied += 1
                    if tied > ONE_BY_ONE:
                        break
                    if behind:
                        continue
            node = trial.overlay.node(node_number)
            found = None if lawful is not None and lawful.excludes(node, shape) else on_node(node)
            if found is not None and (best is None or found < best):
                best, fruitless = found, 0
                request.effort.found()
            elif complete is not None and (fruitless := fruitless + 1) > ONE_BY_ONE:
                break
    return best


def items_of(trial: Trial, index: NodeIndex | NodeView, node: Node, shape: Shape) -> NodeItems:
    """Return what a node offers. The index remembers it until the node changes or time passes, but for changed copies.

    Where many quotas have alike work on alike nodes, most searches look at the same nodes, only to find no better set.
    """
    memory = index.memory_of(node)
    if memory is None:
        return items_on(trial, node, shape)
    known: tuple[int, int, NodeItems] | None = memory.get(trial.rung)
    if known is None or known[:2] != (node.stamp, trial.now_ms):
        known = memory[trial.rung] = (node.stamp, trial.now_ms, items_on(trial, node, shape))
    return known[2]


def _behind(best: Proposal, tie: Tie) -> bool:
    """Return whether no set on a node with this tie comes before `best` at equal cost: fewer units, newer, name (P5)."""
    newest, first = tie
    return (1, newest, (first,)) >= (best.jobs, best.age, best.names)


def _with_quota(trial: Trial, found: Proposal) -> Proposal | None:
    """Return a node's victims with the cheapest units that free the rest of the quota.

    The same object if nothing is missing; None if the quota cannot be freed or the whole set is not lawful.
    """
    both = trial.afresh()
    both.take_all(found.units)
    if both.quota_is_free():
        return found
    cost = found.cost
    while not both.quota_is_free():
        more = cheapest_cover(both)
        if more is None or not more.units:
            return None
        both.take_all(more.units)
        cost += more.cost
    return propose(list(both.taken), cost) if both.lawful() else None


class NodeItems(NamedTuple):
    """The units of a node that may be taken, and the cheapest of them without which its devices have room for a replica.

    `cheapest` looks at devices alone: whatever else is asked, no better set frees the node. None: it is not known, or no device
    is wanted. `begin`: where a search for the cheapest set of all may begin; nowhere if there is none.
    """

    shares: list[Share]
    cheapest: Proposal | None
    begin: tuple[Beginning, ...]

    def may_be_better(self, known: Proposal | None) -> bool:
        """Return False if it is certain that no set on the node frees it and comes before this one (P5); None is no set."""
        if not self.begin or known is None:
            return bool(self.begin)
        if self.cheapest is not None and not self.cheapest < known:
            return False
        return self.begin[0].least <= known.cost


def items_on(trial: Trial, node: Node, shape: Shape) -> NodeItems:
    """Return what a node offers to the trial. It depends on the node, the time, and the trial's signature and rung alone."""
    shares, now_ms = trial.available(node), trial.now_ms
    if any(_entangled(s) for s in shares):
        return NodeItems(shares, None, ANYWHERE)
    cheapest = _whole_devices(node, shape, shares, now_ms) if shape.whole_gpus else None
    if shape.fraction_milli:
        cheapest = _fraction(node, shape.fraction_milli, shares, now_ms)
    if shape.gpu_milli and cheapest is None:
        return NodeItems(shares, None, ())
    rest_fits = _rest_fits(node, shape, () if cheapest is None else cheapest.units)
    begin = ANYWHERE if rest_fits else beginnings(node, shape, shares, now_ms)
    return NodeItems(shares, cheapest, begin)


def cheapest_on_node(
    trial: Trial,
    node: Node,
    shape: Shape,
    items: NodeItems,
    complete: Complete | None = None,
    known: Proposal | None = None,
) -> Proposal | None:
    """Return the cheapest units without which one replica of `shape` fits on the node; None if there are none.

    `items`: what `items_on` says of it. With `complete`, sets that free the node are compared after it has added to each the
    units that must go elsewhere. None may also mean that none is better than `known`.
    """
    if not items.begin:
        return None
    found = items.cheapest
    if (
        found is not None
        and _rest_fits(node, shape, found.units)
        and (trial.protections is None or trial.protections.allow(found.units))
        and (complete is None or complete(found) is found)
    ):
        return found
    found = cheapest_subset(trial, node, shape, items.shares, items.begin, complete=complete, known=known)
    return None if found is None else without_implied(found, trial.now_ms)


def _entangled(share: Share) -> bool:
    """Return whether the unit is no simple item of a knapsack: it has surplus or a core beside it, or shares a device
    and stands on others too."""
    unit = share.unit
    if len(share.fractions) > 1 or (share.fractions and share.whole):
        return True
    return unit.job.composite


def _rest_fits(node: Node, shape: Shape, units: tuple[Unit, ...]) -> bool:
    cpu, memory = node.free_cpu, node.free_memory
    if shape.cpu_milli <= cpu and shape.memory_mib <= memory:
        return True
    for unit in units:
        share = node.units[unit]
        cpu += share.cpu_milli
        memory += share.memory_mib
    return shape.cpu_milli <= cpu and shape.memory_mib <= memory


def _whole_devices(node: Node, shape: Shape, shares: list[Share], now_ms: int) -> Proposal | None:
    """Return the cheapest units without which the node has whole devices enough for the shape; None if there are none."""
    need = shape.whole_gpus - node.whole_free
    if need <= 0:
        return NOTHING
    items: list[tuple[int, Proposal]] = []
    shared: dict[int, list[Share]] = {}
    for share in shares:
        if share.whole:
            items.append((share.whole, propose([share.unit], eviction_cost(share.unit, now_ms))))
        for device, _ in share.fractions:
            shared.setdefault(device, []).append(share)
    for device, sharers in shared.items():
        if node.free[device] + sum(s.fractions[0][1] for s in sharers) == WHOLE_GPU:
            cost = sum(eviction_cost(s.unit, now_ms) for s in sharers)
            items.append((1, propose([s.unit for s in sharers], cost)))
    best: list[Proposal | None] = [NOTHING] + [None] * need
    for gpus, item in items:
        for j in range(need, 0, -1):
            below = best[j - gpus] if j > gpus else NOTHING
            if below is None:
                continue
            here = best[j]
            if here is None or below.cost + item.cost <= here.cost:
                both = _join(below, item)
                if here is None or both < here:
                    best[j] = both
    return best[need]


def _join(a: Proposal, b: Proposal) -> Proposal:
    if not a.units:
        return b
    return Proposal(
        a.cost + b.cost, a.jobs + b.jobs, a.age + b.age, tuple(sorted(a.names + b.names)), a.units + b.units
    )


def _fraction(node: Node, milli: int, shares: list[Share], now_ms: int) -> Proposal | None:
    """Return the cheapest units without which one device has `milli` free: one with whole devices, or some sharers."""
    if any(free >= milli for free in node.free):
        return NOTHING
    best: Proposal | None = None
    sharers: dict[int, list[tuple[int, Unit]]] = {}
    for share in shares:
        if share.whole:
            candidate = propose([share.unit], eviction_cost(share.unit, now_ms))
            best = candidate if best is None else min(best, candidate)
        for device, amount in share.fractions:
            sharers.setdefault(device, []).append((amount, share.unit))
    for device, items in sharers.items():
        found = _cover(milli - node.free[device], items, now_ms)
        if found is not None:
            best = found if best is None else min(best, found)
    return best


def _cover(need: int, items: list[tuple[int, Unit]], now_ms: int) -> Proposal | None:
    """Return the cheapest sharers with at least `need` milli-GPU together; None if all are not enough."""
    reached: dict[int, Proposal] = {0: NOTHING}
    for amount, unit in items:
        item = propose([unit], eviction_cost(unit, now_ms))
        for so_far, before in list(reached.items()):
            if so_far >= need:
                continue
            total = min(need, so_far + amount)
            both = _join(before, item)
            if total not in reached or both < reached[total]:
                reached[total] = both
    return reached.get(need)
