"""Which nodes could be freed most cheaply for a shape, without looking at all of them (A4, ADR 0008)?

For a signature (which units may be taken) and a shape, the index keeps the offer of every node (node_offer.py), the sum
of the replicas that evictions make room for (can it ever fit? P7), and for the rungs in use a lower bound A + B*now of
one replica's cost. Costs grow with time at different slopes. No sufficient set grows slower than B, so nodes of equal B
keep their order in one heap for ever; a query computes the bound of the best head anew and accepts it if it did not rise.
Through an overlay the same index is seen with the offers of the touched nodes made anew.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import closing
from heapq import heapify, heappop, heappush
from typing import Any

from quotatree.core.model.effort import ONE_LOOK
from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node
from quotatree.core.model.quota import Quota
from quotatree.core.search.eligible import Signature
from quotatree.core.search.fit import may_use
from quotatree.core.search.free_index import room_of
from quotatree.core.search.node_bound import line_below, lower_bound
from quotatree.core.search.node_offer import LADDER, NO_OFFER, Materials, Offer, Tie, offer_of
from quotatree.core.search.overlay import Overlay
from quotatree.core.state import State

Entry = tuple[int, Tie, int, int]  # A, tie, node, serial


class Bounds:
    """Lower bounds of all nodes up to one rung: a heap for each slope, and the serial of each node's valid entry, 0 at first."""

    __slots__ = ("heaps", "serial")

    def __init__(self) -> None:
        self.heaps: dict[int, list[Entry]] = {}
        self.serial: dict[int, int] = {}


