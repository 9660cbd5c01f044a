"""How many replicas of one shape would fit without what has been taken?

Slots are counted node by node as units are taken and given back, so that a search for a gang can try thousands of them:
no node is copied.
"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Share
from quotatree.core.model.unit import Unit, companions
from quotatree.core.search.fit import Tally, may_use
from quotatree.core.search.free_index import free_view
from quotatree.core.search.trial import Trial, quota_freed_by


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

    def take_all(self, units: Iterable[Unit]) -> None:
        """Take units; those that are all that goes from one node are counted there at once."""
        units = list(units)
        if not self._goes_from_one_node(units):
            super().take_all(units)
            return
        (node_index,) = units[0].nodes
        shares = self._nodes[node_index].units
        self.looks += len(units)
        self._log += [(unit, True) for unit in units]
        self.taken.update(dict.fromkeys(units))
        self._free_quota(quota_freed_by(self.signature, units), 1, self.freed)
        self._free_devices(node_index, sum([shares[unit].whole for unit in units]))

    def _goes_from_one_node(self, units: list[Unit]) -> bool:
        """Return whether these units, two at least, stand on one node only and take nothing along, and only whole devices count."""
        if not self._simple_shape or self._within is not None or len(units) < 2 or len(units[0].nodes) > 1:
            return False
        nodes, taken = units[0].nodes, self.taken
        node = self._nodes[nodes[0]]
        if node.shared:
            return False
        for unit in units:
            if unit.nodes != nodes or unit in taken or unit.job.composite or unit not in node.units:
                return False
        return True

    def _book(self, unit: Unit, sign: int) -> None:
        super()._book(unit, sign)
        for node_index in unit.nodes:
            share = self._nodes[node_index].units.get(unit)
            if share is None:  # taken already for another group of the same job
                continue
            if self._simple_shape and not self._nodes[node_index].shared:
                self._free_devices(node_index, sign * share.whole)
            else:
                self._free_share(node_index, share, sign)

    def _free_devices(self, node_index: int, whole: int) -> None:
        """Count so many more entire devices of a node as free, where nothing else counts."""
        freed = self._node_freed[node_index] = self._node_freed.get(node_index, 0) + whole
        if self._usable(node_index):
            self._set_slots(node_index, (self._nodes[node_index].whole_free + freed) // self._gpus)

    def _free_share(self, node_index: int, share: Share, sign: int) -> None:
        """Count what one unit has on a node as free (sign 1), or as not free any more (sign -1)."""
        self._node_freed[node_index] = self._node_freed.get(node_index, 0) + sign * share.whole
        if not self._usable(node_index):
            return
        tally = self._tallies.get(node_index)
        if tally is None:
            tally = self._tallies[node_index] = Tally(self._nodes[node_index])
        if sign > 0:
            tally.add((share,))
        else:
            tally.remove((share,))
        self._set_slots(node_index, tally.slots(self.shape))

    def _set_slots(self, node_index: int, slots: int) -> None:
        """Note how many replicas would fit on a node now."""
        before = self._node_slots.get(node_index)
        self.slots += slots - (self._free_slots[node_index] if before is None else before)
        self._node_slots[node_index] = slots

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
            usable = node_index not in self._avoid and may_use(node, self.shape, self._pools)
            self._usable_nodes[node_index] = usable
        return usable

    @property
    def counts_devices(self) -> bool:
        """Whether the shape asks for whole devices and nothing else."""
        return self._simple_shape

    def devices_lacking(self, units: Iterable[Unit]) -> int:
        """Return how many more devices must be freed at least for `count` slots, by some of these units; devices alone count.

        What is free on their nodes beyond whole slots may be completed by them; elsewhere it is of no use.
        """
        nodes = {index for unit in units for index in unit.nodes if self._usable(index)}
        over = sum(self._nodes[index].whole_free % self._gpus for index in nodes)
        return (self.count - self.slots) * self._gpus - over

    def most_devices_of(self, unit: Unit) -> int:
        """Return how many devices are entirely free at most through a unit, with all it takes along."""
        return sum(
            share.whole + len(share.fractions)
            for piece in (unit, *companions(unit))
            for index in piece.nodes
            if self._usable(index) and (share := self._nodes[index].units.get(piece)) is not None
        )

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
