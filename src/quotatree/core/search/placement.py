"""Where do replicas go on free capacity, so that whole nodes stay whole (R3, P7)?

Nodes come best first from the index of their shape (free_index.py). Gangs fill the smallest rack that takes them whole,
when racks are labelled. Replicas of several shapes fill nodes shape by shape; where no order of shapes works, they are packed replica by
replica. Nothing is written: what several replicas take from one node is booked beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations

from quotatree.core.model.effort import ORDERS, PACKINGS
from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.node import Node
from quotatree.core.model.quota import Quota
from quotatree.core.search.free_index import FreeIndex, FreeView, free_index, free_view
from quotatree.core.search.overlay import Nodes, Overlay
from quotatree.core.search.tentative import PoolRooms, Tentative, pick_devices
from quotatree.core.state import State

Wanted = list[tuple[int, Shape]]
"""Replicas to place: index in the job, and shape."""


def find_places(
    state: State, root: Quota, wanted: Wanted, *, now: bool, avoid: frozenset[int] = frozenset(),
    overlay: Overlay | None = None, packed: bool = True,
) -> tuple[Placed, ...] | None:  # fmt: skip
    """Return places for all replicas on free devices, or None. Largest shapes go first; other orders if that fails.

    `now`: on devices free at this moment; False also counts devices of replicas that are leaving. `avoid`: nodes not to
    use. `overlay`: on devices that are free in it, instead of in the state. `packed`: if no order works, replicas of
    several shapes are packed replica by replica.
    """
    if len(wanted) == 1 and overlay is None and not bounded_by_pools(root):  # nearly always
        return _one(state, state.nodes, free_index(state, wanted[0][1], root, now), wanted[0], now, avoid)
    overlay = overlay or Overlay(state)
    rooms = _pool_rooms(overlay, root)
    if rooms is not None and rooms.too_little_for([shape for _, shape in wanted]):
        return None
    if len(wanted) == 1:
        shape = wanted[0][1]
        if rooms is not None:
            avoid = avoid | rooms.closed(shape)
        return _one(state, overlay.nodes, free_view(overlay, shape, root, now), wanted[0], now, avoid)
    by_shape = grouped(wanted)
    for order in orders_of(by_shape):
        found = _in_this_order(overlay, root, order, now, avoid)
        if found is not None:
            return found
    return _packed(overlay, root, by_shape, now, avoid) if packed and len(by_shape) > 1 else None


def first_too_few(state: State, root: Quota, wanted: Wanted, avoid: frozenset[int]) -> tuple[Shape, int, int]:
    """Return the first shape, largest first, of which too few find places beside those before it: how many do, how many should.

    Asked where `find_places` found none for all of them now. Nodes are filled as it does first.
    """
    overlay = Overlay(state)
    tentative, rooms = Tentative(overlay, True), _pool_rooms(overlay, root)
    for shape, indexes in grouped(wanted).items():
        free = free_view(overlay, shape, root, True)
        got = _gang(overlay, free, shape, indexes=indexes, tentative=tentative, avoid=avoid, rooms=rooms)
        if len(got) < len(indexes):
            break
    return shape, len(got), len(indexes)


def grouped(wanted: Wanted) -> dict[Shape, list[int]]:
    """Return the indexes of the replicas of each shape, the largest shape first."""
    found: dict[Shape, list[int]] = {}
    for index, shape in wanted:
        found.setdefault(shape, []).append(index)
    if len(found) == 1:
        return found
    return dict(
        sorted(found.items(), key=lambda e: (-e[0].gpu_milli, -e[0].cpu_milli, -e[0].memory_mib, e[0]))
    )


def orders_of(shapes: dict[Shape, list[int]]) -> Iterator[dict[Shape, list[int]]]:
    """Yield the orders in which shapes are tried as long as none works: as they are, then others."""
    for order in islice(permutations(shapes), ORDERS):
        yield {shape: shapes[shape] for shape in order}


def bounded_by_pools(root: Quota) -> bool:
    """Return whether a root has several pools and shares one with another root.

    Its min alone would not keep it to its part of each (Q1).
    """
    return len(root.spec.draws) > 1 and len(root.tree.pool_mates) > 1


def _pool_rooms(overlay: Overlay, root: Quota) -> PoolRooms | None:
    return PoolRooms(overlay, root) if bounded_by_pools(root) else None


def _in_this_order(
    overlay: Overlay, root: Quota, by_shape: dict[Shape, list[int]], now: bool, avoid: frozenset[int]
) -> tuple[Placed, ...] | None:
    rooms = _pool_rooms(overlay, root)
    tentative = Tentative(overlay, now)
    placed: list[Placed] = []
    for shape, indexes in by_shape.items():
        free = free_view(overlay, shape, root, now)
        if free.total < len(indexes) and not tentative.touched:
            return None
        got = _gang(overlay, free, shape, indexes=indexes, tentative=tentative, avoid=avoid, rooms=rooms)
        if len(got) < len(indexes):
            return None
        placed += got
    placed.sort()
    return tuple(placed)


def _packed(
    overlay: Overlay, root: Quota, by_shape: dict[Shape, list[int]], now: bool, avoid: frozenset[int]
) -> tuple[Placed, ...] | None:
    """Return places for replicas of several shapes that no order of filling nodes found, or None."""
    nodes: dict[Shape, list[Node]] = {}
    for shape, indexes in by_shape.items():
        free = free_view(overlay, shape, root, now)
        if free.total < len(indexes):
            return None
        nodes[shape] = [overlay.node(index) for index in free.take(free.total, avoid)]
    packing = Packing(nodes, Tentative(overlay, now), _pool_rooms(overlay, root))
    found = packing.places([(index, shape) for shape, indexes in by_shape.items() for index in indexes])
    return None if found is None else tuple(sorted(found))


def _one(
    state: State, nodes: Nodes, free: FreeIndex | FreeView, wanted: tuple[int, Shape], now: bool,
    avoid: frozenset[int],
) -> tuple[Placed, ...] | None:  # fmt: skip
    """Return the place of one replica on the best of these nodes, or None; `free` is their index for its shape."""
    best = free.take_one(avoid) if free.total else None
    if best is None:
        return None
    number, shape = wanted
    node = nodes[best]
    devices = pick_devices(state, node, shape, *node.left(now))
    return (Placed(number, best, devices, shape),)


def _gang(
    overlay: Overlay, free: FreeIndex | FreeView, shape: Shape, indexes: list[int], tentative: Tentative,
    avoid: frozenset[int], rooms: PoolRooms | None,
) -> list[Placed]:  # fmt: skip
    """Return places for these replicas of one shape, as many as there are: nodes are filled in turn, in few racks if possible."""
    # The counted slots do not know what other shapes took nor what pools allow: then every node is tried.
    exact = rooms is None and not tentative.touched
    order = _racks_first(overlay.state, free, len(indexes), len(indexes) if exact else free.total, avoid)
    placed: list[Placed] = []
    todo = list(reversed(indexes))
    for node_index in order + [n for n in tentative.touched if n not in order]:
        node = overlay.node(node_index)
        while todo:
            if rooms is not None and not rooms.fits(node, shape):
                break
            devices = tentative.put(node, shape)
            if devices is None:
                break
            if rooms is not None:
                rooms.charge(node, shape)
            placed.append(Placed(todo.pop(), node_index, devices, shape))
        if not todo:
            break
    return placed


def _racks_first(
    state: State, free: FreeIndex | FreeView, wanted: int, slots_needed: int, avoid: frozenset[int]
) -> list[int]:
    """Return nodes to fill, in order: of the smallest rack that holds the whole gang, else of racks with most room first.

    The list ends as soon as its nodes have `slots_needed` slots together.
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


Candidates = dict[Shape, list[Node]]
"""The nodes with room for one replica of each shape, best first; shapes in the order in which they are placed."""


class Packing:
    """The search for places of one job's replicas."""

    __slots__ = ("_candidates", "_looks_left", "_rooms", "_suits", "_tentative")

    def __init__(self, candidates: Candidates, tentative: Tentative, rooms: PoolRooms | None) -> None:
        self._candidates, self._tentative, self._rooms = candidates, tentative, rooms
        self._looks_left = PACKINGS
        self._suits: dict[int, list[Shape]] = {}  # shapes that each node could hold, by its index
        for shape, nodes in candidates.items():
            for node in nodes:
                self._suits.setdefault(node.index, []).append(shape)

    def places(self, wanted: list[tuple[int, Shape]]) -> list[Placed] | None:
        """Return places for all these replicas, given in the order of their shapes; None if none were found."""
        return self._rest(wanted, 0, 0)

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
