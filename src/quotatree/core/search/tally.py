"""What would be free on a node without some of its units? Counted as units are added and removed; no node is copied."""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, Share
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, companions

UNBOUNDED: int = 1 << 30


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
        gpu_milli, cpu_milli, memory_mib = shape[:3]
        count = UNBOUNDED
        if gpu_milli >= WHOLE_GPU:
            count = self._whole // (gpu_milli // WHOLE_GPU)
        elif gpu_milli:
            count = self._gained * (WHOLE_GPU // gpu_milli)
            count += sum([free // gpu_milli for free in self._devices])
        if cpu_milli:
            count = min(count, self._cpu // cpu_milli)
        if memory_mib:
            count = min(count, self._memory // memory_mib)
        return max(0, count)