class NodeIndex:
    """Offers and bounds of every node for one signature and shape.

    `total[p]` is the number of replicas that would fit without all eligible units up to rung p. `by_share`: for gangs.
    """

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
        self._materials = materials_of(state, signature, by_share)
        self._rungs: dict[int, Bounds] = {}
        self._rebuild(now_ms)

    @property
    def several_a_node(self) -> bool:
        """Whether a node can hold two replicas of a gang: then one unit may free several slots, and bounds are per slot."""
        return self._per_slot

    def tie_of(self, node_index: int) -> Tie:
        """Smallest tie-break key (newest, name) that any victim on this node can have (P5)."""
        return self._offers[node_index].tie

    def memory_of(self, node: Node) -> dict[int, Any] | None:
        """Return what a search has noted of a node by rung, for this signature and shape; it says itself how long that holds."""
        return self._memory.setdefault(node.index, {})

    def total_without(self, avoid: frozenset[int]) -> list[int]:
        """Return `total` without what the nodes in `avoid` offer."""
        return _less(self.total, (self._offers[node_index] for node_index in avoid))

    def _rebuild(self, now_ms: int) -> None:
        state = self._state
        wanted = max(1, self.shape.whole_gpus)
        self._per_slot = self._by_share and any(
            2 * wanted <= n.spec.gpus for n in state.nodes if n.spec.pool in self._pools
        )
        self._cursor, self._epoch = len(state.changes), state.changes_epoch
        self._nodes_version = state.nodes_version
        self._memory: dict[int, dict[int, Any]] = {}
        self._expiry: list[tuple[int, int]] = []
        self._stale_ms: int | None = None
        if self.shape.cpu_milli or self.shape.memory_mib:
            nodes = [node for node in state.nodes if node.spec.pool in self._pools]
            widest = self._materials.widest(nodes, state.all_changes, now_ms)
            if widest.excludes(self.shape):  # no need to look at each node until the clock changes that
                self._stale_ms = widest.expires_ms
                self._offers = [NO_OFFER] * len(state.nodes)
                self.total, self._rungs = [0] * LADDER, {}
                return
        self._offers = [NO_OFFER] * len(state.nodes)
        self.total = [0] * LADDER
        reaches: list[Sequence[int]] = [self.total]
        looked_at = self._nodes_to_look_at()
        state.work.done += ONE_LOOK * len(looked_at)
        for node in looked_at:
            offer = self._offers[node.index] = self._look_at(node, now_ms)
            if offer.reach[-1]:
                reaches.append(offer.reach)
        self.total = [sum(column) for column in zip(*reaches, strict=True)]
        heapify(self._expiry)
        rungs = list(self._rungs)
        self._rungs = {}
        for rung in rungs:
            self._bounds(rung, now_ms)

    def _nodes_to_look_at(self) -> Collection[Node]:
        """Return nodes among which are all that offer anything: with few units to take, where these stand or there is room."""
        state, signature = self._state, self.signature
        if not signature.only_own or signature.quota.tree.idle_units:
            return state.nodes
        found = {node.index: node for node in room_of(state, self._pools).nodes_for(self.shape)}
        for cls, _ in signature.classes_in(state):
            for bucket in cls.buckets.values():
                for *_, unit in bucket:
                    for index in unit.nodes:
                        found[index] = state.nodes[index]
        return found.values()

    def offer_on(self, node: Node, now_ms: int, materials: Materials | None = None) -> Offer:
        """Return what a node offers, NO_OFFER if it does not suit; without `materials` nothing is remembered."""
        if not may_use(node, self.shape, self._pools):
            return NO_OFFER
        return offer_of(node, self.shape, self.signature, now_ms, self._by_share, materials)

    def known_offer(self, node_index: int) -> Offer:
        return self._offers[node_index]

    def bound(self, offer: Offer, rung: int, now_ms: int) -> tuple[int, int]:
        """Return a lower bound of what one more replica costs up to a rung, and the least slope that it grows with."""
        return lower_bound(offer, rung, now_ms, self._per_slot)

    def _look_at(self, node: Node, now_ms: int) -> Offer:
        offer = self.offer_on(node, now_ms, self._materials)
        if offer.expires_ms is not None:
            self._expiry.append((offer.expires_ms, node.index))
        return offer

    def refresh(self, now_ms: int) -> None:
        """Catch up with the change log and with the clock."""
        state = self._state
        stale = self._stale_ms is not None and self._stale_ms <= now_ms
        if stale or self._epoch != state.changes_epoch or self._nodes_version != state.nodes_version:
            self._rebuild(now_ms)
            return
        fresh = state.changes[self._cursor :]
        self._cursor = len(state.changes)
        changed = dict.fromkeys(fresh)  # each once: many units may come and go on few nodes
        if 2 * len(changed) > len(state.nodes):
            self._rebuild(now_ms)
            return
        while self._expiry and self._expiry[0][0] <= now_ms:
            changed[heappop(self._expiry)[1]] = None
        if not changed:
            return
        expiry, self._expiry = self._expiry, []
        total, offers = self.total, self._offers
        for index in changed:
            offer = self._look_at(state.nodes[index], now_ms)
            before = offers[index].reach
            offers[index] = offer
            if offer.reach != before:
                for p in range(LADDER):
                    total[p] += offer.reach[p] - before[p]
            for rung, bounds in self._rungs.items():
                self._note(bounds, index, rung, now_ms)
        for entry in self._expiry:
            heappush(expiry, entry)
        self._expiry = expiry

    def cheapest_first(
        self, rung: int, now_ms: int, avoid: frozenset[int]
    ) -> Generator[tuple[int, int], None, None]:
        """Yield (lower bound, node index), by bound and then by tie, for nodes where at least one replica can fit.

        Each bound is brought up to date before it is yielded, so it is the one at `now_ms`. Yielded nodes are missing from
        the index until the generator is closed.
        """
        bounds = self._bounds(rung, now_ms)
        heaps, serial, offers = bounds.heaps, bounds.serial, self._offers
        popped: list[tuple[int, Entry]] = []
        fresh: set[int] = set()
        try:
            while True:
                best: tuple[int, Tie, int, int] | None = None
                for slope, heap in heaps.items():
                    while heap and heap[0][3] != serial.get(heap[0][2], 0):
                        heappop(heap)
                    if heap:
                        low, tie, index, _ = heap[0]
                        head = (low + slope * now_ms, tie, index, slope)
                        if best is None or head < best:
                            best = head
                if best is None:
                    return
                value, tie, index, slope = best
                entry = heaps[slope][0]
                if index in fresh:
                    heappop(heaps[slope])
                else:
                    low, grows = lower_bound(offers[index], rung, now_ms, self._per_slot)
                    heappop(heaps[slope])
                    fresh.add(index)
                    slope, entry = grows, (low - grows * now_ms, tie, index, entry[3])
                    if low > value:
                        heappush(heaps.setdefault(slope, []), entry)
                        continue
                popped.append((slope, entry))
                if index not in avoid:
                    yield value, index
        finally:
            for slope, entry in popped:
                heappush(heaps.setdefault(slope, []), entry)

    def _bounds(self, rung: int, now_ms: int) -> Bounds:
        bounds = self._rungs.get(rung)
        if bounds is None:
            bounds = Bounds()
            heaps, per_slot = bounds.heaps, self._per_slot
            for index, offer in enumerate(self._offers):
                if offer.reach[rung]:
                    at_zero, slope = line_below(offer, rung, now_ms, per_slot)
                    heap = heaps.get(slope)
                    if heap is None:
                        heap = heaps[slope] = []
                    heap.append((at_zero, offer.tie, index, 0))
            for heap in heaps.values():
                heapify(heap)
            self._rungs[rung] = bounds
        return bounds

    def _note(self, bounds: Bounds, index: int, rung: int, now_ms: int) -> None:
        """Enter a node's present bound; earlier entries of it become stale."""
        serial = bounds.serial.get(index, 0) + 1
        bounds.serial[index] = serial
        offer = self._offers[index]
        if offer.reach[rung]:
            at_zero, slope = line_below(offer, rung, now_ms, self._per_slot)
            entry = (at_zero, offer.tie, index, serial)
            heappush(bounds.heaps.setdefault(slope, []), entry)


