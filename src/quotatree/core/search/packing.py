"""Where do replicas of several shapes go together, where filling node after node has failed in every order that was tried?

Replica by replica, the largest first, each on the best node first; where the rest then finds no place, the next node is tried.
Nodes of which the same is left count once. What is tried is counted, so a job of many replicas may still be told that nodes do
not hold it, though they would in some way that nobody looked at.
"""

from __future__ import annotations

from typing import Final

from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.node import Node
from quotatree.core.search.tentative import PoolRooms, Tentative

REPLICAS_AT_MOST: Final = 32
LOOKED_AT_MOST: Final = 500
"""How many times a node is looked at for one job."""

Candidates = dict[Shape, list[Node]]
"""The nodes with room for one replica of each shape, best first; shapes in the order in which they are placed."""


class Packing:
    """The search for places of one job's replicas."""

    __slots__ = ("_candidates", "_looks_left", "_rooms", "_suits", "_tentative")

    def __init__(self, candidates: Candidates, tentative: Tentative, rooms: PoolRooms | None) -> None:
        self._candidates, self._tentative, self._rooms = candidates, tentative, rooms
        self._looks_left = LOOKED_AT_MOST
        self._suits: dict[int, list[Shape]] = {}  # shapes that each node could hold, by its index
        for shape, nodes in candidates.items():
            for node in nodes:
                self._suits.setdefault(node.index, []).append(shape)

    def places(self, wanted: list[tuple[int, Shape]]) -> list[Placed] | None:
        """Return places for all these replicas, given in the order of their shapes; None if none were found."""
        return self._rest(wanted, 0, 0) if len(wanted) <= REPLICAS_AT_MOST else None

    def _rest(self, wanted: list[tuple[int, Shape]], position: int, first: int) -> list[Placed] | None:
        """Return places for the replicas from `position` on; its own node is not before `first` in the order of its shape.

        Replicas of one shape are alike, so that only one order of them is tried.
        """
        if position == len(wanted):
            return []
        number, shape = wanted[position]
        seen: set[tuple[object, ...]] = set()
        for order, node in enumerate(self._candidates[shape][first:], first):
            self._looks_left -= 1
            if self._looks_left < 0:
                return None
            kind = self._kind(node)
            if kind in seen:
                continue
            seen.add(kind)
            if self._rooms is not None and not self._rooms.fits(node, shape):
                continue
            before = self._tentative.left_on(node)
            devices = self._tentative.put(node, shape)
            if devices is None:
                continue
            if self._rooms is not None:
                self._rooms.charge(node, shape)
            alike = position + 1 < len(wanted) and wanted[position + 1][1] == shape
            rest = self._rest(wanted, position + 1, order if alike else 0)
            if rest is not None:
                return [Placed(number, node.index, devices, shape), *rest]
            self._tentative.touched[node.index] = before
            if self._rooms is not None:
                self._rooms.charge(node, shape, -1)
        return None

    def _kind(self, node: Node) -> tuple[object, ...]:
        """Return what a node must share with another for it not to matter which of them is used."""
        free, cpu_milli, memory_mib = self._tentative.left_on(node)
        return (*sorted(free), cpu_milli, memory_mib, node.spec.pool, *self._suits[node.index])
