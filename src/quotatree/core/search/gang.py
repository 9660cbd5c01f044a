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
from typing import Final

from quotatree.core.model.node import Share
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.unit import Unit
from quotatree.core.search.eligible import Protections
from quotatree.core.search.gang_removal import Removal, stands_on
from quotatree.core.search.gang_slots import Way, cheapest_way
from quotatree.core.search.node_index import NodeIndex
from quotatree.core.search.one_node import Taken, available, slots_without, taken, with_companions
from quotatree.core.search.placement import FreeIndex
from quotatree.core.search.quota_cover import cheapest_cover
from quotatree.core.state import State

MOVES: Final = 64
"""Moves of the local search."""
STEPS: Final = 6_000
"""Nodes looked at and units taken or given back by the local search in all."""


class ShareRule(Enum):
    """What a unit that spans nodes is charged with on one of them."""

    CAPPED = "capped"  # by its part here of what is still wanted at most
    FULL = "full"
    PROPORTIONAL = "proportional"


class GangSearch(Removal):
    """One search: `wanted` replicas of `shape`, units up to ladder step `highest`, `deficit` of quota to free."""

    def __init__(
        self, state: State, index: NodeIndex, free: FreeIndex, wanted: int, deficit: Resources, highest: int,
        now_ms: int, protections: Protections | None, avoid: frozenset[int],
    ) -> None:  # fmt: skip
        super().__init__(
            state=state,
            signature=index.signature,
            shape=index.shape,
            free=free,
            wanted=wanted,
            deficit=deficit,
            now_ms=now_ms,
            avoid=avoid,
        )
        self._index, self._highest, self._protections = index, highest, protections
        self._several_a_node = index.several_a_node
        self._by_slot = False
        self._stream = index.cheapest_first(highest, now_ms, avoid)
        self._pulled: list[tuple[int, int]] = []
        self._shares: dict[int, list[Share]] = {}
        self._spanning: dict[Unit, None] = {}  # units on several nodes
        self._large: dict[Unit, None] = {}  # and those that alone free several slots

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
        """Take the cheapest units until the quota is free too; surplus that goes with a core may be gone already, so
        one answer may not be enough."""
        while True:
            left = Resources(*(max(0, self._deficit[i] - self._freed[i]) for i in range(3)))
            if left == ZERO:
                return True
            found = cheapest_cover(
                self._state, self._signature, self._highest, left, self._now_ms, self._protections,
                gone=with_companions(list(self._gone)),
            )  # fmt: skip
            if found is None or not found.units:
                return False
            for unit in found.units:
                self._take(unit)

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
        gone_here = [u for u in self._gone if stands_on(u, node_index)]
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
