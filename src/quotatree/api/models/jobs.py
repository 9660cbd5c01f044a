"""A job as it is asked for, and as it is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from quotatree.access.allowed import Allowed
from quotatree.access.redaction import Reader
from quotatree.api.models.fields import (
    JOB_LABEL,
    PRIORITY_NAMES,
    Body,
    Cpus,
    Duration,
    Gpus,
    Label,
    Labels,
    Memory,
    ModuleName,
    Name,
    Priority,
    ReplicaCount,
    memory_text,
    number,
    span,
)
from quotatree.api.problems import Problem
from quotatree.control.commands.values import SubmitJob
from quotatree.control.program_secrets import FIELD, sealed, shown
from quotatree.core import (
    DEFAULT_GRACE_MS,
    DOWN_AFTER_MS,
    MOST_TARGET,
    Autoscale,
    Idle,
    Module,
    Reason,
    ReplicaGroup,
    Shape,
    name_of,
)
from quotatree.store.rows import JobRow, PlacementRow, RunRow


class GroupIn(Body):
    """Equal replicas; each finds its place on one node."""

    replicas: ReplicaCount = 1
    gpus: Gpus = 0
    cpu: Cpus = 0
    memory: Memory = Field(default=0, json_schema_extra={"default": "0Mi"})
    models: Annotated[list[Label], Field(max_length=50)] = Field(default=[])
    labels: Labels = Field(default={})
    name: Name = "worker"

    def group(self) -> ReplicaGroup:
        shape = Shape(
            self.gpus, self.cpu, self.memory, tuple(self.models), tuple(sorted(self.labels.items()))
        )
        return ReplicaGroup(self.replicas, shape, self.name)


def _as_requests(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST_TARGET:
        raise ValueError(f"must be a number of requests above 0 and at most {MOST_TARGET}, such as 8")
    milli = round(value * 1000)
    if milli < 1 or abs(milli - value * 1000) > 1e-6 * milli:
        raise ValueError("must be in steps of 0.001")
    return milli


Requests = Annotated[
    int,
    PlainValidator(_as_requests),
    WithJsonSchema({"type": "number", "minimum": 0.001, "maximum": MOST_TARGET, "examples": [8]}),
]


class AutoscaleIn(Body):
    """Let `replicas` follow demand (P16): between `min` and `max`, so that each has `target` requests in flight.

    `down_after`: for so long the demand must have been lower before replicas go."""

    min: ReplicaCount
    max: ReplicaCount
    target: Requests
    down_after: Duration = Field(default=DOWN_AFTER_MS, json_schema_extra={"default": "5m"})

    def value(self) -> Autoscale:
        return Autoscale(self.min, self.max, self.target, self.down_after)


class JobIn(Body):
    """A job to be queued. `program` is what the engine runs, in its own words; what stands in it under `secrets` is never
    shown again. With `autoscale`, a service starts with `autoscale.min` replicas unless it says more."""

    workspace: Name
    quota: Name
    groups: Annotated[
        list[GroupIn], Field(min_length=1, max_length=100, examples=[[{"replicas": 2, "gpus": 8}]])
    ]
    name: Annotated[str, StringConstraints(pattern=JOB_LABEL)] = ""
    module: ModuleName = "DLC"
    priority: Priority = 1
    min_replicas: ReplicaCount | None = None
    max_replicas: ReplicaCount | None = None
    idle: Literal["never", "allow", "only"] = "never"
    grace: Duration = Field(default=DEFAULT_GRACE_MS, json_schema_extra={"default": "30s"})
    checkpoint_interval: Duration | None = None
    max_preemptions: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    requeue: bool = False
    on_hold: bool = False
    autoscale: AutoscaleIn | None = None
    program: dict[str, Any] = Field(default={}, examples=[{"seconds": 60}])

    @field_validator("program")
    @classmethod
    def _secrets(cls, program: dict[str, Any]) -> dict[str, Any]:
        """Check the form of `secrets`, for every engine: values must be known as secrets before a message shows any."""
        inside = program.get(FIELD, {})
        if not isinstance(inside, dict) or not all(isinstance(value, str) for value in inside.values()):
            raise ValueError('secrets must be names with texts, such as {"KEY": "value"}')
        return program

    def command(self, actor: str, key: str | None = None) -> SubmitJob:
        return SubmitJob(
            actor=actor,
            key=key,
            workspace=self.workspace,
            quota=self.quota,
            groups=tuple(self._group(group) for group in self.groups),
            name=self.name,
            module=Module(self.module),
            priority=self.priority,
            min_replicas=self.min_replicas,
            max_replicas=self.max_replicas,
            idle=Idle(self.idle),
            grace_ms=self.grace,
            checkpoint_interval_ms=self.checkpoint_interval,
            max_preemptions=self.max_preemptions,
            requeue=self.requeue,
            on_hold=self.on_hold,
            program=sealed(self.program),
            autoscale=None if self.autoscale is None else self.autoscale.value(),
        )

    def _group(self, said: GroupIn) -> ReplicaGroup:
        group = said.group()
        follows = self.autoscale is not None and "replicas" not in said.model_fields_set
        return replace(group, replicas=self.autoscale.min) if self.autoscale and follows else group


class JobsIn(Body):
    jobs: Annotated[list[JobIn], Field(min_length=1, max_length=1000)]


class PriorityIn(Body):
    priority: Priority


class ResizeIn(Body):
    min_replicas: ReplicaCount


class ReplicasIn(Body):
    """At least one of the three: what the job wants, what it insists on, what it can use at most (P12)."""

    replicas: ReplicaCount | None = None
    min_replicas: ReplicaCount | None = None
    max_replicas: ReplicaCount | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.replicas is None and self.min_replicas is None and self.max_replicas is None:
            raise ValueError("replicas, min_replicas or max_replicas must be given")
        return self


class AutoscaleOut(TypedDict):
    min: int
    max: int
    target: float
    down_after: str


def _autoscale_out(auto: Autoscale | None) -> AutoscaleOut | None:
    if auto is None:
        return None
    return {
        "min": auto.min_replicas,
        "max": auto.max_replicas,
        "target": number(auto.target_milli),
        "down_after": span(auto.down_after_ms) or "0s",
    }


class ReasonOut(TypedDict):
    """Why, as a stable code and as a sentence. `rules` are the numbers of the rules behind it, in the rulebook.

    `facts`: what fills the sentence, by name, such as `quota`, `wanted`, `free`.
    """

    code: str
    text: str
    rules: list[str]
    facts: dict[str, str]


def reason_out(reason: Reason) -> ReasonOut:
    return {
        "code": reason.code.name,
        "text": reason.text,
        "rules": list(reason.rules),
        "facts": dict(reason.facts),
    }


class PlaceOut(TypedDict):
    replica: int
    node: str
    devices: list[int]
    surplus: bool


class GroupOut(TypedDict):
    name: str
    replicas: int
    gpus: float
    cpu: float
    memory: str
    models: list[str]
    labels: dict[str, str]


class JobOut(TypedDict):
    """`core_replicas`, `replicas`, `most_replicas`: what it insists on, wants and can use (P12); `min_replicas` and
    `max_replicas` are what its owner said of it. `reason` and its code say why it waits now; `position` is its place in the queue of its quota, where it was asked for; `ending`
    says of a failed job what went wrong. `allowed`: what the reader's roles let them do to it."""

    id: str
    name: str
    workspace: str
    quota: str
    owner: str
    module: str
    priority: int
    priority_name: str | None
    phase: str
    reason_code: str
    reason: ReasonOut | None
    ending: str | None
    position: int | None
    submitted_ms: int
    first_started_ms: int | None
    started_ms: int | None
    ended_ms: int | None
    gpus: float
    run: int
    claim: str
    replicas: int
    core_replicas: int
    most_replicas: int
    running_replicas: int
    groups: list[GroupOut]
    min_replicas: int | None
    max_replicas: int | None
    autoscale: AutoscaleOut | None
    idle: str
    grace: str | None
    checkpoint_interval: str | None
    max_preemptions: int | None
    requeue: bool
    preempted: int
    preempted_by: str | None
    places: list[PlaceOut]
    program: dict[str, Any]
    allowed: list[str]


