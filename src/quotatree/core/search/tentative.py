"""What is left while the replicas of one job are placed one after the other: on nodes, and in pools that roots share?

Nothing is written: what was placed is booked beside the nodes.
"""

from __future__ import annotations

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import INFINITE, WHOLE_GPU
from quotatree.core.search.overlay import Overlay
from quotatree.core.state import State


class Tentative:
    """What nodes have left after some replicas of the same job are placed; the nodes themselves are not written."""

    __slots__ = ("_now", "_state", "touched")

    def __init__(self, overlay: Overlay, now: bool) -> None:
        self._state, self._now = overlay.state, now
        self.touched: dict[int, tuple[list[int], int, int]] = {}

    def left_on(self, node: Node) -> tuple[list[int], int, int]:
        """Return what is left on a node: milli-GPU by device, milli-CPU, MiB. It does not change as more is placed."""
        free, cpu_milli, memory_mib = self.touched.get(node.index) or node.left(self._now)
        return list(free), cpu_milli, memory_mib

    def put(self, node: Node, shape: Shape) -> tuple[int, ...] | None:
        """Place one more replica on a node and return its devices; None if it does not fit any more."""
        free, cpu, memory = self.touched.get(node.index) or node.left(self._now)
        if not node.suits(shape) or shape.cpu_milli > cpu or shape.memory_mib > memory:
            return None
        if shape.gpu_milli >= WHOLE_GPU:
            if free.count(WHOLE_GPU) < shape.whole_gpus:
                return None
        elif shape.gpu_milli and max(free, default=0) < shape.gpu_milli:
            return None
        chosen = pick_devices(self._state, node, shape, free, cpu, memory)
        if node.index not in self.touched:
            free = list(free)
        for device in chosen:
            free[device] -= min(shape.gpu_milli, WHOLE_GPU)
        self.touched[node.index] = (free, cpu - shape.cpu_milli, memory - shape.memory_mib)
        return chosen


class PoolRooms:
    """How many milli-GPU a root with several pools may still take from each; only pools it shares are bounded (Q1)."""

    __slots__ = ("_left", "_state")

    def __init__(self, overlay: Overlay, root: Quota) -> None:
        self._state = overlay.state
        self._left: dict[str, int] = {}
        mates = (mate.root for mate in root.tree.pool_mates if mate.root is not root)
        shared = {pool for mate in mates for pool, _ in mate.spec.draws}
        for pool, bounds in root.spec.draws:
            part = (bounds.gpu_milli or 0) if pool in shared else INFINITE
            self._left[pool] = part - overlay.pool_used(root, pool)

    def left(self, pool: str) -> int:
        return self._left[pool]

    def fits(self, node: Node, shape: Shape) -> bool:
        return shape.gpu_milli <= self._left[node.spec.pool]

    def too_little_for(self, shapes: list[Shape]) -> bool:
        """Return True only if replicas of these shapes cannot all stand within the root's parts of its pools, on whatever nodes."""
        left = self._left.values()
        if max([shape.gpu_milli for shape in shapes]) > max(left):
            return True
        return sum([shape.gpu_milli for shape in shapes]) > sum([max(0, part) for part in left])

    def charge(self, node: Node, shape: Shape, sign: int = 1) -> None:
        """Take what a replica on this node uses of its pool; a `sign` of -1 gives it back."""
        self._left[node.spec.pool] -= sign * shape.gpu_milli

    def closed(self, shape: Shape) -> frozenset[int]:
        """Return the indexes of all nodes in pools with less left for this root than one replica of the shape."""
        shut = {pool for pool, left in self._left.items() if shape.gpu_milli > left}
        return frozenset(n.index for n in self._state.nodes if n.spec.pool in shut) if shut else frozenset()


def pick_devices(
    state: State, node: Node, shape: Shape, free: list[int], cpu_milli: int, memory_mib: int
) -> tuple[int, ...]:
    """Return devices for one replica that is known to fit: the lowest whole ones, or the best one for a fraction."""
    if shape.gpu_milli < WHOLE_GPU:
        if shape.gpu_milli == 0:
            return ()
        _, device_free = state.typical(node.spec.pool).fit(node, shape, free, cpu_milli, memory_mib)
        return (free.index(device_free),)
    return tuple([device for device, left in enumerate(free) if left == WHOLE_GPU][: shape[0] // WHOLE_GPU])
