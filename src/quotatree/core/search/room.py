"""Which nodes have any device free at all, and how much CPU and memory is free beside it?

One for each set of pools, whatever is asked for. A new index of a shape (free_index.py) looks only at these nodes, and at
none if no node has as much of everything as one replica wants: jobs that all ask for something else and all wait would
otherwise look at every node once for each of them.
"""

from __future__ import annotations

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.state import State


class Room:
    """The nodes of some pools with anything free by plan, which is never less than what is free at this moment."""

    __slots__ = ("_open", "_pools", "_seen", "_state", "_widest")

    def __init__(self, state: State, pools: frozenset[str]) -> None:
        self._state, self._pools = state, pools
        self._open: dict[int, None] = {}  # indexes of these nodes
        self._widest: list[tuple[int, int, int]] | None = None
        self._seen = state.all_changes
        self._rebuild()

    def nodes_for(self, shape: Shape) -> list[Node]:
        """Return nodes among which are all that have room for one replica; none if it is certain that no node has."""
        nodes = self._state.nodes
        if not shape.gpu_milli:
            return nodes
        wanted = shape.whole_gpus
        widest = self._widest or self._widest_by_devices()
        if wanted >= len(widest):
            return []
        device_milli, cpu_milli, memory_mib = widest[wanted]
        if (
            min(shape.gpu_milli, WHOLE_GPU) > device_milli
            or shape.cpu_milli > cpu_milli
            or shape.memory_mib > memory_mib
        ):
            return []
        cpu_milli, memory_mib = shape.cpu_milli, shape.memory_mib
        return [
            node
            for index in self._open
            if (node := nodes[index]).whole_free >= wanted
            and node.free_cpu >= cpu_milli
            and node.free_memory >= memory_mib
        ]

    def refresh(self) -> None:
        """Catch up with the log of changes."""
        state, seen = self._state, self._state.all_changes
        if seen == self._seen:
            return
        epoch, length, version = self._seen
        if seen[0] != epoch or seen[2] != version or seen[1] - length > len(state.nodes):
            self._rebuild()
            return
        for index in state.changes[length:]:
            self._note(state.nodes[index])
        self._seen, self._widest = seen, None

    def _rebuild(self) -> None:
        self._open = {}
        for node in self._state.nodes:
            self._note(node)
        self._seen, self._widest = self._state.all_changes, None

    def _note(self, node: Node) -> None:
        if (node.whole_free or (node.shared and any(node.free))) and node.spec.pool in self._pools:
            self._open[node.index] = None
        else:
            self._open.pop(node.index, None)

    def _widest_by_devices(self) -> list[tuple[int, int, int]]:
        """Return, for nodes with at least 0, 1, 2 … entire devices free, the most free of a device, of CPU and of memory."""
        nodes = [self._state.nodes[index] for index in self._open]
        most = [(0, 0, 0)] * (1 + max((node.whole_free for node in nodes), default=0))
        for node in nodes:
            device, cpu, memory = most[node.whole_free]
            here = WHOLE_GPU if node.whole_free else max(node.free)
            most[node.whole_free] = max(device, here), max(cpu, node.free_cpu), max(memory, node.free_memory)
        for number in reversed(range(len(most) - 1)):
            (a, b, c), (x, y, z) = most[number], most[number + 1]
            most[number] = max(a, x), max(b, y), max(c, z)
        self._widest = most
        return most


def room_of(state: State, pools: frozenset[str]) -> Room:
    """Return what is free in these pools, brought up to date."""
    table = state.index_table("room")
    found: Room | None = table.get(pools)
    if found is None:
        found = table[pools] = Room(state, pools)
    else:
        found.refresh()
    return found
