"""The cheapest way to make one replica fit on one node, exactly (P5).

The usual case is a knapsack over devices: a unit with whole GPUs is an item, a shared device with all its sharers is an
item. When CPU or memory is short, when protections do not allow the cheapest items, when a service has core and surplus
side by side or a unit spans several shared devices, branch and bound over the units answers instead (branching.py).
"""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, Share
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search.beginnings import ANYWHERE, Beginning, beginnings
from quotatree.core.search.branching import Complete, cheapest_subset
from quotatree.core.search.trial import NOTHING, Proposal, Trial, propose, without_implied


def available(trial: Trial, node: Node) -> list[Share]:
    """Return the shares of those units on the node that may be taken, by unit name."""
    found = []
    entitled_of, rung, now_ms = trial.signature.entitled, trial.rung, trial.now_ms
    for share in node.units.values():
        entitled = entitled_of(share.unit.cls)
        if entitled is None or entitled.rung > rung:
            continue
        if entitled.honours_min_runtime and share.unit.protected_until_ms > now_ms:
            continue
        found.append(share)
    found.sort(key=_share_name)  # the answer must not depend on which unit was placed first
    return found


def _share_name(share: Share) -> tuple[str, int]:
    return share.unit.name


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
    shares, now_ms = available(trial, node), trial.now_ms
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
