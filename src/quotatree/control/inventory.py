"""What an engine's inventory means for the core: nodes that come, change, are shut, go and come back (R2, R5, R6).

The cluster says which nodes there are; people may still cordon and drain one here. That the cluster itself has cordoned a node
is kept as a label of the node, so that a server that starts later knows who may lift it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from quotatree.access.names import check_name
from quotatree.control.turn import Turn
from quotatree.control.world import SYSTEM
from quotatree.core import GONE, WHOLE_GPU, ZERO, Node, NodeSpec, NodeState, Refused, Resources
from quotatree.core import events as ev
from quotatree.engines.base import NodeSeen

CORDONED_THERE: Final = ("quotatree.io/cordoned-by", "cluster")
FROM_INVENTORY: Final = ("quotatree.io/found-by", "inventory")
"""Label of every node that came from an inventory: one that is not in it any more is gone."""


def present(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that there are, lost ones among them, without those that are gone for good."""
    return [node for node in nodes if not node.gone]


def see_all(turn: Turn, nodes: Iterable[NodeSeen]) -> None:
    """Take over a whole inventory: nodes of an earlier one that are not in it are lost, and gone if they were lost before."""
    seen = {one.spec.name: one for one in nodes}
    for node in present(turn.state.nodes):
        if node.spec.name not in seen and FROM_INVENTORY in node.spec.labels:
            if node.state is NodeState.LOST:
                _vanish(turn, node)
            else:
                _become(turn, node, NodeState.LOST)
    for one in seen.values():
        see_node(turn, one)


def see_node(turn: Turn, report: NodeSeen) -> None:
    node = turn.state.node_by_name.get(report.spec.name)
    spec = _labelled(report, node)
    if node is not None and (report.gone or (node.gone and not report.ready)):
        _vanish(turn, node)
        return
    if node is None:
        if not report.ready or not _joined(turn, spec):
            return
        node = turn.state.node_by_name[spec.name]
        was_cordoned = False
    else:
        was_cordoned = CORDONED_THERE in node.spec.labels or node.gone
        spec, report = _kept_devices(node, spec, report)
        if spec != node.spec:
            _altered(turn, node, spec)
    if report.foreign != node.foreign:
        turn.apply(ev.ForeignUse(spec.name, report.foreign))
        turn.world.bump("node", spec.name)
    _become(turn, node, _state(node, report, was_cordoned))


def _labelled(report: NodeSeen, node: Node | None) -> NodeSpec:
    """The spec with labels of ours. A cordon is the cluster's unless the node was closed here before it came."""
    there = node is not None and CORDONED_THERE in node.spec.labels
    open_here = (
        node is None or node.state is NodeState.READY or (node.state is NodeState.LOST and not node.cordoned)
    )
    by_cluster = (there or open_here) if report.cordoned else (there and not report.ready)
    ours = (FROM_INVENTORY, CORDONED_THERE) if by_cluster else (FROM_INVENTORY,)
    return replace(report.spec, labels=tuple(sorted({*report.spec.labels, *ours})))


def _joined(turn: Turn, spec: NodeSpec) -> bool:
    """Join a new node; return False, and tell why, if the rules do not let it."""
    try:
        check_name("node", spec.name)
        check_name("pool", spec.pool)
        if spec.pool not in turn.state.pools:
            turn.world.bump("pool", spec.pool)
        turn.apply(ev.NodeJoined(spec))
    except Refused as refused:
        _tell_refused(turn, spec, refused)
        return False
    body = {"pool": spec.pool, "model": spec.model, "gpus": spec.gpus}
    turn.tell("node.joined", {"node": spec.name, **body})
    turn.audit(SYSTEM, "node.joined", f"node:{spec.name}", body)
    turn.world.bump("node", spec.name)
    return True


def _kept_devices(node: Node, spec: NodeSpec, report: NodeSeen) -> tuple[NodeSpec, NodeSeen]:
    """Keep the GPUs of a node on which work stands although the cluster shows fewer: those count as used by others.

    A device plugin that restarts shows none for a moment, and whoever runs there goes on.
    """
    missing = node.spec.gpus - spec.gpus
    if missing <= 0 or not (node.units or node.leavers):
        return spec, report
    use = report.foreign
    more = Resources(use.gpu_milli + missing * WHOLE_GPU, use.cpu_milli, use.memory_mib)
    return replace(spec, gpus=node.spec.gpus), replace(report, foreign=more)


def _altered(turn: Turn, node: Node, spec: NodeSpec) -> None:
    """Give a node its new properties; while work stands on it, it stays in its pool."""
    try:
        if spec.pool != node.spec.pool and spec.pool not in turn.state.pools:
            turn.world.bump("pool", spec.pool)
        turn.apply(ev.NodeAltered(spec))
    except Refused as refused:
        _tell_refused(turn, spec, refused)
        return
    turn.world.bump("node", spec.name)
    turn.tell("node.altered", {"node": spec.name, "pool": spec.pool, "model": spec.model, "gpus": spec.gpus})


def _state(node: Node, report: NodeSeen, was_cordoned: bool) -> NodeState:
    """The state that a node has after a report: a cordon or drain of ours stays, one of the cluster goes with its cause."""
    if not report.ready:
        return NodeState.LOST
    if report.cordoned:
        return NodeState.DRAINING if node.state is NodeState.DRAINING else NodeState.CORDONED
    if node.state is NodeState.LOST:
        return NodeState.CORDONED if node.cordoned and not was_cordoned else NodeState.READY
    return NodeState.READY if was_cordoned and node.state is NodeState.CORDONED else node.state


def _become(turn: Turn, node: Node, state: NodeState) -> None:
    if node.state is state:
        return
    turn.apply(ev.NodeChanged(node.spec.name, state))
    turn.world.bump("node", node.spec.name)
    turn.tell("node.changed", {"node": node.spec.name, "state": state.value})


def _vanish(turn: Turn, node: Node) -> None:
    """Let a node go for good. Nothing stands on it then, for what stood there was lost with it (R5)."""
    if node.gone:
        return
    _become(turn, node, NodeState.LOST)
    name = node.spec.name
    empty = replace(node.spec, gpus=0, cpu_milli=0, memory_mib=0, labels=(FROM_INVENTORY, GONE))
    turn.apply(ev.ForeignUse(name, ZERO))
    turn.apply(ev.NodeAltered(empty))
    turn.world.bump("node", name)
    turn.tell("node.gone", {"node": name})
    turn.audit(SYSTEM, "node.gone", f"node:{name}", {})


def _tell_refused(turn: Turn, spec: NodeSpec, refused: Refused) -> None:
    turn.tell("node.refused", {"node": spec.name, "rule": refused.rule, "detail": str(refused)})
