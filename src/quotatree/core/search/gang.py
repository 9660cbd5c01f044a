"""The cheapest units that make room for many equal replicas at once (ADR 0008).

Greedy over nodes in the order of their lower bounds. A unit that spans nodes is charged by share, since taking it makes
its other nodes cheaper; which share is right cannot be known, so three rules are run and the cheapest result kept. Then
what is superfluous is put back, dearest first, and a local search with a counted budget tries to replace victims one by
one and to insert units that span several nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from heapq import heappop, heappush

from quotatree.core.model.effort import EXACT, ONE_BY_ONE
from quotatree.core.model.job import Shape
from quotatree.core.model.node import Share
from quotatree.core.model.unit import Unit
from quotatree.core.search.fit import brought_by
from quotatree.core.search.knapsack import Way, cheapest_way
from quotatree.core.search.node_index import node_view
from quotatree.core.search.quota_cover import cheapest_cover
from quotatree.core.search.slot_trial import SlotTrial
from quotatree.core.search.trial import Proposal, Trial, let_stay


def cheapest_for_gang(trial: Trial, shape: Shape, count: int) -> Proposal | None:
    """Return the cheapest set found for `count` replicas of a shape, or None."""
    search = GangSearch(trial, shape, count)
    try:
        return search.run()
    finally:
        search.close()


class ShareRule(Enum):
    """How much of its cost a unit that spans nodes is charged with on one of them."""

    CAPPED = "capped"  # its GPUs here by all its GPUs, or by those still wanted if these are fewer
    FULL = "full"
    PROPORTIONAL = "proportional"


class GangSearch(SlotTrial):
    """One search: `count` replicas of `shape`, and the quota that is short."""

    def __init__(self, trial: Trial, shape: Shape, count: int) -> None:
        super().__init__(trial, shape, count)
        request = trial.request
        index = node_view(trial.overlay, trial.signature, shape, request.root, True, trial.now_ms)
        self._several_a_node = index.several_a_node
        self._by_slot = False
        self._stream = index.cheapest_first(trial.rung, trial.now_ms, request.avoid)
        self._pulled: list[tuple[int, int]] = []
        self._shares: dict[int, list[Share]] = {}
        self._entangled: set[int] = set()  # nodes with units that take others along or go along
        self._spanning: dict[Unit, None] = {}  # units on several nodes
        self._large: dict[Unit, None] = {}  # units on several nodes, or that free several slots on one

    # -- the search ------------------------------------------------------------------------------------------

    def run(self) -> Proposal | None:
        best: Proposal | None = None
        short = self.request.short_of_quota
        if self._gpus and not self._several_a_node:  # parts of a device may have several slots on any node
            found = self._by_nodes_alone()
            if found is not None:
                return found
        for quota_first in (False, True) if short else (False,):
            for by_slot in (False, True) if self._several_a_node else (False,):
                for rule in ShareRule if self.request.effort.thorough else (ShareRule.FULL,):
                    self.reset()
                    self._by_slot = by_slot
                    if self._construct(rule, quota_first):
                        self.request.effort.found()
                        best = self._better(best)
                    if not self._spanning:
                        break
        if not self.request.effort.thorough:
            return best
        if best is not None and (self._spanning or short or not self._simple_shape or self._gpus < 8):
            best = self._improve(best)
        return best

    def close(self) -> None:
        """Give the nodes that were drawn from the index back to it."""
        self._stream.close()

    def _by_nodes_alone(self) -> Proposal | None:
        """Take the cheapest nodes; return that only if no unit seen spans nodes and the set is lawful and frees the quota.

        With one slot a node this is the optimum. Otherwise None.
        """
        if not self._fill(ShareRule.FULL, banned=None) or self._spanning:
            return None
        if not self.quota_is_free():
            return None
        if self.slots > self.count or not all(self.cost_of(u) for u in self.taken):
            self.minimise()  # else every node's cover is a cheapest one, so no unit in it is superfluous
        return self._better(None) if self.lawful() else None

    def _better(self, best: Proposal | None) -> Proposal:
        if best is not None and self.cost() > best.cost:
            return best
        found = self.proposal()
        return found if best is None or found < best else best

    def _construct(self, rule: ShareRule, quota_first: bool) -> bool:
        if quota_first and not self._cover_quota():
            return False
        if not self._fill(rule, banned=None):
            return False
        if not quota_first and not self._cover_quota():
            return False
        self.minimise()
        return self.lawful()

    def _cover_quota(self) -> bool:
        """Take the cheapest units until the quota is free; return False if that cannot be done.

        Surplus that goes with a core may be gone already, so one answer of `cheapest_cover` may not be enough.
        """
        while not self.quota_is_free():
            found = cheapest_cover(self)
            if found is None or not found.units:
                return False
            self.take_all(found.units)
        return True

    def _fill(self, rule: ShareRule, banned: Unit | None) -> bool:
        """Take the units of the cheapest slots until there are `count`; never `banned`. False if there are too few."""
        heap: list[tuple[int, int, int]] = []  # charge, node, serial
        serials: dict[int, int] = {}
        ways: dict[int, Way] = {}
        stream = self._replay()
        upcoming = next(stream, None)

        def offer(node_index: int) -> None:
            serials[node_index] = serials.get(node_index, 0) + 1
            way = self._next_slot(node_index, rule, banned)
            if way is not None:
                ways[node_index] = way
                heappush(heap, (way.charge // way.slots, node_index, serials[node_index]))

        for node_index in list(self._node_freed):
            offer(node_index)
        while self.slots < self.count:
            while upcoming is not None and (not heap or upcoming[0] <= heap[0][0]):
                if upcoming[1] not in serials:
                    offer(upcoming[1])
                upcoming = next(stream, None)
            if not heap:
                return False
            _, node_index, serial = heappop(heap)
            if serial != serials[node_index]:
                continue
            way = ways[node_index]
            if way.slots > self.count - self.slots:
                offer(node_index)  # fewer slots are wanted now than when this way was computed
                continue
            units = way.units
            if self.protections is not None:
                self.request.effort.spend(1 + len(self.taken) // 8)
                if not self.lawful(units):
                    continue
            self.take_all(units)
            for other in dict.fromkeys([index for unit in units for index in unit.nodes]):
                if other != node_index and other not in self._avoid:
                    offer(other)
            offer(node_index)
        return True

    def _replay(self) -> Iterator[tuple[int, int]]:
        """Yield (lower bound, node index) in order: those drawn from the index before, then new ones."""
        yield from list(self._pulled)
        position = len(self._pulled)
        while True:
            while position < len(self._pulled):
                yield self._pulled[position]
                position += 1
            entry = next(self._stream, None)
            if entry is None:
                return
            self._pulled.append(entry)

    # -- one node --------------------------------------------------------------------------------------------

    def _next_slot(self, node_index: int, rule: ShareRule, banned: Unit | None) -> Way | None:
        """Return the cheapest further units on a node that give one more slot there, or None.

        When counting by slot, they may give several slots, as many as are cheapest per slot.
        """
        self.looks += 1
        self.request.effort.spend(2)
        node = self._nodes[node_index]
        shares = self._shares_of(node_index)
        left = shares
        if banned is not None or node_index in self._node_freed:
            left = [s for s in shares if s.unit not in self.taken and s.unit is not banned]
        if not left:
            return None
        if (
            not self._simple_shape
            or node.shared
            or (node_index in self._entangled and any(s.unit.job.composite for s in left))
        ):
            return self._next_slot_in_full(node_index, left, rule)
        free = node.whole_free + self._node_freed.get(node_index, 0)
        need = self._gpus - free % self._gpus
        cost_of, charge = self.cost_of, self._charge
        items = [
            (s.whole, cost_of(s.unit) if len(s.unit.nodes) == 1 else charge(s.unit, s.whole, rule), s.unit)
            for s in left
            if s.whole
        ]
        total = sum([item[0] for item in items])
        if total < need:
            return None
        most = 1
        if self._by_slot:
            most = max(1, min(self.count - self.slots, (total - need) // self._gpus + 1))
        return cheapest_way(need, self._gpus, most, items, total)

    def _next_slot_in_full(self, node_index: int, left: list[Share], rule: ShareRule) -> Way | None:
        """Return units for one more slot where CPU, memory, shared devices or surplus matter, or None.

        Units are added cheapest first until there is a slot; then those not needed are dropped, dearest first.
        """
        node = self._nodes[node_index]
        free = self._free_on(node_index)
        goal = free.slots(self.shape) + 1
        self.request.effort.spend(1 + len(left))
        order = sorted(left, key=lambda s: (self._charge(s.unit, max(1, s.whole), rule), s.unit.name))
        chosen: dict[Unit, list[Share]] = {}
        for share in order:
            chosen[share.unit] = brought_by(node, share.unit)
            free.add(chosen[share.unit])
            if free.slots(self.shape) >= goal:
                break
        else:
            return None

        def spare(unit: Unit) -> bool:
            free.remove(chosen[unit])
            if free.slots(self.shape) >= goal:
                del chosen[unit]
                return True
            free.add(chosen[unit])
            return False

        let_stay(list(chosen), self.cost_of, spare)
        units = list(chosen)
        return Way(sum(self._charge(u, max(1, node.units[u].whole), rule) for u in units), 1, units)

    def _shares_of(self, node_index: int) -> list[Share]:
        found = self._shares.get(node_index)
        if found is None:
            node = self._nodes[node_index]
            found = self.available(node) if self._usable(node_index) else []
            self._shares[node_index] = found
            for share in found:
                if self._entangled_with_core(share.unit):
                    self._entangled.add(node_index)
                if len(share.unit.nodes) > 1:
                    self._spanning[share.unit] = None
                    self._large[share.unit] = None
                elif self._several_a_node and share.whole >= 2 * self._gpus:
                    self._large[share.unit] = None
        return found

    def _entangled_with_core(self, unit: Unit) -> bool:
        """Return whether the unit may take others along, or go along with a core that may be taken here: surplus alone does neither."""
        core = unit.job.core
        if not unit.job.composite or core is None:
            return unit.job.composite
        entitled = self.signature.entitled(core.cls)
        return entitled is not None and entitled.rung <= self.rung

    def _charge(self, unit: Unit, gpus_here: int, rule: ShareRule) -> int:
        cost = self.cost_of(unit)
        if len(unit.nodes) == 1 or rule is ShareRule.FULL:
            return cost
        whole = max(1, unit.footprint.gpu_milli // 1000)
        if rule is ShareRule.CAPPED:
            still_wanted = max(1, (self.count - self.slots) * max(1, self._gpus))
            whole = max(gpus_here, min(whole, still_wanted))
        return cost * gpus_here // whole

    # -- local search ----------------------------------------------------------------------------------------

    def _improve(self, best: Proposal) -> Proposal:
        self.reset()
        for unit in best.units:
            self.take(unit)
        self.looks = 0
        moves = ONE_BY_ONE
        improved = True
        while improved and moves > 0:
            improved = False
            for unit in sorted(self.taken, key=lambda u: (-self.cost_of(u), u.name)):
                if moves <= 0 or 2 * self.looks > EXACT:
                    return best
                moves -= 1
                found = self._try_replace(unit, best)
                if found is not None:
                    best, improved = found, True
                    break
            if improved:
                continue
            for unit in sorted(self._large, key=lambda u: (self.cost_of(u), u.name)):
                if moves <= 0 or 2 * self.looks > EXACT:
                    return best
                if unit in self.taken or self.cost_of(unit) >= best.cost:
                    continue
                moves -= 1
                found = self._try_insert(unit, best)
                if found is not None:
                    best, improved = found, True
                    break
        return best

    def _try_replace(self, unit: Unit, best: Proposal) -> Proposal | None:
        mark = self.mark()
        self.give_back(unit)
        if self._fill(ShareRule.FULL, banned=unit) and self._cover_quota():
            self.minimise()
            found = self._better(best)
            if found is not best and self.lawful():
                return found
        self.undo_to(mark)
        return None

    def _try_insert(self, unit: Unit, best: Proposal) -> Proposal | None:
        mark = self.mark()
        self.take(unit)
        self.minimise(keep=unit)
        self.minimise()
        found = self._better(best)
        if found is not best and self.lawful():
            return found
        self.undo_to(mark)
        return None
