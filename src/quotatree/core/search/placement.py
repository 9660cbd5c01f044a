"""Where replicas go on free capacity, so that whole nodes stay whole (R3, P7).

One index per request shape remembers how many replicas fit on each node and keeps the nodes ordered by how well one fits
(fragmentation.py); it follows the state by a change log, so a question costs what has changed since the last one (A4). Gangs fill the
smallest rack that takes them whole, when racks are labelled.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import islice, permutations
from typing import Final

from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.node import Node
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.state import State

INDEXES_KEPT: Final = 256
UNBOUNDED_MILLI: Final = 1 << 60
ORDERS_TRIED: Final = 6
"""Orders of the shapes of one job that are tried, largest first to begin with."""

Wanted = list[tuple[int, Shape]]
"""Replicas to place: index in the job, and shape."""


class FreeIndex:
    """Slots for one shape on the nodes of some pools: now, or by plan (with what is leaving)."""

    __slots__ = (
        "_cursor",
        "_epoch",
        "_heap",
        "_nodes_version",
        "_now",
        "_picture",
        "_pools",
        "_shape",
        "_state",
        "_typicals",
        "_wants_whole",
        "racks",
        "slots",
        "total",
    )

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
        for node in state.nodes:
            self._count(node)
        self._rank_anew()

    def refresh(self) -> None:
        """Catch up with the change log, and with what is usually asked for."""
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
        if same_picture:
            for index in dict.fromkeys(changes[self._cursor :]):
                node = state.nodes[index]
                if self._count(node):
                    heappush(self._heap, self._entry(node))
        else:
            for index in dict.fromkeys(changes[self._cursor :]):
                self._count(state.nodes[index])
            self._rank_anew()
        self._cursor = len(changes)

    def _rank_anew(self) -> None:
        state = self._state
        self._picture = state.picture
        self._typicals = {pool: state.typical(pool) for pool in self._pools}
        self._heap = [self._entry(node) for node in state.nodes if self.slots[node.index]]
        heapify(self._heap)

    def _count(self, node: Node) -> int:
        """How many replicas fit on a node, remembered."""
        index = node.index
        count = 0
        if (node.whole_free or not self._wants_whole) and node.spec.pool in self._pools:
            count = node.slots(self._shape, self._now) if node.suits(self._shape) else 0
        before = self.slots[index]
        if count != before:
            self.slots[index] = count
            self.total += count - before
            self.racks[node.rack] = self.racks.get(node.rack, 0) + count - before
        return count

    def _entry(self, node: Node) -> tuple[int, int, int]:
        free, cpu_milli, memory_mib = node.left(self._now)
        rank, _ = self._typicals[node.spec.pool].fit(node, self._shape, free, cpu_milli, memory_mib)
        return rank, node.index, node.stamp

    def in_order(self, avoid: frozenset[int]) -> list[int]:
        """Nodes with room, best first, as few as hold one slot; see `take`."""
        return self.take(1, avoid)

    def take(self, wanted: int, avoid: frozenset[int]) -> list[int]:
        """The best nodes that together have `wanted` slots; fewer if there are not so many."""
        heap, nodes = self._heap, self._state.nodes
        found: dict[int, None] = {}
        entries = []
        missing = wanted
        while heap and missing > 0:
            entry = heap[0]
            index = entry[1]
            if nodes[index].stamp != entry[2] or not self.slots[index]:
                heappop(heap)
                continue
            if index in found:  # the same node twice: a duplicate left by a refresh
                heappop(heap)
                continue
            entries.append(heappop(heap))
            if index in avoid:
                continue
            found[index] = None
            missing -= self.slots[index]
        for entry in entries:
            heappush(heap, entry)
        return list(found)


def free_index(state: State, shape: Shape, root: Quota, now: bool) -> FreeIndex:
    """The up-to-date index for a shape in a tree's pools."""
    now = now and state.leaving_replicas > 0
    pools = frozenset(pool for pool, _ in root.spec.draws)
    key = ("free", shape, pools, now)
    index: FreeIndex | None = state.indexes.pop(key, None)
    if index is None:
        index = FreeIndex(state, shape, pools, now)
        state.keep_indexes("free", INDEXES_KEPT)
    else:
        index.refresh()
    state.indexes[key] = index
    return index


def find_places(
    state: State, root: Quota, wanted: Wanted, *, now: bool, avoid: frozenset[int] = frozenset()
) -> tuple[Placed, ...] | None:
    """Places for all replicas on free devices, or None. Largest replicas first; other orders if that fails."""
    if len(wanted) == 1:
        return _one(state, root, wanted[0], now, avoid, _pool_rooms(state, root))
    by_shape: dict[Shape, list[int]] = {}
    for index, shape in wanted:
        by_shape.setdefault(shape, []).append(index)
    largest_first = sorted(by_shape, key=lambda s: (-s.gpu_milli, -s.cpu_milli, -s.memory_mib, s))
    for order in islice(permutations(largest_first), ORDERS_TRIED):
        found = _in_this_order(state, root, order, by_shape, now, avoid)
        if found is not None:
            return found
    return None


def _pool_rooms(state: State, root: Quota) -> PoolRooms | None:
    return PoolRooms(state, root) if bounded_by_pools(root) else None


def bounded_by_pools(root: Quota) -> bool:
    """Does a root with several pools share one with another root? Its min alone would not keep it to its part (Q1)."""
    return len(root.spec.draws) > 1 and len(root.pool_mates) > 1


