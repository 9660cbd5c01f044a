"""Commands about pools and nodes: declare, join, cordon, drain, ready again (R2, R4, R5)."""

from __future__ import annotations

from quotatree.access.check import PLATFORM
from quotatree.access.errors import NotFound
from quotatree.access.names import check_name
from quotatree.access.roles import Action
from quotatree.control.commands import values as do
from quotatree.control.commands.values import Answer
from quotatree.control.inventory import FROM_INVENTORY
from quotatree.control.turn import Turn
from quotatree.core import NodeState, Refused
from quotatree.core import events as ev


def declare_pool(turn: Turn, command: do.DeclarePool) -> Answer:
    turn.allow(command.actor, Action.MANAGE_NODES, PLATFORM)
    check_name("pool", command.pool)
    turn.apply(ev.PoolDeclared(command.pool, command.mixed))
    turn.tell("pool.declared", {"pool": command.pool, "mixed": command.mixed})
    turn.audit(command.actor, "pool.declared", f"pool:{command.pool}", {"mixed": command.mixed})
    return Answer(command.pool, turn.world.bump("pool", command.pool))


def join(turn: Turn, command: do.JoinNode) -> Answer:
    turn.allow(command.actor, Action.MANAGE_NODES, PLATFORM)
    spec = command.spec
    check_name("node", spec.name)
    check_name("pool", spec.pool)
    if spec.pool not in turn.state.pools:
        turn.world.bump("pool", spec.pool)
    turn.apply(ev.NodeJoined(spec))
    body = {"pool": spec.pool, "model": spec.model, "gpus": spec.gpus}
    turn.tell("node.joined", {"node": spec.name, **body})
    turn.audit(command.actor, "node.joined", f"node:{spec.name}", body)
    return Answer(spec.name, turn.world.bump("node", spec.name))


def remove(turn: Turn, command: do.RemoveNode) -> Answer:
    """Take a node out for good. One that the engine still reports would come back at once."""
    turn.allow(command.actor, Action.MANAGE_NODES, PLATFORM)
    node = turn.world.node(command.node)
    turn.world.match("node", command.node, command.if_match)
    if FROM_INVENTORY in node.spec.labels and node.state is not NodeState.LOST:
        raise Refused("node", command.node, "R5", "the cluster has it; remove it there, and it goes here")
    body = {"pool": node.spec.pool, "model": node.spec.model, "gpus": node.spec.gpus}
    turn.apply(ev.NodeRemoved(command.node))
    turn.tell("node.gone", {"node": command.node, **body})
    turn.audit(command.actor, "node.gone", f"node:{command.node}", body)
    return Answer(command.node, turn.world.bump("node", command.node))


def remove_pool(turn: Turn, command: do.RemovePool) -> Answer:
    turn.allow(command.actor, Action.MANAGE_NODES, PLATFORM)
    if command.pool not in turn.state.pools:
        raise NotFound("pool", command.pool)
    turn.apply(ev.PoolRemoved(command.pool))
    turn.tell("pool.removed", {"pool": command.pool})
    turn.audit(command.actor, "pool.removed", f"pool:{command.pool}", {})
    turn.state.drop_entry(turn.world.versions, ("pool", command.pool))
    return Answer(command.pool)


def set_state(turn: Turn, command: do.SetNodeState) -> Answer:
    turn.allow(command.actor, Action.MANAGE_NODES, PLATFORM)
    node = turn.world.node(command.node)
    turn.world.match("node", command.node, command.if_match)
    if command.state is NodeState.LOST:
        raise Refused("state", command.state.value, "R5", "that a node is lost is for the engine to say")
    before = node.state
    turn.apply(ev.NodeChanged(command.node, command.state))
    body = {"before": before.value, "state": command.state.value}
    turn.tell("node.changed", {"node": command.node, **body})
    turn.audit(command.actor, "node.changed", f"node:{command.node}", body)
    return Answer(command.node, turn.world.bump("node", command.node))
