"""What a search for a gang has taken so far, and how many slots and how much quota that gives.

Nothing is written to the nodes: taking and giving back are booked here, by log, so that a move of the local search can
be undone.
"""

from __future__ import annotations

from quotatree.core.model.job import Shape
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import Unit, companions, eviction_cost
from quotatree.core.search.eligible import Signature
from quotatree.core.search.one_node import slots_without
from quotatree.core.search.placement import FreeIndex
from quotatree.core.state import State


class Removal:
    """Units gone, for `wanted` replicas of `shape` and `deficit` of quota."""

    def __init__(
        self, state: State, signature: Signature, shape: Shape, free: FreeIndex, wanted: int, deficit: Resources,
        now_ms: int, avoid: frozenset[int],
    ) -> None:  # fmt: skip
        self._state, self._signature, self._shape = state, signature, shape
        self._wanted, self._deficit, self._now_ms, self._avoid = wanted, deficit, now_ms, avoid
        self._gpus = shape.whole_gpus
        self._simple_shape = bool(self._gpus and not shape.cpu_milli and not shape.memory_mib)
        self._base = free.total - sum(free.slots[n] for n in avoid)
        self._free_slots = free.slots
        self._costs: dict[Unit, int] = {}
        self._usable_nodes: dict[int, bool] = {}
        self._steps = 0
        self._reset()

    def _reset(self) -> None:
        self._gone: dict[Unit, None] = {}
        self._slots = self._base
        self._node_slots: dict[int, int] = {}
        self._node_freed: dict[int, int] = {}
        self._freed = [0, 0, 0]
        self._log: list[tuple[Unit, bool]] = []

    def _cost(self, unit: Unit) -> int:
        cost = self._costs.get(unit)
        if cost is None:
            cost = self._costs[unit] = eviction_cost(unit, self._now_ms)
        return cost

    def _take(self, unit: Unit) -> None:
        if unit in self._gone:
            return
        self._log.append((unit, True))
        self._gone[unit] = None
        self._account(unit, 1)

    def _restore(self, unit: Unit) -> None:
        self._log.append((unit, False))
        del self._gone[unit]
        self._account(unit, -1)

    def _account(self, unit: Unit, sign: int) -> None:
        """Book a unit, and what goes along with it and is not gone by itself (P12)."""
        self._steps += 1
        if not unit.job.composite:
            self._book(unit, sign)
            return
        core = unit.job.core
        if unit is not core and core in self._gone:
            return  # it went along already
        self._book(unit, sign)
        for piece in companions(unit):
            if piece not in self._gone:
                self._book(piece, sign)

    def _book(self, unit: Unit, sign: int) -> None:
        entitled = self._signature.entitled(unit.cls)
        if entitled is not None and entitled.frees_quota:
            gpu_milli, cpu_milli, memory_mib = unit.footprint
            freed = self._freed
            freed[0] += sign * gpu_milli
            freed[1] += sign * cpu_milli
            freed[2] += sign * memory_mib
        nodes = self._state.nodes
        for node_index in unit.nodes:
            node = nodes[node_index]
            share = node.units.get(unit)
            if share is None:  # lifted already for another group of the same job
                continue
            freed_here = self._node_freed.get(node_index, 0) + sign * share.whole
            self._node_freed[node_index] = freed_here
            if not self._usable(node_index):
                continue
            before = self._node_slots.get(node_index)
            if before is None:
                before = self._free_slots[node_index]
            if self._simple_shape and not node.shared:
                after = (node.whole_free + freed_here) // self._gpus
            else:
                after = self._slots_on(node_index)
            self._node_slots[node_index] = after
            self._slots += after - before

    def _slots_on(self, node_index: int) -> int:
        node = self._state.nodes[node_index]
        if self._simple_shape and not node.shared:
            return (node.whole_free + self._node_freed.get(node_index, 0)) // self._gpus
        return slots_without(node, self._shape, [u for u in self._gone if stands_on(u, node_index)])

    def _usable(self, node_index: int) -> bool:
        usable = self._usable_nodes.get(node_index)
        if usable is None:
            usable = node_index not in self._avoid and self._state.nodes[node_index].suits(self._shape)
            self._usable_nodes[node_index] = usable
        return usable

    def _put_back(self, kept: Unit | None = None) -> None:
        """P8: dearest first, whoever is not needed for slots or quota stays."""
        for unit in sorted(self._gone, key=lambda u: (-self._cost(u), u.started_ms, u.name)):
            if unit is kept or self._clearly_needed(unit):
                continue
            self._restore(unit)
            if self._slots < self._wanted or any(self._freed[i] < self._deficit[i] for i in range(3)):
                self._take(unit)

    def _clearly_needed(self, unit: Unit) -> bool:
        """Would giving this unit back lose a slot too many? Without trying; False means: try."""
        if not self._simple_shape or unit.job.composite:
            return False
        spare = self._slots - self._wanted
        for node_index in unit.nodes:
            node = self._state.nodes[node_index]
            if node.shared or not self._usable(node_index):
                continue
            left = node.whole_free + self._node_freed[node_index] - node.units[unit].whole
            spare -= self._node_slots[node_index] - left // self._gpus
        return spare < 0

    def _undo_to(self, mark: int) -> None:
        while len(self._log) > mark:
            unit, was_taken = self._log.pop()
            if was_taken:
                del self._gone[unit]
                self._account(unit, -1)
            else:
                self._gone[unit] = None
                self._account(unit, 1)


def stands_on(unit: Unit, node_index: int) -> bool:
    if node_index in unit.nodes:
        return True
    return any(node_index in piece.nodes for piece in companions(unit))
