"""Which nodes could be freed most cheaply for a shape, without looking at all of them (A4, algorithms 1-3).

For a signature (who may be taken) and a shape, the index keeps for every node

    reach[p]   replicas that would fit if every eligible unit up to ladder step p left   (summed: can it ever fit? P7)
    bound      a lower bound A + B*now on the cost of one replica                        (for the steps p in use)

Costs grow with time at different slopes. B is a slope no sufficient set can be below, so nodes of equal B keep their
order in one heap for ever; a query looks at the heads, evaluates the best exactly and accepts it if it did not rise.
Units whose cost or protection changes by the clock alone (declared checkpoint intervals, min_runtime) put an expiry on
their node's entry.
"""

from __future__ import annotations

from collections.abc import Generator
from heapq import heapify, heappop, heappush
from typing import Final

from quotatree.core.eligible import Signature
from quotatree.core.job import Shape
from quotatree.core.node import Node
from quotatree.core.policy import HIGHEST_PRIORITY
from quotatree.core.quota import Quota
from quotatree.core.resources import WHOLE_GPU
from quotatree.core.state import State
from quotatree.core.unit import UnitKind

LADDER: Final = HIGHEST_PRIORITY + 1
"""Ladder steps: 0 for idle and surplus, then priorities 1..9."""
INDEXES_KEPT: Final = 128
NO_REACH: Final = (0,) * LADDER

Entry = tuple[int, int, int]  # A, node, serial


class Bounds:
    """Lower bounds of all nodes up to one ladder step, heaps by slope."""

    __slots__ = ("heaps", "serial")

    def __init__(self) -> None:
        self.heaps: dict[int, list[Entry]] = {}
        self.serial: dict[int, int] = {}


