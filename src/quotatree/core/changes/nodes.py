"""What happens to pools and nodes: they join, change, are cordoned, drained, lost, ill, removed or used by others (R2, R4–R6)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes import effects
from quotatree.core.changes.evictions import evict
from quotatree.core.changes.jobs import confirm_left
from quotatree.core.errors import Refused
from quotatree.core.model.node import GONE, Node, NodeSpec, NodeState
from quotatree.core.model.resources import GPU, WHOLE_GPU, ZERO, amount_text
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Code, because
from quotatree.core.state import State

Decisions = tuple[say.Decision, ...]


def pool_declared(state: State, event: ev.PoolDeclared, now_ms: int) -> Decisions:
    del now_ms
    if event.pool in state.pools:
        raise Refused("pool", event.pool, "R4", "exists already")
    state.add_pool(event.pool, event.mixed)
    return ()


def node_joined(state: State, event: ev.NodeJoined, now_ms: int) -> Decisions:
    del now_ms
    spec = event.node
    if GONE in spec.labels:
        raise Refused("labels", GONE[0], "R2", "says that a node is gone, and no node joins with it")
    known = state.node_by_name.get(spec.name)
    if known is not None and known.gone:
        _check_spec(state, spec, set(state.pool_models.get(spec.pool, ())))
        if spec.pool not in state.pools:
            state.add_pool(spec.pool, False)
        state.alter_node(known, spec)
        state.set_node_state(known, NodeState.READY)
        return ()
    if known is not None:
        if known.spec != spec:
            raise Refused("node", spec.name, "R2", "exists already with other properties")
        return node_changed(state, ev.NodeChanged(spec.name, NodeState.READY), 0)
    _check_spec(state, spec, set(state.pool_models.get(spec.pool, ())))
    if spec.pool not in state.pools:
        state.add_pool(spec.pool, False)
    state.add_node(spec)
    return ()


def _check_spec(state: State, spec: NodeSpec, others: set[str]) -> None:
    """Raise Refused for amounts below 0, or for a model that the pool's other nodes, of the models `others`, do not have."""
    if spec.gpus < 0 or spec.cpu_milli < 0 or spec.memory_mib < 0:
        raise Refused("node", spec.name, "R2", "GPUs, CPU and memory must not be negative")
    mixed = state.pools.get(spec.pool, False)
    if not mixed and spec.gpus and others and spec.model not in others:
        raise Refused(
            "model", spec.model, "R4",
            f"pool {spec.pool} holds {min(others)} nodes; declare it mixed or use another pool",
        )  # fmt: skip


def node_altered(state: State, event: ev.NodeAltered, now_ms: int) -> Decisions:
    """Give a node other properties. Raises Refused if work stands on GPUs that would go, or on a node that changes its pool."""
    spec = event.node
    node = _known(state, spec.name)
    if spec == node.spec:
        return ()
    rest = {n.spec.model for n in state.nodes if n is not node and n.spec.pool == spec.pool and n.spec.gpus}
    _check_spec(state, spec, rest)
    there = [place for unit in node.units for place in unit.places_on(node.index)] + [*node.leavers.values()]
    if spec.pool != node.spec.pool and there:
        raise Refused(
            "pool", spec.pool, "R2", f"work stands on {spec.name}; drain it before it changes its pool"
        )
    if any(device >= spec.gpus for place in there for device in place.devices):
        raise Refused("gpus", spec.gpus, "R2", f"work stands on the GPUs of {spec.name} that would go")
    if spec.pool not in state.pools:
        state.add_pool(spec.pool, False)
    state.alter_node(node, spec)
    return _clear_promises(state, node, now_ms)


def node_removed(state: State, event: ev.NodeRemoved, now_ms: int) -> Decisions:
    """Take a node out for good. Raises Refused while work stands on it, or roots draw more than its pool would have left (Q1).

    Its number stays taken, since places are kept by number: what is left of it is a lost node without anything.
    """
    del now_ms
    node = _known(state, event.node)
    name, pool = node.spec.name, node.spec.pool
    if node.gone:
        raise Refused("node", name, "R2", "no such node")
    if node.units or node.leavers:
        raise Refused(
            "node", name, "R5", f"work stands on it; quotatree drain {name}, and wait until it has left"
        )
    left = sum(n.spec.gpus for n in state.nodes if n.spec.pool == pool and n is not node) * WHOLE_GPU
    drawn = {
        root.id: dict(root.spec.draws)[pool].gpu_milli or 0
        for root in state.roots
        if pool in dict(root.spec.draws)
    }
    if node.spec.gpus and sum(drawn.values()) > left:
        raise Refused(
            "node", name, "Q1",
            f"pool {pool} would have {amount_text(GPU, left)} left, and {amount_text(GPU, sum(drawn.values()))} are drawn"
            f" from it, by {', '.join(drawn)}; scale down first",
        )  # fmt: skip
    state.set_foreign(node, ZERO)
    state.set_cordoned(node, False)
    state.alter_node(node, NodeSpec(name, pool, gpus=0, cpu_milli=0, memory_mib=0, labels=(GONE,)))
    state.set_node_state(node, NodeState.LOST)
    return ()