class NodeView:
    """A node index seen through an overlay."""

    def __init__(self, index: NodeIndex, overlay: Overlay, now_ms: int) -> None:
        self._index = index
        self.signature, self.shape = index.signature, index.shape
        self._offers = {n: index.offer_on(node, now_ms) for n, node in overlay.touched.items()}
        known = _less(index.total, (index.known_offer(n) for n in self._offers))
        reaches = [offer.reach for offer in self._offers.values()]
        self.total = [sum(column) for column in zip(known, *reaches, strict=True)]

    @property
    def several_a_node(self) -> bool:
        return self._index.several_a_node

    def tie_of(self, node_index: int) -> Tie:
        offer = self._offers.get(node_index)
        return self._index.tie_of(node_index) if offer is None else offer.tie

    def memory_of(self, node: Node) -> dict[int, Any] | None:
        """Return what the index does; None for a changed copy, of which nothing is noted."""
        return None if node.index in self._offers else self._index.memory_of(node)

    def total_without(self, avoid: frozenset[int]) -> list[int]:
        known = self._index.known_offer
        return _less(self.total, (self._offers[n] if n in self._offers else known(n) for n in avoid))

    def cheapest_first(
        self, rung: int, now_ms: int, avoid: frozenset[int]
    ) -> Generator[tuple[int, int], None, None]:
        """Yield as the index does, with touched nodes by the bounds of their changed copies."""
        touched = sorted(
            (self._index.bound(offer, rung, now_ms)[0], offer.tie, n)
            for n, offer in self._offers.items()
            if offer.reach[rung] and n not in avoid
        )
        with closing(self._index.cheapest_first(rung, now_ms, avoid.union(self._offers))) as others:
            for bound, n in others:
                while touched and touched[0] < (bound, self._index.tie_of(n), n):
                    first = touched.pop(0)
                    yield first[0], first[2]
                yield bound, n
            for bound, _, n in touched:
                yield bound, n


def _less(total: list[int], offers: Iterable[Offer]) -> list[int]:
    """Return `total`, replicas by rung, without what these offers contribute to it."""
    left = list(total)
    for offer in offers:
        if offer.reach[-1]:
            left = [all_of_them - here for all_of_them, here in zip(left, offer.reach, strict=True)]
    return left


def materials_of(state: State, signature: Signature, by_share: bool) -> Materials:
    key = (signature.key, by_share)
    table = state.index_table("materials")
    found: Materials | None = table.get(key)
    if found is None:
        state.keep_indexes("materials")
        found = table[key] = Materials(signature, by_share)
    return found


def node_index(
    state: State, signature: Signature, shape: Shape, root: Quota, by_share: bool, now_ms: int
) -> NodeIndex:
    """Return the index for a signature and shape in the pools of a root, brought up to date."""
    key = (signature.key, shape, by_share)
    table = state.index_table("victims")
    index: NodeIndex | None = table.pop(key, None)
    if index is None:
        pools = root.tree.pools
        index = NodeIndex(state, signature, shape, pools, by_share, now_ms)
        state.keep_indexes("victims")
    else:
        index.refresh(now_ms)
    table[key] = index
    return index


def node_view(
    overlay: Overlay, signature: Signature, shape: Shape, root: Quota, by_share: bool, now_ms: int
) -> NodeIndex | NodeView:
    """Return the index for a signature and shape as seen through an overlay; the state must not change while it is used."""
    key = ("victims", signature.key, shape, by_share)
    index: NodeIndex | None = overlay.views.get(key)
    if index is None:
        index = overlay.views[key] = node_index(overlay.state, signature, shape, root, by_share, now_ms)
    return NodeView(index, overlay, now_ms) if overlay.touched else index