class JobPage(TypedDict):
    """`total`: how many jobs there are on all pages, where it was asked for."""

    items: list[JobOut]
    next: str | None
    total: int | None


class Submitted(TypedDict):
    """`repeated`: the key was known, and this is the job of then."""

    id: str
    repeated: bool


class BatchItem(TypedDict):
    id: str | None
    problem: Problem | None


class SubmittedMany(TypedDict):
    items: list[BatchItem]
    repeated: bool


class RunPlace(TypedDict):
    replica: int
    node: str
    devices: list[int]
    gpus: float
    from_ms: int
    until_ms: int | None


class RunOut(TypedDict):
    run: int
    claim: str
    started_ms: int
    confirmed_ms: int | None
    ended_ms: int | None
    outcome: str | None
    detail: str
    places: list[RunPlace]


class Runs(TypedDict):
    items: list[RunOut]


def job_out(
    row: JobRow,
    reads: Reader,
    allowed: Allowed,
    position: int | None,
    ending: str | None,
    waits_for: Reason | None,
) -> JobOut:
    """The job as its row has it. `waits_for`: why it waits right now; None: what it was told last, if it waits."""
    record, card, spec = row.record, row.card, row.record.spec
    reason = waits_for or record.told
    told = None if reason is None or row.phase != "Waiting" else reads.reason(reason)
    core = () if record.core is None else record.core.places
    places: list[PlaceOut] = [
        {"replica": place.replica, "node": place.node, "devices": list(place.devices), "surplus": surplus}
        for standing, surplus in ((core, False), *((s.places, s.surplus) for s in record.extras))
        for place in standing
    ]
    return {
        "id": row.id,
        "name": card.name,
        "workspace": row.workspace,
        "quota": row.quota,
        "owner": row.owner,
        "module": spec.module.value,
        "priority": row.priority,
        "priority_name": name_of(row.priority, PRIORITY_NAMES.get({})),
        "phase": row.phase,
        "reason_code": row.reason_code if told is None else told.code.name,
        "reason": None if told is None else reason_out(told),
        "ending": ending,
        "position": position,
        "submitted_ms": spec.submitted_ms,
        "first_started_ms": card.first_started_ms,
        "started_ms": row.started_ms,
        "ended_ms": card.ended_ms,
        "gpus": number(row.gpu_milli),
        "run": record.run,
        "claim": record.claim.value,
        "replicas": spec.wanted_replicas,
        "core_replicas": record.core_replicas,
        "most_replicas": spec.most_replicas,
        "running_replicas": len(places),
        "groups": [_group_out(group) for group in spec.groups],
        "min_replicas": spec.min_replicas,
        "max_replicas": spec.max_replicas,
        "autoscale": _autoscale_out(card.autoscale),
        "idle": spec.idle.value,
        "grace": span(spec.grace_ms),
        "checkpoint_interval": span(spec.checkpoint_interval_ms),
        "max_preemptions": spec.max_preemptions,
        "requeue": spec.requeue,
        "preempted": len(record.preempted_ms),
        "preempted_by": None if record.preempted_by is None else reads.job(record.preempted_by),
        "places": places,
        "program": shown(card.program),
        "allowed": allowed.on_job(row.workspace, row.owner),
    }


def _group_out(group: ReplicaGroup) -> GroupOut:
    shape = group.shape
    return {
        "name": group.name,
        "replicas": group.replicas,
        "gpus": number(shape.gpu_milli),
        "cpu": number(shape.cpu_milli),
        "memory": memory_text(shape.memory_mib),
        "models": list(shape.models),
        "labels": dict(shape.labels),
    }


def run_out(run: RunRow, places: list[PlacementRow]) -> RunOut:
    return {
        "run": run.run,
        "claim": run.claim,
        "started_ms": run.started_ms,
        "confirmed_ms": run.confirmed_ms,
        "ended_ms": run.ended_ms,
        "outcome": run.outcome,
        "detail": run.detail,
        "places": [
            {
                "replica": place.replica,
                "node": place.node,
                "devices": list(place.devices),
                "gpus": number(place.gpu_milli),
                "from_ms": place.from_ms,
                "until_ms": place.until_ms,
            }
            for place in places
        ],
    }
