"""How do pools and nodes change, and what must notice: the indexes by the log of changes, the trees by their versions."""

from __future__ import annotations

from typing import Final

from quotatree.core.model.node import Node, NodeSpec, NodeState
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import WHOLE_GPU, Resources
from quotatree.core.model.tree import Tree
from quotatree.core.state.facts import Facts

CHANGES_KEPT: Final = 500_000


class NodeChanges(Facts):
    """Changes of pools, nodes and their states."""

    def add_pool(self, name: str, mixed: bool) -> None:
        self.put_entry(self.pools, name, mixed)
        if self.touched is not None:
            self.touched.pools[name] = None

    def drop_pool(self, name: str) -> None:
        """Forget a pool that has no nodes, with what was asked of it."""
        self.drop_entry(self.pools, name)
        self.drop_entry(self.pool_models, name)
        self.drop_entry(self.mixes, name)
        if self.touched is not None:
            self.touched.pools[name] = None

    def add_node(self, spec: NodeSpec) -> Node:
        node = Node(len(self.nodes), spec)
        self.nodes.append(node)
        self.put_entry(self.node_by_name, spec.name, node)
        if spec.gpus:
            if spec.pool not in self.pool_models:
                self.put_entry(self.pool_models, spec.pool, {})
            self.put_entry(self.pool_models[spec.pool], spec.model, None)
        self._nodes_changed()
        self.on_undo(self._last_node_gone)
        self._touch_node(node)
        return node

    def _last_node_gone(self) -> None:
        """Undo a join: remove the last node, and drop the log of changes, which may still name it."""
        self.nodes.pop()
        self.changes = []
        self.changes_epoch += 1
        self._nodes_changed()

    def _nodes_changed(self) -> None:
        self.nodes_version += 1
        self.ready_version += 1
        self._bump_everyone()

    def set_node_state(self, node: Node, wanted: NodeState) -> None:
        before = node.state

        def become(now: NodeState) -> None:
            reduced = node.reduced
            node.state = now
            node.touch()
            self._usable_changed(node, reduced)

        become(wanted)
        self.on_undo(become, before)
        self._touch_node(node)

    def set_cordoned(self, node: Node, cordoned: bool) -> None:
        """Note whether a lost node comes back cordoned (R5)."""
        if node.cordoned is not cordoned:
            self.on_undo(self.set_cordoned, node, node.cordoned)
            node.cordoned = cordoned
            self._touch_node(node)

    def set_device(self, node: Node, device: int, healthy: bool) -> None:
        """Mark a device on which no unit stands as ill, or as well again."""

        def become(well: bool) -> None:
            reduced = node.reduced
            node.set_ill(device, not well)
            self._usable_changed(node, reduced)

        if device in node.foreign_devices:
            self._count_foreign(node, node.foreign, node.foreign_devices - {device}, True)
        become(healthy)
        self.on_undo(become, not healthy)
        self._touch_node(node)
        self.settle_foreign(node)

    def set_foreign(self, node: Node, use: Resources) -> None:
        """Note what others than our jobs use of a node (R6)."""
        self._count_foreign(node, use, node.foreign_devices, node.crowded)
        self.settle_foreign(node)

    def restore_foreign(self, node: Node, use: Resources, devices: frozenset[int]) -> None:
        """Count what others use as these devices; it is settled once all units are in place."""
        self._count_foreign(node, use, devices, False)

    def settle_foreign(self, node: Node) -> None:
        """Count the GPUs that others use as devices on which nothing of ours stands, as far as there are such.

        A node on which there are too few, or too little CPU or memory, is crowded. Called whenever that may have changed.
        """
        wanted = -(-node.foreign.gpu_milli // WHOLE_GPU)
        devices = sorted(node.foreign_devices)[:wanted]
        if len(devices) < wanted:
            open_ones = [d for d in range(node.spec.gpus) if node.free[d] == WHOLE_GPU and d not in node.ill]
            open_ones.sort(key=lambda d: (node.leaving[d] > 0, -d))
            devices += open_ones[: wanted - len(devices)]
        crowded = len(devices) < wanted or node.free_cpu < 0 or node.free_memory < 0
        if (crowded, frozenset(devices)) != (node.crowded, node.foreign_devices):
            self._count_foreign(node, node.foreign, frozenset(devices), crowded)

    def _count_foreign(self, node: Node, use: Resources, devices: frozenset[int], crowded: bool) -> None:
        before = (node.foreign, node.foreign_devices, node.crowded)

        def become(use: Resources, devices: frozenset[int], crowded: bool) -> None:
            reduced = node.reduced
            node.count_foreign(use, devices, crowded)
            self._usable_changed(node, reduced)

        become(use, devices, crowded)
        self.on_undo(become, *before)
        self._touch_node(node)

    def alter_node(self, node: Node, spec: NodeSpec) -> None:
        """Give a node other properties. Nobody stands on, or leaves, devices that go; for another pool, on none at all."""
        for device in sorted(d for d in node.ill if d >= spec.gpus):
            self.set_device(node, device, healthy=True)
        self._count_foreign(
            node, node.foreign, frozenset(d for d in node.foreign_devices if d < spec.gpus), node.crowded
        )
        before = node.spec

        def become(spec: NodeSpec) -> None:
            node.respecify(spec)
            self.log_change(node.index)
            self._nodes_changed()

        become(spec)
        self.on_undo(become, before)
        for pool in dict.fromkeys((before.pool, spec.pool)):
            models = {n.spec.model: None for n in self.nodes if n.spec.pool == pool and n.spec.gpus}
            if models != self.pool_models.get(pool, {}):
                self.put_entry(self.pool_models, pool, models)
        self._touch_node(node)
        self.settle_foreign(node)

    def _usable_changed(self, node: Node, reduced: bool) -> None:
        """Tell indexes and trees that more or less of a node can be used; `reduced`: whether it was reduced before."""
        self.nodes_out += node.reduced - reduced
        self.log_change(node.index)
        self.ready_version += 1
        self._bump_everyone()

    def _touch_node(self, node: Node) -> None:
        if self.touched is not None:
            self.touched.nodes[node.spec.name] = None

    def nodes_of(self, root: Quota) -> list[Node]:
        """Return all nodes of the pools that a root draws on."""
        return [node for node in self.nodes if node.spec.pool in root.tree.pools and not node.gone]

    def log_change(self, index: int) -> None:
        """Tell the indexes that a node has changed."""
        self.changes.append(index)
        if len(self.changes) > CHANGES_KEPT:
            self.changes = []
            self.changes_epoch += 1

    @property
    def all_changes(self) -> tuple[int, int, int]:
        """What differs whenever a node or what stands on it has changed: epoch and length of the log, version of the nodes."""
        return self.changes_epoch, len(self.changes), self.nodes_version

    def _bump_everyone(self) -> None:
        for tree in self.trees:
            self._raise_version(tree)

    def bump(self, quota: Quota) -> None:
        """Raise the versions of this tree and of those that share its pools: something may have become possible there."""
        for tree in quota.tree.pool_mates:
            self._raise_version(tree)

    def _raise_version(self, tree: Tree) -> None:
        self.on_undo(self._set_version, tree, tree.version)
        tree.version += 1

    def _set_version(self, tree: Tree, version: int) -> None:
        tree.version = version