def pool_removed(state: State, event: ev.PoolRemoved, now_ms: int) -> Decisions:
    """Take a pool away. Raises Refused while it has nodes, or roots draw from it."""
    del now_ms
    pool = event.pool
    if pool not in state.pools:
        raise Refused("pool", pool, "R4", "no such pool")
    nodes = [node.spec.name for node in state.nodes if node.spec.pool == pool and not node.gone]
    if nodes:
        more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
        raise Refused("pool", pool, "R4", f"it has the nodes {', '.join(nodes[:3])}{more}; delete them first")
    roots = [root.id for root in state.roots if pool in dict(root.spec.draws)]
    if roots:
        raise Refused("pool", pool, "R4", f"it is drawn from by {', '.join(roots)}; delete that first")
    state.drop_pool(pool)
    return ()


def foreign_use(state: State, event: ev.ForeignUse, now_ms: int) -> Decisions:
    """Note what others use of a node (R6); on one that this makes crowded, what was promised is planned anew."""
    node = _known(state, event.node)
    if min(event.use) < 0:
        raise Refused("use", event.use, "R6", "must not be negative")
    if event.use == node.foreign:
        return ()
    state.set_foreign(node, event.use)
    return _clear_promises(state, node, now_ms)


def _clear_promises(state: State, node: Node, now_ms: int) -> Decisions:
    """Release the holds on a crowded node, one after the other, until it is not crowded any more (P9, R6)."""
    reason = because(Code.NodeCrowded, node=node.spec.name)
    found: list[say.Decision] = []
    held = sorted((u for u in node.units if u.cls.kind is UnitKind.HOLD), key=lambda u: u.name)
    for unit in held:
        if not node.crowded:
            break
        found.append(effects.release(state, unit.job, now_ms, reason, again=True))
    return tuple(found)


def _known(state: State, name: str) -> Node:
    node = state.node_by_name.get(name)
    if node is None:
        raise Refused("node", name, "R2", "no such node")
    return node


def node_changed(state: State, event: ev.NodeChanged, now_ms: int) -> Decisions:
    node = _known(state, event.node)
    closed = node.state in (NodeState.CORDONED, NodeState.DRAINING) or node.cordoned
    state.set_cordoned(node, event.state is NodeState.LOST and closed)
    state.set_node_state(node, event.state)
    if event.state is NodeState.LOST:
        return _lose(state, node, now_ms)
    if event.state is NodeState.DRAINING:
        return _drain(state, node, now_ms)
    if event.state is NodeState.CORDONED:
        return _cordon(state, node, now_ms)
    return ()


def device_changed(state: State, event: ev.DeviceChanged, now_ms: int) -> Decisions:
    """Mark a device as ill or well; units on an ill one leave as from a drained node. No change, no decisions."""
    node = _known(state, event.node)
    if not 0 <= event.device < node.spec.gpus:
        raise Refused("device", event.device, "R3", f"{event.node} has GPUs 0..{node.spec.gpus - 1}")
    if event.healthy is (event.device not in node.ill):
        return ()
    found = () if event.healthy else _clear_device(state, node, event.device, now_ms)
    state.set_device(node, event.device, event.healthy)
    return (*found, *_clear_promises(state, node, now_ms))


def _clear_device(state: State, node: Node, device: int, now_ms: int) -> Decisions:
    """Evict all units on a device, gangs whole, and release holds to be planned anew; not a preemption (R5)."""
    reason = because(Code.DeviceIll, node=node.spec.name, device=device)
    found: list[say.Decision] = []
    while there := [u for u in node.units if any(device in p.devices for p in u.places_on(node.index))]:
        unit = min(there, key=lambda u: (u.cls.kind is not UnitKind.CORE, u.name))
        if unit.cls.kind is UnitKind.HOLD:
            found.append(effects.release(state, unit.job, now_ms, reason, again=True))
        else:
            found.append(evict(state, unit, now_ms, reason, None, counts=False))
    return tuple(found)


def _cordon(state: State, node: Node, now_ms: int) -> Decisions:
    """Release all holds on the node, to be planned anew: nothing new may start here (R5, P9)."""
    held = sorted((u for u in node.units if u.cls.kind is UnitKind.HOLD), key=lambda u: u.name)
    reason = because(Code.NodeCordoned, node=node.spec.name)
    return tuple(effects.release(state, unit.job, now_ms, reason, again=True) for unit in held)


def _drain(state: State, node: Node, now_ms: int) -> Decisions:
    """Evict all units on the node with grace, gangs whole, to be queued again; not a preemption (R5)."""
    reason = because(Code.NodeDrained, node=node.spec.name)
    found: list[say.Decision] = []
    while node.units:
        unit = min(node.units, key=lambda u: (u.cls.kind is not UnitKind.CORE, u.name))
        found.append(evict(state, unit, now_ms, reason, None, counts=False))
    return tuple(found)


def _lose(state: State, node: Node, now_ms: int) -> Decisions:
    """Evict all units on the node: replicas here are gone at once, those of the same units elsewhere leave with grace (R5)."""
    reason = because(Code.NodeLost, node=node.spec.name)
    found: list[say.Decision] = []
    while node.units:
        unit = min(node.units, key=lambda u: (u.cls.kind is not UnitKind.CORE, u.name))
        found.append(evict(state, unit, now_ms, reason, None, counts=False))
    for job in list(state.leaving_jobs.values()):
        dead = tuple(p for p in job.leaving.values() if p.node == node.index)
        if dead:
            confirm_left(state, job, dead)
    return tuple(found)
