"""The two questions to nodes: which may be used (`may_use`), and how many replicas of one shape fit on one (`slots_in`, `Tally`)?

All indexes and searches are built on the answers, and know nothing else of nodes. What may come enters here:

- Topology: replicas that must stand together may use the nodes of one domain. That is a part of the first question, beside the pools of the
  root; how many fit in a domain is the sum of the second over its nodes, so whether they ever can stays a sum.
- Groups: each group of a job is a shape and asks by itself; placement.py puts their answers together.
- Devices: a kind or a profile of devices is one more part of a shape, and `slots_in` counts it.

Quotas, rights, the ladder and holds need not know of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, NodeState, Share, slots_in
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, companions


def may_use(node: Node, shape: Shape, pools: Collection[str]) -> bool:
    """Return whether a replica of the shape may stand on the node if there is room: its pool, its state, its model and its labels."""
    # What is free is never more than what was declared, so the size of the node need not be asked.
    if node.state is not NodeState.READY or node.crowded or node.spec.pool not in pools:
        return False
    return not (shape.models or shape.labels) or node.welcomes(shape)


def brought_by(node: Node, unit: Unit) -> list[Share]:
    """Return the shares on a node that go with a unit: its own, and those of what its core takes along (P12)."""
    together = (unit, *companions(unit)) if unit.job.composite else (unit,)
    return [node.units[one] for one in together if one in node.units]


def most_brought(each: list[list[Share]]) -> tuple[int, int, int]:
    """Return the most that any one of these gives up: entire devices, shared ones among them, CPU and memory."""
    devices = cpu = memory = 1
    for shares in each:
        devices = max(devices, sum(share.whole + len(share.fractions) for share in shares))
        cpu = max(cpu, sum(share.cpu_milli for share in shares))
        memory = max(memory, sum(share.memory_mib for share in shares))
    return devices, cpu, memory


class Tally:
    """What is free on a node without some shares; one that was added twice counts once, until it was removed twice."""

    __slots__ = ("_counts", "_cpu", "_devices", "_gained", "_memory", "_whole")

    def __init__(self, node: Node) -> None:
        self._counts: dict[Unit, int] = {}
        self._devices = list(node.free)
        self._whole, self._cpu, self._memory = node.whole_free, node.free_cpu, node.free_memory
        self._gained = 0  # entire devices given up by units that have them alone

    def add(self, shares: Iterable[Share]) -> None:
        for share in shares:
            count = self._counts[share.unit] = self._counts.get(share.unit, 0) + 1
            if count == 1:
                self._book(share, 1)

    def remove(self, shares: Iterable[Share]) -> None:
        for share in shares:
            count = self._counts[share.unit] = self._counts[share.unit] - 1
            if not count:
                self._book(share, -1)

    def _book(self, share: Share, sign: int) -> None:
        _, whole, fractions, cpu_milli, memory_mib = share
        self._whole += sign * whole
        self._gained += sign * whole
        self._cpu += sign * cpu_milli
        self._memory += sign * memory_mib
        for device, milli in fractions:
            before = self._devices[device]
            after = self._devices[device] = before + sign * milli
            self._whole += (after == WHOLE_GPU) - (before == WHOLE_GPU)

    def fits(self, shape: Shape) -> bool:
        """Return whether one replica of the shape, which suits the node, would fit."""
        gpu_milli, cpu_milli, memory_mib = shape[:3]
        if cpu_milli > self._cpu or memory_mib > self._memory:
            return False
        if gpu_milli >= WHOLE_GPU:
            return self._whole >= gpu_milli // WHOLE_GPU
        return not gpu_milli or self._gained > 0 or max(self._devices, default=0) >= gpu_milli

    def units_missing(self, shape: Shape, most: tuple[int, int, int]) -> int:
        """Return how many more units must go at least before the shape fits, if none gives up more than `most`."""
        devices, cpu, memory = most
        missing = max(-(-(shape[1] - self._cpu) // cpu), -(-(shape[2] - self._memory) // memory))
        if shape[0] >= WHOLE_GPU:
            missing = max(missing, -(-(shape[0] // WHOLE_GPU - self._whole) // devices))
        return max(0, missing)

    def slots(self, shape: Shape) -> int:
        """Return how many replicas of the shape, which suits the node, would fit."""
        return slots_in(shape, self._whole, self._gained, self._devices, self._cpu, self._memory)
