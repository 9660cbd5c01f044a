"""How much could be free on a node at most if only lawful sets may leave it (Q8)?

Where siblings with reserved parts have work on every node, each unit may go and still no set that is enough. Branch and bound learns
that only after it has tried all sets, on each node, for each shape that waits. What quotas with reserved parts may lose together
bounds every set from above, whatever it is wanted for: it is worked out once for all shapes and says no at once.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Final, NamedTuple

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, Share
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import WHOLE_GPU, Resources
from quotatree.core.search.fit import brought_by
from quotatree.core.search.protections import Protections
from quotatree.core.search.trial import Trial

ALL: Final = range(3)

Limits = tuple[int | None, int | None, int | None]
"""How much of each resource may leave a quota; None: as much as it has."""


class _Curve(NamedTuple):
    """How much of one resource is gained at most as so much of another leaves a quota: the units that give most for it first.

    `apart`: what units give that have nothing of the other.
    """

    sizes: tuple[int, ...]  # sums
    gains: tuple[int, ...]  # sums
    smallest: int
    apart: int

    def at(self, limit: int) -> int:
        """Return the most that is gained while no more than `limit` leaves; the last unit may leave in part, which is rounded up."""
        if limit < self.smallest:
            return self.apart
        whole = bisect_right(self.sizes, limit) - 1
        found = self.apart + self.gains[whole]
        if whole + 1 < len(self.sizes):
            size = self.sizes[whole + 1] - self.sizes[whole]
            more = self.gains[whole + 1] - self.gains[whole]
            found -= -more * (limit - self.sizes[whole]) // size
        return found


class _Part(NamedTuple):
    """The units on a node of one quota with a reserved part: what all of them give, and by resource reserved and wanted the curve."""

    quota: Quota
    most: Resources
    curves: dict[tuple[int, int], _Curve]

    def gained(self, limits: Limits) -> list[int]:
        """Return how much of each resource they give at most within these limits."""
        found = list(self.most)
        for (limited, wanted), curve in self.curves.items():
            limit = limits[limited]
            if limit is not None:
                found[wanted] = min(found[wanted], curve.at(limit))
        return found


class _OnNode(NamedTuple):
    """What is free on a node once all have left that nothing is reserved for, and the parts of quotas with reserved parts."""

    stamp: int
    free: Resources
    parts: list[_Part]


class LawfulRoom:
    """The most that lawful sets of the units of one signature leave free on each node. Time and rungs of the ladder are left aside."""

    __slots__ = ("_each", "_most", "_on", "_seen")

    def __init__(self) -> None:
        self._on: dict[int, _OnNode] = {}
        self._seen: object = None
        self._most: list[Resources] = []  # by node
        self._each: list[Resources] = []  # the same, those that differ

    def refresh(self, trial: Trial, protections: Protections) -> None:
        """Bring the bounds up to date: nodes that have changed are looked at, and quotas asked what they may lose now."""
        seen = trial.state.all_changes
        if self._seen == seen:
            return
        limits: dict[Quota, Limits] = {}
        found: list[Resources] = []
        for node in trial.state.nodes:
            here = self._on.get(node.index)
            if here is None or here.stamp != node.stamp:
                here = self._on[node.index] = _look_at(trial, protections, node)
            free = here.free
            for part in here.parts:
                if part.quota not in limits:
                    limits[part.quota] = protections.may_lose(part.quota)
                gpu, cpu, memory = part.gained(limits[part.quota])
                free = Resources(free[0] + gpu, free[1] + cpu, free[2] + memory)
            found.append(free)
        self._most, self._seen = found, seen
        self._each = list(dict.fromkeys(found))

    def excludes(self, node: Node, shape: Shape) -> bool:
        """Return True only if no lawful set makes room for one replica on this node."""
        return not _holds(self._most[node.index], shape)

    def excludes_everywhere(self, shape: Shape) -> bool:
        """Return True only if no lawful set makes room for one replica on any node."""
        return not any(_holds(most, shape) for most in self._each)


def lawful_room(trial: Trial) -> LawfulRoom | None:
    """Return the bounds of the trial; None where nothing limits what may be taken together, or units are taken off already."""
    protections, signature = trial.protections, trial.signature
    if protections is None or not signature.quota.tree.shares_reserved or trial.overlay.touched:
        return None
    table = trial.state.index_table("lawful")
    found: LawfulRoom | None = table.get(signature.key)
    if found is None:
        trial.state.keep_indexes("lawful")
        found = table[signature.key] = LawfulRoom()
    found.refresh(trial, protections)
    return found


def _look_at(trial: Trial, protections: Protections, node: Node) -> _OnNode:
    free = [sum(node.free), node.free_cpu, node.free_memory]
    bounded: dict[
        Quota, list[tuple[Resources, Resources]]
    ] = {}  # what a unit counts for, and what it frees here
    entitled_of = trial.signature.entitled
    for share in node.units.values():
        unit = share.unit
        if entitled_of(unit.cls) is None:
            continue
        reserving = None if unit.job.composite else protections.reserving(unit)
        if reserving is not None:
            bounded.setdefault(reserving, []).append((unit.footprint, _gain(share)))
            continue
        for one in brought_by(node, unit):  # of services more may be counted than there is: it is a bound
            free = [before + more for before, more in zip(free, _gain(one), strict=True)]
    parts = [_part(quota, items) for quota, items in bounded.items()]
    return _OnNode(node.stamp, Resources(*free), parts)


def _gain(share: Share) -> Resources:
    milli = share.whole * WHOLE_GPU + sum([part for _, part in share.fractions])
    return Resources(milli, share.cpu_milli, share.memory_mib)


def _part(quota: Quota, items: list[tuple[Resources, Resources]]) -> _Part:
    most = Resources(*(sum([gain[i] for _, gain in items]) for i in ALL))
    curves = {
        (limited, wanted): _curve(items, limited, wanted)
        for limited in ALL
        if quota.spec.reserved[limited]
        for wanted in ALL
        if most[wanted]
    }
    return _Part(quota, most, curves)


def _curve(items: list[tuple[Resources, Resources]], limited: int, wanted: int) -> _Curve:
    apart = sum([gain[wanted] for footprint, gain in items if not footprint[limited]])
    sized = [(footprint[limited], gain[wanted]) for footprint, gain in items if footprint[limited]]
    sized.sort(key=lambda item: -item[1] / item[0])
    sizes = tuple(accumulate([size for size, _ in sized], initial=0))
    gains = tuple(accumulate([gain for _, gain in sized], initial=0))
    return _Curve(sizes, gains, min([size for size, _ in sized], default=0), apart)


def _holds(most: Resources, shape: Shape) -> bool:
    return shape.gpu_milli <= most[0] and shape.cpu_milli <= most[1] and shape.memory_mib <= most[2]
