"""The cheapest units that make room for one replica somewhere, and free its quota: exactly, node after node (P5)."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Final

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node
from quotatree.core.search.lawful_room import lawful_room
from quotatree.core.search.node_index import NodeIndex, NodeView, node_view
from quotatree.core.search.node_offer import Tie
from quotatree.core.search.one_node import NodeItems, cheapest_on_node, items_on
from quotatree.core.search.quota_cover import cheapest_cover
from quotatree.core.search.slot_trial import SlotTrial
from quotatree.core.search.trial import Proposal, Trial, propose

NODES_WITHOUT_GAIN: Final = 64
TIED_NODES: Final = 16
"""Most nodes tried that can only be as cheap as the best. Where bounds are exact the newest comes first: one would do."""


def cheapest_for_one(trial: Trial, shape: Shape) -> Proposal | None:
    """Return the cheapest units found that make room for one replica and free its quota; None if no node can be freed.

    Nodes are tried in the order of their lower bounds until no other can be better. Where quota must be freed too, a
    node's bound says little; then the search also ends after more than NODES_WITHOUT_GAIN nodes in a row without a better set.
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
                    if tied > TIED_NODES:
                        break
                    if behind:
                        continue
            node = trial.overlay.node(node_number)
            found = None if lawful is not None and lawful.excludes(node, shape) else on_node(node)
            if found is not None and (best is None or found < best):
                best, fruitless = found, 0
                request.effort.found()
            elif complete is not None and (fruitless := fruitless + 1) > NODES_WITHOUT_GAIN:
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
