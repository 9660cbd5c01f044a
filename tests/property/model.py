"""A second, naive picture of the world, computed from the jobs' records alone and changed by replaying decisions.

Nothing here uses the core's counters or its rules: amounts are summed over jobs each time they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import NamedTuple

from quotatree.core.decisions import ReplicaPlace
from quotatree.core.model.job import Claim, Idle, Job, JobSpec, Phase, Shape
from quotatree.core.model.node import NodeState
from quotatree.core.model.quota import QuotaSpec
from quotatree.core.state import State

Amount = tuple[int, int, int]


class Place(NamedTuple):
    node: str
    devices: tuple[int, ...]
    shape: Shape

    def on_device(self) -> int:
        return min(self.shape.gpu_milli, 1000)


@dataclass(frozen=True)
class Piece:
    """What can be evicted as one: a core, one replica beyond it that is wanted or surplus, or a hold."""

    job: str
    kind: str
    claim: Claim
    places: tuple[Place, ...]
    started_ms: int = 0
    replica: int = -1

    @cached_property
    def size(self) -> Amount:
        return total(p.shape for p in self.places)


class Extra(NamedTuple):
    """A replica that runs beyond the core: "wanted" or "surplus" (P12)."""

    place: Place
    since_ms: int
    kind: str
    claim: Claim


@dataclass
class JobView:
    """What the records say of one job."""

    id: str
    spec: JobSpec
    quota: str
    priority: int
    module: str
    idle: Idle
    phase: Phase
    claim: Claim
    wants_core: int
    started_ms: int
    checkpoint_ms: int | None
    queued_ms: int
    again: bool = False
    core: dict[int, Place] = field(default_factory=dict)
    extras: dict[int, Extra] = field(default_factory=dict)
    asks: tuple[int, ...] | None = None
    """The replicas that a decision is about, while it is looked at; None: the least that must fit."""
    hold: dict[int, Place] | None = None
    waiting_on: tuple[str, ...] = ()
    expires_ms: int = 0
    leaving: dict[int, Place] = field(default_factory=dict)

    def pieces(self) -> list[Piece]:
        found = []
        if self.core:
            found.append(Piece(self.id, "core", self.claim, tuple(self.core.values()), self.started_ms))
        for replica, (place, since, kind, claim) in self.extras.items():
            found.append(Piece(self.id, kind, claim, (place,), since, replica))
        if self.hold is not None:
            found.append(Piece(self.id, "hold", Claim.REGULAR, tuple(self.hold.values())))
        return found

    def running(self) -> int:
        return len(self.core) + len(self.extras)

    def settle(self) -> None:
        """Let all that runs be core while that is too small; beyond it as much wanted as is asked for, then surplus (P12).

        Regular before idle, what was wanted before what was surplus, the oldest first, then by number.
        """

        def order(number: int) -> tuple[bool, bool, int, int]:
            _, since, kind, claim = self.extras[number]
            return claim is Claim.IDLE, kind == "surplus", since, number

        for number in sorted(self.extras, key=order):
            if self.core and len(self.core) < self.wants_core and self.extras[number].claim is self.claim:
                self.core[number] = self.extras.pop(number).place
        room = sum(group.replicas for group in self.spec.groups) - len(self.core)
        for position, number in enumerate(sorted(self.extras, key=order)):
            kind = "wanted" if position < room else "surplus"
            self.extras[number] = self.extras[number]._replace(kind=kind)


class QuotaView(NamedTuple):
    id: str
    parent: str | None
    min: tuple[int | None, ...]
    spec: QuotaSpec
    shrinking: bool


class NodeView(NamedTuple):
    name: str
    pool: str
    model: str
    gpus: int
    cpu: int
    memory: int
    labels: dict[str, str]
    ready: bool
    """Whether something new may land: in state Ready, and not crowded (R5, R6)."""
    shut: frozenset[int]
    """Devices that are ill, and those counted for others."""
    shared: bool
    """Whether others use some of it; they came without asking, so it may be used beyond what it has (R6)."""

    @property
    def well(self) -> bool:
        return self.ready and not self.shut


@dataclass
class Model:
    quotas: dict[str, QuotaView]
    nodes: dict[str, NodeView]
    jobs: dict[str, JobView]
    limits: list[tuple[str, str, int, int, int]]
    guards: dict[str, tuple[str, frozenset[str]]]
    """By root: the job the starvation guard keeps capacity for, and the nodes it keeps."""

    @classmethod
    def of(cls, state: State) -> Model:
        names = [node.spec.name for node in state.nodes]
        return cls(
            {
                q.id: QuotaView(q.id, q.parent.id if q.parent else None, tuple(q.min), q.spec, q.shrinking)
                for q in state.quotas.values()
            },
            {
                n.spec.name: NodeView(
                    n.spec.name, n.spec.pool, n.spec.model, n.spec.gpus, n.spec.cpu_milli - n.foreign.cpu_milli,
                    n.spec.memory_mib - n.foreign.memory_mib,
                    dict(n.spec.labels), n.state is NodeState.READY and not n.crowded, n.ill | n.foreign_devices,
                    n.crowded or any(n.foreign),
                )
                for n in state.nodes
            },
            {job.id: _view(job, names) for job in state.jobs.values()},
            [(*limit,) for limits in state.limits.values() for limit in limits],
            {
                t.root.id: (t.guard, frozenset(names[i] for i in t.guard_nodes))
                for t in state.trees
                if t.guard is not None
            },
        )  # fmt: skip

    def copy(self) -> Model:
        jobs = {
            name: replace(
                job, core=dict(job.core), extras=dict(job.extras), leaving=dict(job.leaving)
            )
            for name, job in self.jobs.items()
        }  # fmt: skip
        return Model(self.quotas, self.nodes, jobs, self.limits, dict(self.guards))

    # -- the tree --------------------------------------------------------------------------------------------

    def path(self, quota: str) -> list[str]:
        """Return the quota, its parent, and so on up to the root."""
        found = [quota]
        while (parent := self.quotas[found[-1]].parent) is not None:
            found.append(parent)
        return found

    def root(self, quota: str) -> str:
        return self.path(quota)[-1]

    def below(self, quota: str, other: str) -> bool:
        """Return whether `other` is a proper descendant of `quota`."""
        return quota in self.path(other)[1:]

    def children(self, quota: str) -> list[str]:
        return [q.id for q in self.quotas.values() if q.parent == quota]

    def sibling_above(self, taker: str, victim: str) -> str | None:
        """Return the sibling of `taker` that is `victim` or above it, or None."""
        parent = self.quotas[taker].parent
        for quota in self.path(victim):
            if parent is not None and quota != taker and self.quotas[quota].parent == parent:
                return quota
        return None

    # -- amounts ---------------------------------------------------------------------------------------------

    def pieces(self, without: Iterable[Piece] = ()) -> Iterator[Piece]:
        gone = set(without)
        for job in self.jobs.values():
            for piece in job.pieces():
                if not gone or piece not in gone:
                    yield piece

    def sums(self, claim: Claim, without: Iterable[Piece] = ()) -> dict[str, list[int]]:
        """Return what the work of every quota and its descendants uses on one claim."""
        found = {quota: [0, 0, 0] for quota in self.quotas}
        for piece in self.pieces(without):
            if piece.claim is claim:
                for quota in self.path(self.jobs[piece.job].quota):
                    for i in range(3):
                        found[quota][i] += piece.size[i]
        return found

    def used(self, without: Iterable[Piece] = ()) -> dict[str, list[int]]:
        return self.sums(Claim.REGULAR, without)

    def loan(self, quota: str, used: dict[str, list[int]]) -> list[int]:
        return [
            max(0, used[quota][i] - m) if m is not None else 0 for i, m in enumerate(self.quotas[quota].min)
        ]

    def missing(self, job: JobView) -> list[tuple[int, Shape]]:
        """Return the replicas that must fit, as (number, shape): those of a decision, the core, or one that is missing."""
        if job.asks is not None:
            return [(i, shape_of(job, i)) for i in job.asks]
        if not job.core:
            return [(i, shape_of(job, i)) for i in range(job.wants_core)]
        if job.running() >= replicas_of(job):
            return []
        have = {*job.core, *job.extras, *job.leaving}
        return [(next(i for i in count() if i not in have), job.spec.groups[0].shape)]


def _view(job: Job, names: list[str]) -> JobView:
    def place(p: object) -> Place:
        return Place(names[p.node], p.devices, p.shape)  # type: ignore[attr-defined]

    view = JobView(
        job.id, job.spec, job.quota.id, job.priority, job.spec.module.value, job.spec.idle, job.phase, job.claim,
        job.core_replicas, job.core.started_ms if job.core else job.started_ms, job.checkpoint_ms, job.queued_ms,
        job.replan_first,
    )  # fmt: skip
    if job.core is not None:
        view.core = {p.replica: place(p) for p in job.core.places}
    view.extras = {
        i: Extra(place(u.places[0]), u.started_ms, u.cls.kind.value, u.cls.claim)
        for i, u in job.extras.items()
    }
    if job.hold is not None:
        view.hold = {p.replica: place(p) for p in job.hold.unit.places}
        view.waiting_on = job.hold.waiting_on
        view.expires_ms = job.hold.expires_ms
    view.leaving = {i: place(p) for i, p in job.leaving.items()}
    return view


def total(shapes: Iterable[Shape]) -> Amount:
    gpu = cpu = memory = 0
    for shape in shapes:
        gpu, cpu, memory = gpu + shape.gpu_milli, cpu + shape.cpu_milli, memory + shape.memory_mib
    return gpu, cpu, memory


def shape_of(job: JobView, index: int) -> Shape:
    if len(job.spec.groups) == 1:
        return job.spec.groups[0].shape
    for group in job.spec.groups:
        if index < group.replicas:
            return group.shape
        index -= group.replicas
    raise IndexError(index)


def replicas_of(job: JobView) -> int:
    return sum(group.replicas for group in job.spec.groups)


def placed(job: JobView, replicas: Iterable[ReplicaPlace]) -> dict[int, Place]:
    return {r.replica: Place(r.node, r.devices, shape_of(job, r.replica)) for r in replicas}
