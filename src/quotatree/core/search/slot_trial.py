"""How many replicas of one shape would fit without what has been taken?

Slots are counted node by node as units are taken and given back, so that a search for a gang can try thousands of them:
no node is copied.
"""

from __future__ import annotations

from quotatree.core.model.job import Shape
from quotatree.core.model.unit import Unit
from quotatree.core.search.free_index import free_view
from quotatree.core.search.tally import Tally
from quotatree.core.search.trial import Trial


class SlotTrial(Trial):
    """A trial that is enough when `count` replicas of `shape` fit on nodes and the quota is free."""

    def __init__(self, trial: Trial, shape: Shape, count: int) -> None:
        request = trial.request
        self.shape, self.count = shape, count
        self._avoid = request.avoid
        self._pools = request.root.tree.pools
        self._nodes = trial.overlay.nodes
        self._gpus = shape.whole_gpus
        self._simple_shape = bool(self._gpus and not shape.cpu_milli and not shape.memory_mib)
        free = free_view(trial.overlay, shape, request.root, False)
        self._base = free.total - sum(free.slots[n] for n in request.avoid)
        self._free_slots = free.slots
        self._usable_nodes: dict[int, bool] = {}
        super().__init__(request, trial.rung, trial.overlay)

    def reset(self) -> None:
        super().reset()
        self.slots = self._base
        self._node_slots: dict[int, int] = {}
        self._node_freed: dict[int, int] = {}
        self._tallies: dict[int, Tally] = {}  # what is free, on nodes where not only whole devices count

    def enough(self) -> bool:
        return self.slots >= self.count and self.quota_is_free()

    def _book(self, unit: Unit, sign: int) -> None:
        super()._book(unit, sign)
        nodes = self._nodes
        for node_index in unit.nodes:
            node = nodes[node_index]
            share = node.units.get(unit)
            if share is None:  # taken already for another group of the same job
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
                tally = self._tallies.get(node_index)
                if tally is None:
                    tally = self._tallies[node_index] = Tally(node)
                if sign > 0:
                    tally.add((share,))
                else:
                    tally.remove((share,))
                after = tally.slots(self.shape)
            self._node_slots[node_index] = after
            self.slots += after - before

    def _free_on(self, node_index: int) -> Tally:
        """Return a new count of what is free on a node without what has been taken."""
        node, taken = self._nodes[node_index], self.taken
        tally = Tally(node)
        for unit, share in node.units.items():
            if unit in taken or (unit.job.composite and unit.job.core in taken):
                tally.add((share,))
        return tally

    def _usable(self, node_index: int) -> bool:
        """Return whether a replica may stand on the node: idle work of other roots may stand in pools this one does not draw on."""
        usable = self._usable_nodes.get(node_index)
        if usable is None:
            node = self._nodes[node_index]
            usable = (
                node_index not in self._avoid and node.spec.pool in self._pools and node.suits(self.shape)
            )
            self._usable_nodes[node_index] = usable
        return usable

    def clearly_needed(self, unit: Unit) -> bool:
        """Return True if giving this unit back is sure to leave fewer than `count` slots; False means: try."""
        if not self._simple_shape or unit.job.composite:
            return False
        spare = self.slots - self.count
        for node_index in unit.nodes:
            node = self._nodes[node_index]
            if node.shared or not self._usable(node_index):
                continue
            left = node.whole_free + self._node_freed[node_index] - node.units[unit].whole
            spare -= self._node_slots[node_index] - left // self._gpus
        return spare < 0