class NodeIndex:
    """Reach and bounds of every node for one signature and shape."""

    def __init__(
        self,
        state: State,
        signature: Signature,
        shape: Shape,
        pools: frozenset[str],
        by_share: bool,
        now_ms: int,
    ) -> None:
        self._state, self.signature, self.shape, self._pools = state, signature, shape, pools
        self._by_share = by_share
        self.several_a_node = by_share and self._shape_fits_twice()
        self._steps: dict[int, Bounds] = {}
        self._rebuild(now_ms)

    def _shape_fits_twice(self) -> bool:
        """Can one node hold two replicas? Then one unit may free several slots, and bounds are per slot."""
        wanted = max(1, self.shape.whole_gpus)
        return any(2 * wanted <= n.spec.gpus for n in self._state.nodes if n.spec.pool in self._pools)

    def _rebuild(self, now_ms: int) -> None:
        state = self._state
        self._cursor, self._epoch = len(state.changes), state.changes_epoch
        self._nodes_version = state.nodes_version
        self.reach: list[tuple[int, ...]] = [NO_REACH] * len(state.nodes)
        self.total = [0] * LADDER
        self._expiry: list[tuple[int, int]] = []
        steps = list(self._steps)
        self._steps = {}
        total = self.total
        for node in state.nodes:
            if node.spec.pool in self._pools and node.suits(self.shape):
                reach = self._reach(node, now_ms)
                if reach is not NO_REACH:
                    self.reach[node.index] = reach
                    for p in range(LADDER):
                        total[p] += reach[p]
        heapify(self._expiry)
        for step in steps:
            self._bounds(step, now_ms)

    def refresh(self, now_ms: int) -> None:
        """Catch up with the change log and with the clock."""
        state = self._state
        if self._epoch != state.changes_epoch or self._nodes_version != state.nodes_version:
            self._rebuild(now_ms)
            return
        fresh = state.changes[self._cursor :]
        self._cursor = len(state.changes)
        if len(fresh) > 2 * len(state.nodes):
            self._rebuild(now_ms)
            return
        changed = dict.fromkeys(fresh)
        while self._expiry and self._expiry[0][0] <= now_ms:
            changed[heappop(self._expiry)[1]] = None
        total = self.total
        for index in changed:
            node = state.nodes[index]
            suits = node.spec.pool in self._pools and node.suits(self.shape)
            reach = self._reach(node, now_ms) if suits else NO_REACH
            before = self.reach[index]
            if reach != before:
                self.reach[index] = reach
                for p in range(LADDER):
                    total[p] += reach[p] - before[p]
            for step, bounds in self._steps.items():
                self._note(bounds, node, step, now_ms)

    def _reach(self, node: Node, now_ms: int) -> tuple[int, ...]:
        """Replicas that fit once everybody eligible up to each ladder step has left."""
        shape, signature = self.shape, self.signature
        if shape[1] or shape[2] or node.shared or not shape.whole_gpus:
            return self._reach_in_full(node, now_ms)
        freed = [0] * LADDER
        entitled_of = signature.entitled
        for share in node.units.values():
            unit = share.unit
            entitled = entitled_of(unit.cls)
            if entitled is None:
                continue
            if entitled.honours_min_runtime and unit.protected_until_ms > now_ms:
                heappush(self._expiry, (unit.protected_until_ms, node.index))
                continue
            freed[entitled.ladder] += share.whole
        wanted = shape.whole_gpus
        gpus = node.whole_free
        reach = []
        for step in freed:
            gpus += step
            reach.append(gpus // wanted)
        return tuple(reach) if reach[-1] else NO_REACH

    def _reach_in_full(self, node: Node, now_ms: int) -> tuple[int, ...]:
        """The same with CPU, memory, shared devices and fractions."""
        shape, signature = self.shape, self.signature
        cpu, memory, whole = [0] * LADDER, [0] * LADDER, [0] * LADDER
        opened: list[dict[int, int]] = [{} for _ in range(LADDER)]
        for share in node.units.values():
            unit = share.unit
            entitled = signature.entitled(unit.cls)
            if entitled is None:
                continue
            if entitled.honours_min_runtime and unit.protected_until_ms > now_ms:
                heappush(self._expiry, (unit.protected_until_ms, node.index))
                continue
            p = entitled.ladder
            whole[p] += share.whole
            cpu[p] += share.cpu_milli
            memory[p] += share.memory_mib
            for device, milli in share.fractions:
                opened[p][device] = opened[p].get(device, 0) + milli
        free = list(node.free)
        gpus = gone_whole = 0
        free_cpu, free_memory = node.free_cpu, node.free_memory
        reach = []
        for p in range(LADDER):
            gone_whole += whole[p]
            free_cpu += cpu[p]
            free_memory += memory[p]
            for device, milli in opened[p].items():
                free[device] += milli
            if shape.gpu_milli >= WHOLE_GPU:
                gpus = (free.count(WHOLE_GPU) + gone_whole) // shape.whole_gpus
            elif shape.gpu_milli:
                gpus = sum(f // shape.gpu_milli for f in free) + gone_whole * (WHOLE_GPU // shape.gpu_milli)
            else:
                gpus = 1 << 30
            if shape.cpu_milli:
                gpus = min(gpus, free_cpu // shape.cpu_milli)
            if shape.memory_mib:
                gpus = min(gpus, free_memory // shape.memory_mib)
            reach.append(max(0, gpus))
        return tuple(reach) if reach[-1] else NO_REACH

    # -- bounds ----------------------------------------------------------------------------------------------

    def cheapest_first(
        self, highest: int, now_ms: int, avoid: frozenset[int]
    ) -> Generator[tuple[int, int], None, None]:
        """(lower bound, node) in ascending order of the bound, for nodes that reach at least one replica.

        Bounds are brought up to date as they come up, so what is yielded has its true bound at `now_ms`.
        """
        bounds = self._bounds(highest, now_ms)
        heaps, serial, nodes = bounds.heaps, bounds.serial, self._state.nodes
        popped: list[tuple[int, Entry]] = []
        fresh: set[int] = set()
        try:
            while True:
                best: tuple[int, int, int] | None = None
                for slope, heap in heaps.items():
                    while heap and heap[0][2] != serial.get(heap[0][1]):
                        heappop(heap)
                    if heap:
                        head = (heap[0][0] + slope * now_ms, heap[0][1], slope)
                        if best is None or head < best:
                            best = head
                if best is None:
                    return
                value, index, slope = best
                entry = heappop(heaps[slope])
                if index not in fresh:
                    fresh.add(index)
                    low, slope, _ = self.lower_bound(nodes[index], highest, now_ms)
                    entry = (low - slope * now_ms, index, entry[2])
                    if low > value:
                        heappush(heaps.setdefault(slope, []), entry)
                        continue
                popped.append((slope, entry))
                if index not in avoid:
                    yield value, index
        finally:
            for slope, entry in popped:
                heappush(heaps.setdefault(slope, []), entry)

    def _bounds(self, highest: int, now_ms: int) -> Bounds:
        bounds = self._steps.get(highest)
        if bounds is None:
            bounds = Bounds()
            heaps, serial = bounds.heaps, bounds.serial
            nodes = self._state.nodes
            for index, reach in enumerate(self.reach):
                if reach[highest]:
                    low, slope, expires = self.lower_bound(nodes[index], highest, now_ms)
                    serial[index] = 0
                    heap = heaps.get(slope)
                    if heap is None:
                        heap = heaps[slope] = []
                    heap.append((low - slope * now_ms, index, 0))
                    if expires is not None:
                        heappush(self._expiry, (expires, index))
            for heap in heaps.values():
                heapify(heap)
            self._steps[highest] = bounds
        return bounds

    def _note(self, bounds: Bounds, node: Node, highest: int, now_ms: int) -> None:
        """Enter a node's present bound; earlier entries of it become stale."""
        index = node.index
        serial = bounds.serial.get(index, 0) + 1
        bounds.serial[index] = serial
        if not self.reach[index][highest]:
            return
        low, slope, expires = self.lower_bound(node, highest, now_ms)
        heappush(bounds.heaps.setdefault(slope, []), (low - slope * now_ms, index, serial))
        if expires is not None:
            heappush(self._expiry, (expires, index))

    def lower_bound(self, node: Node, highest: int, now_ms: int) -> tuple[int, int, int | None]:
        """(cost nothing sufficient is below, slope it grows with at least, when this must be looked at again).

        By GPUs alone. In an index by share a unit that spans nodes costs here what part of it stands here.
        """
        signature, by_share = self.signature, self._by_share
        wanted = self.shape.whole_gpus
        if self._by_share and wanted:
            need = wanted - node.whole_free % wanted
        else:
            need = (wanted - node.whole_free) if wanted else (0 if self._fits_fraction(node) else 1)
        if need <= 0:
            return 0, 0, None
        items: list[tuple[int, int]] = []
        density: int | None = None
        expires: int | None = None
        shared = node.shared
        for share in node.units.values():
            unit = share.unit
            entitled = signature.entitled(unit.cls)
            if entitled is None or entitled.ladder > highest:
                continue
            if entitled.honours_min_runtime and unit.protected_until_ms > now_ms:
                continue
            gpus = share.whole
            slope = unit.slope
            cost = unit.base + slope * unit.age_ms(now_ms) if slope else unit.base
            if unit.cap_ms is not None:
                slope = 0
            elif unit.interval_ms is not None:
                slope = 0
                due = now_ms + unit.interval_ms - unit.age_ms(now_ms)
                expires = due if expires is None else min(expires, due)
            if shared and (share.fractions or not gpus):
                cost, gpus = 0, max(1, gpus + len(share.fractions))
                slope = 0
            elif unit.job.surplus and unit.cls.kind is UnitKind.CORE:
                gpus += sum(node.units[s].whole for s in unit.job.surplus.values() if s in node.units)
                cost += sum(s.base for s in unit.job.surplus.values())
            if not gpus:
                continue
            if by_share and len(unit.nodes) > 1:
                whole_unit = max(1, unit.footprint[0] // WHOLE_GPU)
                cost = cost * gpus // whole_unit
                slope = slope * gpus // whole_unit
            items.append((gpus, cost))
            per_gpu = slope // gpus
            density = per_gpu if density is None or per_gpu < density else density
        if self.several_a_node:
            least = min((cost // gpus for gpus, cost in items), default=0)
            return need * least, need * (density or 0), expires
        return _cover_cost(need, items), need * (density or 0), expires

    def _fits_fraction(self, node: Node) -> bool:
        milli = self.shape.fraction_milli
        return not milli or any(free >= milli for free in node.free)


def _cover_cost(need: int, items: list[tuple[int, int]]) -> int:
    """Least cost of items with at least `need` GPUs together; of all of them if they are not enough."""
    if need == 1:
        return min((cost for _, cost in items), default=0)
    total = sum(gpus for gpus, _ in items)
    if total <= need:
        return sum(cost for _, cost in items)
    if total == len(items):
        return sum(sorted(cost for _, cost in items)[:need])
    unreachable = 1 << 200
    best = [0] + [unreachable] * need
    for gpus, cost in items:
        for j in range(need, 0, -1):
            candidate = cost + (best[j - gpus] if j > gpus else 0)
            if candidate < best[j]:
                best[j] = candidate
    return best[need]


def node_index(
    state: State, signature: Signature, shape: Shape, root: Quota, by_share: bool, now_ms: int
) -> NodeIndex:
    """The up-to-date index for a signature and shape."""
    pools = frozenset(pool for pool, _ in root.spec.draws)
    key = ("victims", signature.key, shape, pools, by_share)
    index: NodeIndex | None = state.indexes.pop(key, None)
    if index is None:
        index = NodeIndex(state, signature, shape, pools, by_share, now_ms)
        if len(state.indexes) >= INDEXES_KEPT:
            state.indexes.pop(next(iter(state.indexes)))
    else:
        index.refresh(now_ms)
    state.indexes[key] = index
    return index
