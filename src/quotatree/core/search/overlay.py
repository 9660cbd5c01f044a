"""What would be there if some units had left and others stood? The state is read; what they touch is copied.

A search takes units off and puts them back many times before it decides anything. It does so here: nodes that a unit
stands on are copied before they change, and so are the figures of its quotas. Dropping the overlay leaves no trace in the
state, even after an exception.
"""

from __future__ import annotations

from typing import Any, Protocol

from quotatree.core.model.job import Claim
from quotatree.core.model.node import Node
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.tree import Tree
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.state import State


class Nodes(Protocol):
    """Nodes by their index."""

    def __getitem__(self, index: int, /) -> Node: ...


class Overlay:
    """The state without the units that were taken off (`off`), and with those that were put down."""

    __slots__ = ("_idle", "_idle_units", "_pool_used", "_used", "off", "state", "touched", "views")

    def __init__(self, state: State) -> None:
        self.state = state
        self.off: dict[Unit, None] = {}
        self.touched: dict[int, Node] = {}  # changed copies of nodes, by index
        self.views: dict[
            Any, Any
        ] = {}  # indexes seen through this overlay; see free_index.py and node_index.py
        self._used: dict[QuotaId, list[int]] = {}
        self._idle: dict[QuotaId, list[int]] = {}
        self._idle_units: dict[Tree, int] = {}
        self._pool_used: dict[tuple[QuotaId, str], int] = {}

    def fork(self) -> Overlay:
        """Return a copy of this overlay that changes independently of it."""
        twin = Overlay(self.state)
        twin.off = dict(self.off)
        twin.touched = {index: node.copy() for index, node in self.touched.items()}
        twin._used = {quota: list(amounts) for quota, amounts in self._used.items()}
        twin._idle = {quota: list(amounts) for quota, amounts in self._idle.items()}
        twin._idle_units = dict(self._idle_units)
        twin._pool_used = dict(self._pool_used)
        return twin

    # -- what would be there -----------------------------------------------------------------------------------

    @property
    def nodes(self) -> Nodes:
        """All nodes by index, with the changed copies in place of their originals."""
        return _Patched(self.state.nodes, self.touched) if self.touched else self.state.nodes

    def node(self, index: int) -> Node:
        found = self.touched.get(index)
        return self.state.nodes[index] if found is None else found

    def used(self, quota: Quota) -> list[int]:
        """Return the regular work of a quota and of all below it; to be read, not written."""
        return self._used.get(quota.spec.id, quota.used) if self._used else quota.used

    def idle(self, quota: Quota) -> list[int]:
        """Return the idle work of a quota and of all below it; to be read, not written."""
        return self._idle.get(quota.spec.id, quota.idle) if self._idle else quota.idle

    def changed_children(self, quota: Quota) -> list[Quota]:
        """Return the children of a quota whose regular work was changed here."""
        quotas = self.state.quotas
        return [quotas[name] for name in self._used if quotas[name].parent is quota]

    def idle_units(self, tree: Tree) -> int:
        """Return the number of idle units in the pools of a tree."""
        return self._idle_units.get(tree, tree.idle_units)

    def pool_used(self, root: Quota, pool: str) -> int:
        """Return how much a root with several pools uses of one of them, in milli-GPU."""
        found = self._pool_used.get((root.spec.id, pool))
        return root.tree.pool_used.get(pool, 0) if found is None else found

    # -- supposing ---------------------------------------------------------------------------------------------

    def take(self, unit: Unit) -> None:
        """Remove a unit from the nodes and from the figures of its quotas."""
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self._own(index).take_away(unit, held=held)
        self._count(unit, -1)
        self.off[unit] = None

    def give_back(self, unit: Unit) -> None:
        """Put a unit on its nodes: one that was taken, or one that the state does not have, until it is taken."""
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self._own(index).put(unit, held)
        self._count(unit, 1)
        self.off.pop(unit, None)

    def _own(self, index: int) -> Node:
        found = self.touched.get(index)
        if found is None:
            found = self.touched[index] = self.state.nodes[index].copy()
        return found

    def _count(self, unit: Unit, sign: int) -> None:
        idle = unit.cls.claim is Claim.IDLE
        figures = self._idle if idle else self._used
        footprint = unit.footprint
        for above in unit.job.quota.path:
            amounts = figures.get(above.spec.id)
            if amounts is None:
                amounts = figures[above.spec.id] = list(above.idle if idle else above.used)
            for i in range(3):
                amounts[i] += sign * footprint[i]
        root = unit.job.quota.path[-1]
        if idle:
            for mate in root.tree.pool_mates:
                self._idle_units[mate] = self.idle_units(mate) + sign
        if len(root.spec.draws) > 1:
            for place in unit.places:
                pool = self.state.nodes[place.node].spec.pool
                used = self.pool_used(root, pool)
                self._pool_used[root.spec.id, pool] = used + sign * place.shape.gpu_milli


class _Patched:
    """A list of nodes in which some are replaced by others."""

    __slots__ = ("_instead", "_nodes")

    def __init__(self, nodes: list[Node], instead: dict[int, Node]) -> None:
        self._nodes, self._instead = nodes, instead

    def __getitem__(self, index: int) -> Node:
        found = self._instead.get(index)
        return self._nodes[index] if found is None else found
