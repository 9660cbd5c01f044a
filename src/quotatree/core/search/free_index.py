"""How many replicas of a shape fit on free devices, and which node is best for one (R3)?

One index per request shape remembers how many replicas fit on each node and keeps the nodes ordered by how well one fits
(fragmentation.py); it follows the state by a change log, so a question costs what has changed since the last one (A4).
Through an overlay the same index is seen with the touched nodes counted anew. What is free at all, whatever is asked for, is known once for
each set of pools (`Room`): jobs that all ask for something else and all wait would otherwise look at every node once for each of them.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from quotatree.core.model.effort import ONE_LOOK
from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.search.fit import may_use
from quotatree.core.search.overlay import Overlay
from quotatree.core.state import State

Ranked = tuple[int, int]  # how well one more replica fits, node


class FreeIndex:
    """Slots for one shape on the nodes of some pools: those free now, or also those of replicas that are leaving."""

    __slots__ = (
        "_cursor", "_epoch", "_heap", "_nodes_version", "_now", "_picture", "_pools", "_shape", "_state", "_typicals", "_wants_whole",
        "racks", "slots", "total",
    )  # fmt: skip

    def __init__(self, state: State, shape: Shape, pools: frozenset[str], now: bool) -> None:
        self._state, self._shape, self._pools, self._now = state, shape, pools, now
        self._heap: list[tuple[int, int, int]] = []
        self._wants_whole = shape.whole_gpus > 0
        self._rebuild()

    def _rebuild(self) -> None:
        state = self._state
        self.slots = [0] * len(state.nodes)
        self.total = 0
        self.racks: dict[str, int] = {}
        self._cursor, self._epoch = len(state.changes), state.changes_epoch
        self._nodes_version = state.nodes_version
        nodes = room_of(state, self._pools).nodes_for(self._shape)
        state.work.done += ONE_LOOK * len(nodes)
        for node in nodes:
            self._count(node)
        self._rank_anew()

    def take(self, wanted: int, avoid: frozenset[int]) -> list[int]:
        """Return the best nodes, by index, that together have `wanted` slots; all with slots if there are too few."""
        return [index for _, index in self.best(wanted, avoid)]

    def take_one(self, avoid: frozenset[int]) -> int | None:
        """Return the best node, by index; None if none has a slot."""
        heap, nodes, slots = self._heap, self._state.nodes, self.slots
        while heap:
            _, index, stamp = heap[0]
            if nodes[index].stamp != stamp or not slots[index]:
                heappop(heap)
            elif index in avoid:
                break
            else:
                return index
        found = self.take(1, avoid)
        return found[0] if found else None

    def best(self, wanted: int, avoid: frozenset[int]) -> list[Ranked]:
        """Return the nodes of `take` with their ranks, as (rank, node index)."""
        heap, nodes = self._heap, self._state.nodes
        found: dict[int, int] = {}
        entries: list[tuple[int, int, int]] = []
        missing = wanted
        try:
            while heap and missing > 0:
                rank, index, stamp = heap[0]
                if nodes[index].stamp != stamp or not self.slots[index]:
                    heappop(heap)
                    continue
                if index in found:  # the same node twice: a duplicate left by a refresh
                    heappop(heap)
                    continue
                entries.append(heappop(heap))
                if index in avoid:
                    continue
                found[index] = rank
                missing -= self.slots[index]
        finally:
            for entry in entries:
                heappush(heap, entry)
        return [(rank, index) for index, rank in found.items()]

    def refresh(self) -> None:
        """Catch up with the change log, and with changes in which requests are typical."""
        state = self._state
        changes = state.changes
        if self._epoch != state.changes_epoch or self._nodes_version != state.nodes_version:
            self._rebuild()
            return
        fresh = len(changes) - self._cursor
        same_picture = self._picture == state.picture
        if not fresh and same_picture:
            return
        if fresh > 2 * len(state.nodes) or len(self._heap) > 4 * len(state.nodes) + 64:
            self._rebuild()
            return
        touched = (changes[-1],) if fresh == 1 else dict.fromkeys(changes[self._cursor :])
        if same_picture:
            for index in touched:
                node = state.nodes[index]
                if self._count(node):
                    heappush(self._heap, (self.rank(node), index, node.stamp))
        else:
            for index in touched:
                self._count(state.nodes[index])
            self._rank_anew()
        self._cursor = len(changes)

    def _rank_anew(self) -> None:
        state = self._state
        self._picture = state.picture
        self._typicals = {pool: state.typical(pool) for pool in self._pools}
        self._heap = []
        if self.total:
            self._heap = [
                (self.rank(node), node.index, node.stamp) for node in state.nodes if self.slots[node.index]
            ]
            heapify(self._heap)

    def _count(self, node: Node) -> int:
        """Count how many replicas fit on a node, enter that in the totals, and return it."""
        index = node.index
        count, before = self.count(node), self.slots[index]
        if count != before:
            self.slots[index] = count
            self.total += count - before
            self.racks[node.rack] = self.racks.get(node.rack, 0) + count - before
        return count

    def count(self, node: Node) -> int:
        """Return how many replicas fit on a node; 0 if it does not suit."""
        if self._wants_whole and not node.whole_free:
            return 0
        return node.slots(self._shape, self._now) if may_use(node, self._shape, self._pools) else 0

    def rank(self, node: Node) -> int:
        """Return how badly one more replica fits on a node that has room for it: the lowest rank is best."""
        free, cpu_milli, memory_mib = node.left(self._now)
        rank, _ = self._typicals[node.spec.pool].fit(node, self._shape, free, cpu_milli, memory_mib)
        return rank


class FreeView:
    """A free index seen through an overlay."""

    __slots__ = ("_index", "_overlay", "_seen", "racks", "slots", "total")

    def __init__(self, index: FreeIndex, overlay: Overlay) -> None:
        self._index, self._overlay = index, overlay
        self._seen: dict[int, tuple[int, int]] = {}  # touched node -> its stamp, its rank
        self.slots, self.total, self.racks = list(index.slots), index.total, dict(index.racks)

    def refresh(self) -> None:
        """Count and rank anew the touched nodes that have changed since the last call."""
        for index, node in self._overlay.touched.items():
            seen = self._seen.get(index)
            if seen is not None and seen[0] == node.stamp:
                continue
            count = self._index.count(node)
            more = count - self.slots[index]
            self.slots[index] = count
            self.total += more
            self.racks[node.rack] = self.racks.get(node.rack, 0) + more
            self._seen[index] = (node.stamp, self._index.rank(node) if count else 0)

    def take(self, wanted: int, avoid: frozenset[int]) -> list[int]:
        """Return the best nodes, by index, that together have `wanted` slots; all with slots if there are too few."""
        ranked = self._index.best(wanted, avoid.union(self._overlay.touched))
        for index, (_, rank) in self._seen.items():
            if self.slots[index] and index not in avoid:
                ranked.append((rank, index))
        found: list[int] = []
        for _, index in sorted(ranked):
            if wanted <= 0:
                break
            found.append(index)
            wanted -= self.slots[index]
        return found

    def take_one(self, avoid: frozenset[int]) -> int | None:
        """Return the best node, by index; None if none has a slot."""
        found = self.take(1, avoid)
        return found[0] if found else None


def free_index(state: State, shape: Shape, root: Quota, now: bool) -> FreeIndex:
    """Return the index for a shape in a tree's pools, brought up to date."""
    now = now and state.leaving_replicas > 0
    key = (shape, root.tree.pools, now)
    table = state.index_table("free")
    index: FreeIndex | None = table.pop(key, None)
    if index is None:
        index = FreeIndex(state, shape, root.tree.pools, now)
        state.keep_indexes("free")
    else:
        index.refresh()
    table[key] = index
    return index


def free_view(overlay: Overlay, shape: Shape, root: Quota, now: bool) -> FreeIndex | FreeView:
    """Return the index for a shape in a tree's pools as seen through an overlay, brought up to date."""
    if not overlay.touched:
        return free_index(overlay.state, shape, root, now)
    key = ("free", shape, root.spec.id, now)
    view: FreeView | None = overlay.views.get(key)
    if view is None:
        view = overlay.views[key] = FreeView(free_index(overlay.state, shape, root, now), overlay)
    view.refresh()
    return view


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
