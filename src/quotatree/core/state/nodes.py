"""How do pools and nodes change, and what must notice: the indexes by the log of changes, the trees by their versions."""

from __future__ import annotations

from typing import Final

from quotatree.core.model.node import Node, NodeSpec, NodeState
from quotatree.core.model.quota import Quota
from quotatree.core.model.tree import Tree
from quotatree.core.state.facts import Facts

CHANGES_KEPT: Final = 500_000


class NodeChanges(Facts):
    """Changes of pools, nodes and their states."""

    def add_pool(self, name: str, mixed: bool) -> None:
        self.put_entry(self.pools, name, mixed)
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
        if self.touched is not None:
            self.touched.nodes[spec.name] = None
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
            self.nodes_out += (now is not NodeState.READY) - (node.state is not NodeState.READY)
            node.state = now
            node.touch()
            self.log_change(node.index)
            self.ready_version += 1
            self._bump_everyone()

        become(wanted)
        self.on_undo(become, before)
        if self.touched is not None:
            self.touched.nodes[node.spec.name] = None

    def set_device(self, node: Node, device: int, healthy: bool) -> None:
        """Mark a device on which no unit stands as ill, or as well again."""

        def become(well: bool) -> None:
            self.nodes_out -= bool(node.ill)
            node.set_ill(device, not well)
            self.nodes_out += bool(node.ill)
            self.log_change(node.index)
            self.ready_version += 1
            self._bump_everyone()

        become(healthy)
        self.on_undo(become, not healthy)
        if self.touched is not None:
            self.touched.nodes[node.spec.name] = None

    def nodes_of(self, root: Quota) -> list[Node]:
        """Return all nodes of the pools that a root draws on."""
        pools = {pool for pool, _ in root.spec.draws}
        return [node for node in self.nodes if node.spec.pool in pools]

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
