"""The cheapest units that make room for many equal replicas at once (algorithms 5).

Greedy over nodes in the order of their lower bounds. A unit that spans nodes is charged by share, since taking it makes
its other nodes cheaper; which share is right cannot be known, so three rules are run and the cheapest result kept. Then
what is superfluous is put back, dearest first, and a local search with a counted budget tries to replace victims one by
one and to insert units that span several nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from heapq import heappop, heappush
from typing import Final

from quotatree.core.candidates import NodeIndex
from quotatree.core.eligible import Protections
from quotatree.core.gang_way import Way, cheapest_way
from quotatree.core.job import Shape
from quotatree.core.node import Share
from quotatree.core.node_search import Taken, available, slots_without, taken, with_companions
from quotatree.core.placement import FreeIndex
from quotatree.core.quota_cover import cheapest_cover
from quotatree.core.resources import ZERO, Resources
from quotatree.core.state import State
from quotatree.core.unit import Unit, companions, eviction_cost

MOVES: Final = 64
"""Moves of the local search."""
STEPS: Final = 6_000
"""Nodes looked at and units taken or given back by the local search in all."""


class ShareRule(Enum):
    """What a unit that spans nodes is charged with on one of them."""

    CAPPED = "capped"  # by its part here of what is still wanted at most
    FULL = "full"
    PROPORTIONAL = "proportional"


class GangSearch:
    """One search: `wanted` replicas of `shape`, units up to ladder step `highest`, `deficit` of quota to free."""

    def __init__(
        self, state: State, index: NodeIndex, free: FreeIndex, wanted: int, deficit: Resources, highest: int,
        now_ms: int, protections: Protections | None, avoid: frozenset[int],
    ) -> None:  # fmt: skip
        self._state, self._index, self._signature = state, index, index.signature
        self._shape: Shape = index.shape
        self._wanted, self._deficit, self._highest, self._now_ms = wanted, deficit, highest, now_ms
        self._protections = protections
        self._avoid = avoid
        shape = self._shape
        self._simple_shape = bool(shape.whole_gpus and not shape.cpu_milli and not shape.memory_mib)
        self._gpus = shape.whole_gpus
        self._several_a_node = index.several_a_node
        self._by_slot = False
        self._base = free.total - sum(free.slots[n] for n in avoid)
        self._free_slots = free.slots
        self._stream = index.cheapest_first(highest, now_ms, avoid)
        self._pulled: list[tuple[int, int]] = []
        self._shares: dict[int, list[Share]] = {}
        self._costs: dict[Unit, int] = {}
        self._spanning: dict[Unit, None] = {}  # units on several nodes
        self._large: dict[Unit, None] = {}  # and those that alone free several slots
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

    # -- the search ------------------------------------------------------------------------------------------

    def run(self) -> Taken | None:
        best: Taken | None = None
        short = any(amount > 0 for amount in self._deficit)
        if not self._several_a_node:
            found = self._by_nodes_alone()
            if found is not None:
                self._stream.close()
                return found
        for quota_first in (False, True) if short else (False,):
            for by_slot in (False, True) if self._several_a_node else (False,):
                for rule in ShareRule:
                    self._reset()
                    self._by_slot = by_slot
                    if self._construct(rule, quota_first):
                        best = self._better(best)
                    if not self._spanning:
                        break
        if best is None:
            self._stream.close()
            return None
        if self._spanning or short or (self._gpus and self._gpus < 8):
            best = self._improve(best)
        self._stream.close()
        return best

    def _by_nodes_alone(self) -> Taken | None:
        """One slot a node and nobody on two nodes: the cheapest nodes are the optimum, if they free the quota too."""
        if not self._fill(ShareRule.FULL, banned=None) or self._spanning:
            return None
        if any(self._freed[i] < self._deficit[i] for i in range(3)):
            return None
        if self._slots > self._wanted or not all(self._cost(u) for u in self._gone):
            self._put_back()  # else every node's cover is a cheapest one, so nobody on it is superfluous
        return self._better(None) if self._lawful() else None

    def _better(self, best: Taken | None) -> Taken:
        cost = sum(self._cost(u) for u in self._gone)
        if best is not None and cost > best.cost:
            return best
        found = taken(list(self._gone), cost)
        return found if best is None or found < best else best

    def _construct(self, rule: ShareRule, quota_first: bool) -> bool:
        if quota_first and not self._cover_quota():
            return False
        if not self._fill(rule, banned=None):
            return False
        if not quota_first and not self._cover_quota():
            return False
        self._put_back()
        return self._lawful()

    def _lawful(self) -> bool:
        return self._protections is None or self._protections.allow(with_companions(list(self._gone)))

    def _cover_quota(self) -> bool:
        left = Resources(*(max(0, self._deficit[i] - self._freed[i]) for i in range(3)))
        if left == ZERO:
            return True
        found = cheapest_cover(
            self._state, self._signature, self._highest, left, self._now_ms, self._protections,
            gone=with_companions(list(self._gone)),
        )  # fmt: skip
        if found is None:
            return False
        for unit in found.units:
            self._take(unit)
        return True

    def _fill(self, rule: ShareRule, banned: Unit | None) -> bool:
        """Take the cheapest slots until there are enough."""
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
        while self._slots < self._wanted:
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
            if way.slots > self._wanted - self._slots:
                offer(node_index)  # fewer are wanted by now than when this was worked out
                continue
            units = way.units
            if self._protections is not None and not self._protections.allow(
                with_companions(list(self._gone) + units)
            ):
                continue
            others: dict[int, None] = {}
            for unit in units:
                self._take(unit)
                for other in unit.nodes:
                    if len(unit.nodes) > 1 and other != node_index and other not in self._avoid:
                        others[other] = None
            for other in others:
                offer(other)
            offer(node_index)
        return True

    def _replay(self) -> Iterator[tuple[int, int]]:
        """Nodes in bound order: those seen before, then new ones from the index."""
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
        """Cheapest further units on a node that give more slots there: one, or as many as are cheapest per slot."""
        self._steps += 1
        node = self._state.nodes[node_index]
        shares = self._shares_of(node_index)
        left = [s for s in shares if s.unit not in self._gone and s.unit is not banned]
        if not left:
            return None
        if not self._simple_shape or node.shared or any(s.unit.job.composite for s in left):
            return self._next_slot_in_full(node_index, left, rule)
        free = node.whole_free + self._node_freed.get(node_index, 0)
        need = self._gpus - free % self._gpus
        items = [(s.whole, self._charge(s.unit, s.whole, rule), s.unit) for s in left if s.whole]
        total = sum(item[0] for item in items)
        if total < need:
            return None
        most = 1
        if self._by_slot:
            most = max(1, min(self._wanted - self._slots, (total - need) // self._gpus + 1))
        return cheapest_way(need, self._gpus, most, items, total)

    def _next_slot_in_full(self, node_index: int, left: list[Share], rule: ShareRule) -> Way | None:
        """The same where CPU, memory, shared devices or surplus matter: cheapest first, then put back."""
        node = self._state.nodes[node_index]
        gone_here = [u for u in self._gone if _stands_on(u, node_index)]
        goal = slots_without(node, self._shape, gone_here) + 1
        order = sorted(left, key=lambda s: (self._charge(s.unit, max(1, s.whole), rule), s.unit.name))
        chosen: list[Unit] = []
        for share in order:
            chosen.append(share.unit)
            if slots_without(node, self._shape, gone_here + chosen) >= goal:
                break
        else:
            return None
        for unit in sorted(chosen, key=lambda u: (-self._cost(u), u.name)):
            rest = [u for u in chosen if u is not unit]
            if slots_without(node, self._shape, gone_here + rest) >= goal:
                chosen = rest
        return Way(sum(self._charge(u, max(1, node.units[u].whole), rule) for u in chosen), 1, chosen)

    def _shares_of(self, node_index: int) -> list[Share]:
        found = self._shares.get(node_index)
        if found is None:
            node = self._state.nodes[node_index]
            suits = node.suits(self._shape)
            found = available(node, self._signature, self._highest, self._now_ms) if suits else []
            self._shares[node_index] = found
            for share in found:
                if len(share.unit.nodes) > 1:
                    self._spanning[share.unit] = None
                    self._large[share.unit] = None
                elif self._several_a_node and share.whole >= 2 * self._gpus:
                    self._large[share.unit] = None
        return found

    def _charge(self, unit: Unit, gpus_here: int, rule: ShareRule) -> int:
        cost = self._cost(unit)
        if len(unit.nodes) == 1 or rule is ShareRule.FULL:
            return cost
        whole = max(1, unit.footprint.gpu_milli // 1000)
        if rule is ShareRule.CAPPED:
            still_wanted = max(1, (self._wanted - self._slots) * max(1, self._gpus))
            whole = max(gpus_here, min(whole, still_wanted))
        return cost * gpus_here // whole

    def _cost(self, unit: Unit) -> int:
        cost = self._costs.get(unit)
        if cost is None:
            cost = self._costs[unit] = eviction_cost(unit, self._now_ms)
        return cost

    # -- taking and giving back, by log ----------------------------------------------------------------------

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
        entitled = self._signature.entitled(unit.cls)
        if entitled is not None and entitled.frees_quota:
            gpu_milli, cpu_milli, memory_mib = unit.footprint
            freed = self._freed
            freed[0] += sign * gpu_milli
            freed[1] += sign * cpu_milli
            freed[2] += sign * memory_mib
        self._steps += 1
        nodes = self._state.nodes
        if len(unit.nodes) == 1 and self._simple_shape and not unit.job.composite:
            self._account_on_one_node(unit, unit.nodes[0], sign)
            return
        for piece in with_companions([unit]) if unit.job.composite else (unit,):
            for node_index in piece.nodes:
                share = nodes[node_index].units.get(piece)
                if share is None:  # lifted already for another group of the same job
                    continue
                self._node_freed[node_index] = self._node_freed.get(node_index, 0) + sign * share.whole
                if not self._usable(node_index):
                    continue
                before = self._node_slots.get(node_index)
                if before is None:
                    before = self._free_slots[node_index]
                after = self._slots_on(node_index)
                self._node_slots[node_index] = after
                self._slots += after - before

    def _account_on_one_node(self, unit: Unit, node_index: int, sign: int) -> None:
        """The plain case of `_account`, which is nearly all of them."""
        node = self._state.nodes[node_index]
        share = node.units.get(unit)
        if share is None:
            return
        freed = self._node_freed[node_index] = self._node_freed.get(node_index, 0) + sign * share.whole
        if not self._usable(node_index):
            return
        before = self._node_slots.get(node_index)
        if before is None:
            before = self._free_slots[node_index]
        after = self._slots_on(node_index) if node.shared else (node.whole_free + freed) // self._gpus
        self._node_slots[node_index] = after
        self._slots += after - before

    def _slots_on(self, node_index: int) -> int:
        node = self._state.nodes[node_index]
        if self._simple_shape and not node.shared:
            return (node.whole_free + self._node_freed.get(node_index, 0)) // self._gpus
        return slots_without(node, self._shape, [u for u in self._gone if _stands_on(u, node_index)])

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

    # -- local search ----------------------------------------------------------------------------------------

    def _improve(self, best: Taken) -> Taken:
        self._reset()
        for unit in best.units:
            self._take(unit)
        self._steps = 0
        moves = MOVES
        improved = True
        while improved and moves > 0:
            improved = False
            for unit in sorted(self._gone, key=lambda u: (-self._cost(u), u.name)):
                if moves <= 0 or self._steps > STEPS:
                    return best
                moves -= 1
                found = self._try_replace(unit, best)
                if found is not None:
                    best, improved = found, True
                    break
            if improved:
                continue
            for unit in sorted(self._large, key=lambda u: (self._cost(u), u.name)):
                if moves <= 0 or self._steps > STEPS:
                    return best
                if unit in self._gone or self._cost(unit) >= best.cost:
                    continue
                moves -= 1
                found = self._try_insert(unit, best)
                if found is not None:
                    best, improved = found, True
                    break
        return best

    def _try_replace(self, unit: Unit, best: Taken) -> Taken | None:
        mark = len(self._log)
        self._restore(unit)
        if self._fill(ShareRule.FULL, banned=unit) and self._cover_quota():
            self._put_back()
            found = self._better(best)
            if found is not best and self._lawful():
                return found
        self._undo_to(mark)
        return None

    def _try_insert(self, unit: Unit, best: Taken) -> Taken | None:
        mark = len(self._log)
        self._take(unit)
        self._put_back(kept=unit)
        self._put_back()
        found = self._better(best)
        if found is not best and self._lawful():
            return found
        self._undo_to(mark)
        return None


def _stands_on(unit: Unit, node_index: int) -> bool:
    if node_index in unit.nodes:
        return True
    return any(node_index in piece.nodes for piece in companions(unit))