def _in_this_order(
    state: State, root: Quota, order: tuple[Shape, ...], by_shape: dict[Shape, list[int]], now: bool,
    avoid: frozenset[int],
) -> tuple[Placed, ...] | None:  # fmt: skip
    rooms = _pool_rooms(state, root)
    overlay = Overlay(state, now)
    placed: list[Placed] = []
    for shape in order:
        indexes = by_shape[shape]
        free = free_index(state, shape, root, now)
        if free.total < len(indexes) and not overlay.touched:
            return None
        got = _gang(state, free, shape, indexes=indexes, overlay=overlay, avoid=avoid, rooms=rooms)
        if got is None:
            return None
        placed += got
    placed.sort()
    return tuple(placed)


def _one(
    state: State,
    root: Quota,
    wanted: tuple[int, Shape],
    now: bool,
    avoid: frozenset[int],
    rooms: PoolRooms | None,
) -> tuple[Placed, ...] | None:
    index, shape = wanted
    free = free_index(state, shape, root, now)
    if not free.total:
        return None
    if rooms is not None:
        avoid = avoid | rooms.closed(shape)
    found = free.in_order(avoid)
    if not found:
        return None
    node = state.nodes[found[0]]
    devices = pick_devices(state, node, shape, *node.left(now))
    return (Placed(index, node.index, devices, shape),)


def pick_devices(
    state: State, node: Node, shape: Shape, free: list[int], cpu_milli: int, memory_mib: int
) -> tuple[int, ...]:
    """Devices for one replica that is known to fit: the lowest whole ones, or the one best shared."""
    if shape.gpu_milli < WHOLE_GPU:
        if shape.gpu_milli == 0:
            return ()
        _, device_free = state.typical(node.spec.pool).fit(node, shape, free, cpu_milli, memory_mib)
        return (free.index(device_free),)
    return tuple([device for device, left in enumerate(free) if left == WHOLE_GPU][: shape.whole_gpus])


def _gang(
    state: State, free: FreeIndex, shape: Shape, indexes: list[int], overlay: Overlay, avoid: frozenset[int],
    rooms: PoolRooms | None,
) -> list[Placed] | None:  # fmt: skip
    """Fill nodes one after the other, best first, inside as few racks as can be."""
    exact = (
        rooms is None and not overlay.touched
    )  # else the slots counted are not all there: look at every node
    order = _racks_first(state, free, len(indexes), len(indexes) if exact else free.total, avoid)
    placed: list[Placed] = []
    todo = list(reversed(indexes))
    for node_index in order + [n for n in overlay.touched if n not in order]:
        node = state.nodes[node_index]
        while todo:
            if rooms is not None and not rooms.fits(node, shape):
                break
            devices = overlay.put(node, shape)
            if devices is None:
                break
            if rooms is not None:
                rooms.charge(node, shape)
            placed.append(Placed(todo.pop(), node_index, devices, shape))
        if not todo:
            return placed
    return None


def _racks_first(
    state: State, free: FreeIndex, wanted: int, slots_needed: int, avoid: frozenset[int]
) -> list[int]:
    """Nodes to fill, in order: the smallest rack that holds the whole gang, else racks with most room first.

    As many nodes as have `slots_needed` slots together.
    """
    if sum(1 for slots in free.racks.values() if slots) <= 1:
        return free.take(slots_needed, avoid)
    room = dict(free.racks)
    for index in avoid:
        room[state.nodes[index].rack] = room.get(state.nodes[index].rack, 0) - free.slots[index]
    racks = [rack for _, rack in sorted((slots, rack) for rack, slots in room.items() if slots >= wanted)]
    racks += [rack for _, rack in sorted((-s, r) for r, s in room.items() if 0 < s < wanted)]
    members: dict[str, list[int]] = {}
    for index, slots in enumerate(free.slots):
        if slots and index not in avoid:
            members.setdefault(state.nodes[index].rack, []).append(index)
    order: list[int] = []
    missing = slots_needed
    for rack in racks:
        inside = sorted(members.get(rack, ()), key=lambda n: (-free.slots[n], n))
        for index in inside:
            order.append(index)
            missing -= free.slots[index]
            if missing <= 0:
                return order
    return order


class Overlay:
    """What the nodes would have left after tentative placements; nothing is written to them."""

    __slots__ = ("_now", "_state", "touched")

    def __init__(self, state: State, now: bool) -> None:
        self._state, self._now = state, now
        self.touched: dict[int, tuple[list[int], int, int]] = {}

    def put(self, node: Node, shape: Shape) -> tuple[int, ...] | None:
        """Devices for one more replica, or None if it does not fit any more."""
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
    """How much a root that draws on several pools may still take from each; only pools it shares bind (Q1)."""

    __slots__ = ("_left", "_state")

    def __init__(self, state: State, root: Quota) -> None:
        self._state = state
        self._left: dict[str, int] = {}
        shared = {pool for mate in root.pool_mates if mate is not root for pool, _ in mate.spec.draws}
        for pool, bounds in root.spec.draws:
            part = (bounds.gpu_milli or 0) if pool in shared else UNBOUNDED_MILLI
            self._left[pool] = part - root.pool_used.get(pool, 0)

    def left(self, pool: str) -> int:
        return self._left[pool]

    def fits(self, node: Node, shape: Shape) -> bool:
        return shape.gpu_milli <= self._left[node.spec.pool]

    def charge(self, node: Node, shape: Shape) -> None:
        self._left[node.spec.pool] -= shape.gpu_milli

    def closed(self, shape: Shape) -> frozenset[int]:
        """Nodes of pools from which nothing of this shape may be taken any more."""
        shut = {pool for pool, left in self._left.items() if shape.gpu_milli > left}
        return frozenset(n.index for n in self._state.nodes if n.spec.pool in shut) if shut else frozenset()
