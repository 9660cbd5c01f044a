"""What must be kept of each thing so that the state can be built again: values, one for each row of a store.

Counters, queues and indexes are not here: they follow. Nodes go by name, so that a record can be read by people.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from quotatree.core.decisions import ReplicaPlace
from quotatree.core.model.job import Claim, Job, JobId, JobSpec, Phase, Placed, Shape
from quotatree.core.model.node import Node, NodeSpec, NodeState
from quotatree.core.model.quota import AmountLimit, Quota, QuotaId, QuotaSpec
from quotatree.core.model.resources import ZERO, Bounds, Resources
from quotatree.core.model.unit import Unit
from quotatree.core.reasons import Reason
from quotatree.core.state import Settings, State


class Asked(NamedTuple):
    """A shape and how many replicas of it have been asked for."""

    shape: Shape
    replicas: int


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """One pool. `asked` is the mix of requests seen, `pictured` the part of it by which places are judged (ADR 0015)."""

    name: str
    mixed: bool
    asked: tuple[Asked, ...] = ()
    pictured: tuple[Asked, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node. `index` is its place among all: the planner breaks ties by it. `ill` are devices out of order.

    `foreign` is what others use, if anything, and `foreign_devices` are the devices counted for it (R6).
    """

    index: int
    spec: NodeSpec
    state: NodeState
    ill: tuple[int, ...] = ()
    foreign: Resources | None = None
    foreign_devices: tuple[int, ...] = ()
    cordoned: bool = False

    @property
    def name(self) -> str:
        return self.spec.name


class Stood(NamedTuple):
    """A job at one of the first positions of a `balance` queue, and since when it has held it (S3)."""

    job: JobId
    since_ms: int


@dataclass(frozen=True, slots=True)
class QuotaRecord:
    """One quota. `order` sorts siblings; `min` is the desired min (Q5), `spec.min` the one it was created with.

    `guard` and `guard_nodes` belong to a root, `shadow` to every quota on the path of the guarded job (S10).
    """

    order: int
    spec: QuotaSpec
    min: Bounds
    actual: Bounds
    shrinking: bool = False
    limits: tuple[AmountLimit, ...] = ()
    shadow: Resources = Resources()
    guard: JobId | None = None
    guard_nodes: tuple[str, ...] = ()
    stood: tuple[Stood, ...] = ()

    @property
    def id(self) -> QuotaId:
        return self.spec.id


class Standing(NamedTuple):
    """The places of one unit, and since when it stands there.

    Of a replica beyond the core also its claim, if that is not the core's, and whether it is surplus (P12).
    """

    started_ms: int
    places: tuple[ReplicaPlace, ...]
    claim: Claim | None = None
    surplus: bool = False


@dataclass(frozen=True, slots=True)
class Promised:
    """The hold of a job (P9)."""

    places: Standing
    waiting_on: tuple[JobId, ...]
    expires_ms: int


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One job: what was asked, what became of it, and where its replicas stand, are promised places or are leaving."""

    spec: JobSpec
    phase: Phase
    claim: Claim
    priority: int
    core_replicas: int
    queued_ms: int
    run: int = 0
    started_ms: int = 0
    checkpoint_ms: int | None = None
    core: Standing | None = None
    extras: tuple[Standing, ...] = ()
    hold: Promised | None = None
    leaving: tuple[ReplicaPlace, ...] = ()
    ending: tuple[int, ...] = ()
    """Those of `leaving` that still count for what else their quota may start (P9)."""
    preempted_ms: tuple[int, ...] = ()
    preempted_by: JobId | None = None
    lost_last: int = 0
    replan_first: bool = False
    losses: int = 0
    retry_ms: int = 0
    reason: str = ""
    told: Reason | None = None
    story: tuple[str, ...] = ()

    @property
    def id(self) -> JobId:
        return self.spec.id


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that the planner's answers depend on."""

    settings: Settings
    pools: tuple[PoolRecord, ...]
    nodes: tuple[NodeRecord, ...]
    quotas: tuple[QuotaRecord, ...]
    jobs: tuple[JobRecord, ...]


def pool_record(state: State, name: str) -> PoolRecord:
    mix = state.mixes.get(name)
    if mix is None:
        return PoolRecord(name, state.pools[name])
    return PoolRecord(name, state.pools[name], _asked(mix.counts), _asked(mix.typical.requests))


def _asked(counts: dict[Shape, int]) -> tuple[Asked, ...]:
    return tuple(Asked(shape, counts[shape]) for shape in sorted(counts))


def node_record(node: Node) -> NodeRecord:
    return NodeRecord(
        index=node.index,
        spec=node.spec,
        state=node.state,
        ill=tuple(sorted(node.ill)),
        foreign=node.foreign if node.foreign != ZERO else None,
        foreign_devices=tuple(sorted(node.foreign_devices)),
        cordoned=node.cordoned,
    )


def quota_record(state: State, quota: Quota) -> QuotaRecord:
    guard = quota.tree.guard if quota.parent is None else None
    guard_nodes = quota.tree.guard_nodes if quota.parent is None else ()
    return QuotaRecord(
        order=quota.order,
        spec=quota.spec,
        min=Bounds(*quota.min),
        actual=Bounds(*quota.actual),
        shrinking=quota.shrinking,
        limits=state.limits.get(quota.id, ()),
        shadow=Resources(*quota.shadow),
        guard=guard,
        guard_nodes=tuple(state.nodes[index].spec.name for index in sorted(guard_nodes)),
        stood=tuple(Stood(*entry) for entry in quota.queue.stood),
    )


def job_record(state: State, job: Job) -> JobRecord:
    hold = job.hold
    extras = [job.extras[index] for index in sorted(job.extras)]
    leaving = [job.leaving[index] for index in sorted(job.leaving)]
    promised = None
    if hold is not None:
        promised = Promised(_standing(state, hold.unit), hold.waiting_on, hold.expires_ms)
    return JobRecord(
        spec=job.spec,
        phase=job.phase,
        claim=job.claim,
        priority=job.priority,
        core_replicas=job.core_replicas,
        queued_ms=job.queued_ms,
        run=job.run,
        started_ms=job.started_ms,
        checkpoint_ms=job.checkpoint_ms,
        core=None if job.core is None else _standing(state, job.core),
        extras=tuple(_extra(state, job, unit) for unit in extras),
        hold=promised,
        leaving=_named(state, leaving),
        ending=tuple(sorted(job.ending)),
        preempted_ms=job.preempted_ms,
        preempted_by=job.preempted_by,
        lost_last=job.lost_last,
        replan_first=job.replan_first,
        losses=job.losses,
        retry_ms=job.retry_ms,
        reason=job.reason,
        told=job.told,
        story=tuple(job.story),
    )


def _standing(state: State, unit: Unit) -> Standing:
    return Standing(unit.started_ms, _named(state, unit.places))


def _extra(state: State, job: Job, unit: Unit) -> Standing:
    claim = None if unit.cls.claim is job.claim else unit.cls.claim
    return _standing(state, unit)._replace(claim=claim, surplus=unit.is_surplus)


def _named(state: State, places: Iterable[Placed]) -> tuple[ReplicaPlace, ...]:
    nodes = state.nodes
    return tuple(ReplicaPlace(p.replica, nodes[p.node].spec.name, p.devices) for p in places)
