"""The whole state as one value, and back: a restored state plans exactly as the one it was taken from (A3, A7).

Only what can be found out again is forgotten: why waiting jobs failed when they were last tried. So right after a restart every
waiting job is tried once more, and the plan is made of the same decisions in the same order, wherever neither plan was cut short (A8).
"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.changes.quotas import refresh_flags
from quotatree.core.changes.replicas import reprice_replicas
from quotatree.core.decisions import ReplicaPlace
from quotatree.core.errors import Refused
from quotatree.core.model.job import FINAL_PHASES, Claim, Hold, Job, Placed
from quotatree.core.model.node import GONE, Node, NodeState
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import has_loan
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.typical_requests import Mix
from quotatree.core.model.unit import UnitKind
from quotatree.core.model.wait_queue import WaitQueue
from quotatree.core.records import (
    JobRecord,
    NodeRecord,
    QuotaRecord,
    Snapshot,
    Standing,
    job_record,
    node_record,
    pool_record,
    quota_record,
)
from quotatree.core.state import State


def snapshot(state: State) -> Snapshot:
    """Return the state as a value; equal states give equal values, however they came about."""
    return Snapshot(
        state.settings,
        tuple(pool_record(state, name) for name in sorted(state.pools)),
        tuple(node_record(node) for node in state.nodes),
        tuple(quota_record(state, quota) for quota in sorted(state.quotas.values(), key=lambda q: q.order)),
        tuple(job_record(state, state.jobs[job_id]) for job_id in sorted(state.jobs)),
    )


def restore(value: Snapshot) -> State:
    """Return a state built from a snapshot; raise Refused if its records contradict each other."""
    state = State(value.settings)
    for pool in value.pools:
        state.add_pool(pool.name, pool.mixed)
        if pool.asked:
            state.mixes[pool.name] = Mix.kept(dict(pool.asked), dict(pool.pictured))
    for kept in sorted(value.nodes, key=lambda n: n.index):
        _restore_node(state, kept)
    for quota in sorted(value.quotas, key=lambda q: q.order):
        _restore_quota(state, quota)
    state.reshape(*state.trees)
    for tree in state.trees:
        refresh_flags(state, tree)
    for record in value.jobs:
        _register(state, record)
    for record in value.jobs:
        _place(state, record)
    for record in value.jobs:
        _promise(state, record)
    for quota_ in value.quotas:
        _guard(state, quota_)
    for job in state.jobs.values():
        if job.queued:
            state.enqueue(job)
    for tree in state.trees:
        tree.loans = any(has_loan(quota) for quota in tree.quotas())
    for node in state.nodes:
        state.settle_foreign(node)
    _check_devices(state.nodes)
    return state


def _restore_node(state: State, record: NodeRecord) -> None:
    if record.index != len(state.nodes) or record.name in state.node_by_name:
        raise _bad("nodes", record.name, "is there twice, or a node before it is missing")
    if record.spec.pool not in state.pools and GONE not in record.spec.labels:
        raise _bad("nodes", record.name, f"is in pool {record.spec.pool}, which is not there")
    node = state.add_node(record.spec)
    if record.state is not NodeState.READY:
        state.set_node_state(node, record.state)
    state.set_cordoned(node, record.cordoned)
    for device in record.ill:
        if not 0 <= device < record.spec.gpus or device in node.ill:
            raise _bad("nodes", record.name, f"has no device {device}, or it is named ill twice")
        state.set_device(node, device, healthy=False)
    for device in record.foreign_devices:
        if not 0 <= device < record.spec.gpus or device in node.ill:
            raise _bad("nodes", record.name, f"has no device {device} that others could use")
    if record.foreign is not None:
        state.restore_foreign(node, record.foreign, frozenset(record.foreign_devices))


def _restore_quota(state: State, record: QuotaRecord) -> None:
    spec = record.spec
    if spec.id in state.quotas:
        raise _bad("quotas", spec.id, "is there twice")
    parent = None if spec.parent is None else state.quotas.get(spec.parent)
    if spec.parent is not None and parent is None:
        raise _bad("quotas", spec.id, f"has the parent {spec.parent}, which is not there, or comes after it")
    quota = Quota(spec, parent, WaitQueue(spec.id))
    quota.set_min(record.min)
    quota.actual = list(record.actual)
    quota.shrinking = record.shrinking
    quota.shadow = list(record.shadow)
    state.set_stood(quota, tuple((job, since_ms) for job, since_ms in record.stood))
    if record.limits:
        state.limits[spec.id] = record.limits
    state.insert_quota(quota, record.order)


def _register(state: State, record: JobRecord) -> None:
    quota = state.quotas.get(QuotaId(record.spec.quota))
    if quota is None or record.id in state.jobs:
        raise _bad("jobs", record.id, f"is there twice, or its quota {record.spec.quota} is not there")
    job = Job(
        spec=record.spec,
        quota=quota,
        phase=record.phase,
        claim=record.claim,
        priority=record.priority,
        core_replicas=record.core_replicas,
        queued_ms=record.queued_ms,
        run=record.run,
        started_ms=record.started_ms,
        checkpoint_ms=record.checkpoint_ms,
        preempted_ms=record.preempted_ms,
        preempted_by=record.preempted_by,
        lost_last=record.lost_last,
        replan_first=record.replan_first,
        losses=record.losses,
        retry_ms=record.retry_ms,
        reason=record.reason,
        told=record.told,
        story=list(record.story),
    )
    state.jobs[job.id] = job
    if job.retry_ms:
        state.put_off[job.id] = job
    if job.phase not in FINAL_PHASES:
        quota.jobs[job.id] = job


def _place(state: State, record: JobRecord) -> None:
    """Put the replicas of a job on their places, and mark those that are leaving."""
    job = state.jobs[record.id]
    if record.leaving:
        leaving = _places(state, job, record.leaving)
        state.begin_leaving(job, leaving)
        state.count_ending(job, tuple([place for place in leaving if place.replica in record.ending]))
    if record.core is None:
        return
    job.core = state.make_unit(job, UnitKind.CORE, job.claim, *_stands(state, job, record.core))
    state.place(job.core)
    for standing in record.extras:
        kind = UnitKind.SURPLUS if standing.surplus else UnitKind.WANTED
        unit = state.make_unit(job, kind, standing.claim or job.claim, *_stands(state, job, standing))
        state.place(unit)
        job.extras[unit.places[0].replica] = unit
    reprice_replicas(state, job)
    if job.core_replicas < job.spec.most_replicas:
        job.quota.tree.elastic[job.id] = job


def _promise(state: State, record: JobRecord) -> None:
    hold = record.hold
    if hold is None:
        return
    job = state.jobs[record.id]
    missing = [other for other in hold.waiting_on if other not in state.jobs]
    if missing:
        raise _bad("jobs", record.id, f"waits for {missing[0]} to leave, which is not there")
    unit = state.make_unit(job, UnitKind.HOLD, Claim.REGULAR, *_stands(state, job, hold.places))
    state.place(unit)
    state.set_hold(job, Hold(unit, hold.waiting_on, hold.expires_ms))


def _guard(state: State, record: QuotaRecord) -> None:
    if record.guard is None:
        return
    quota = state.quotas[record.id]
    if quota.parent is not None:
        raise _bad("quotas", record.id, f"keeps capacity for {record.guard} and is not a root")
    if record.guard not in state.jobs:
        raise _bad("quotas", record.id, f"keeps capacity for {record.guard}, which is not there")
    quota.tree.guard = record.guard
    quota.tree.guard_nodes = frozenset(_node(state, name, record.id).index for name in record.guard_nodes)


def _stands(state: State, job: Job, standing: Standing) -> tuple[tuple[Placed, ...], int]:
    if not standing.places:
        raise _bad("jobs", job.id, "stands on no place at all")
    return _places(state, job, standing.places), standing.started_ms


def _places(state: State, job: Job, places: Iterable[ReplicaPlace]) -> tuple[Placed, ...]:
    found = []
    for replica, name, devices in places:
        node = _node(state, name, job.id)
        if replica < 0 or (len(job.spec.groups) > 1 and replica >= job.spec.wanted_replicas):
            raise _bad("jobs", job.id, f"has no replica {replica}")
        shape = job.shape_of(replica)
        wanted = max(shape.whole_gpus, 1 if shape.fraction_milli else 0)
        if len(set(devices)) != wanted or not all(0 <= d < node.spec.gpus for d in devices):
            raise _bad("jobs", job.id, f"cannot stand on devices {devices} of {name}")
        found.append(Placed(replica, node.index, devices, shape))
    return tuple(found)


def _node(state: State, name: str, whose: str) -> Node:
    node = state.node_by_name.get(name)
    if node is None:
        raise _bad("node", name, f"is named by {whose} and is not there")
    return node


def _check_devices(nodes: list[Node]) -> None:
    """Raise Refused if more of a GPU is given away than there is."""
    for node in nodes:
        if min(node.free, default=0) < 0 or max(node.leaving, default=0) > WHOLE_GPU:
            raise _bad("node", node.spec.name, "has a device that is given away twice")


def _bad(field: str, value: str, message: str) -> Refused:
    return Refused(field, value, "A7", message)
