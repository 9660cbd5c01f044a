"""A job as it is asked for, and what is answered to that."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from quotatree.api.models.fields import (
    JOB_LABEL,
    Body,
    Cpus,
    Duration,
    Gpus,
    Label,
    Labels,
    Memory,
    Name,
    Priority,
    ReplicaCount,
)
from quotatree.api.models.noun_fields import fields_said, takes
from quotatree.api.problems import Problem
from quotatree.control.commands.values import ResizeJob, SubmitJob
from quotatree.control.program_secrets import FIELD, sealed
from quotatree.core import (
    DOWN_AFTER_MS,
    JOB_SETTINGS,
    MOST_TARGET,
    Autoscale,
    JobId,
    JobRequest,
    ReplicaGroup,
    Shape,
)


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


@takes(JOB_SETTINGS)
class _JobSettings(Body):
    workspace: Name
    quota: Name
    groups: Annotated[
        list[GroupIn], Field(min_length=1, max_length=100, examples=[[{"replicas": 2, "gpus": 8}]])
    ]
    name: Annotated[str, StringConstraints(pattern=JOB_LABEL)] = ""


class JobIn(_JobSettings):
    """A job to be queued. `program` is what the engine runs, in its own words; what stands in it under `secrets` is never
    shown again. With `autoscale`, a service starts with `autoscale.min` replicas unless it says more."""

    on_hold: bool = False
    autoscale: AutoscaleIn | None = None
    program: dict[str, Any] = Field(default={}, examples=[{"seconds": 60}])

    @field_validator("groups")
    @classmethod
    def _named_once(cls, groups: list[GroupIn]) -> list[GroupIn]:
        """Refuse a name that two groups were given; without one all are called worker."""
        names = [group.name for group in groups if "name" in group.model_fields_set]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two groups are called {twice[0]}; give each a name of its own, or none")
        return groups

    @field_validator("program")
    @classmethod
    def _secrets(cls, program: dict[str, Any]) -> dict[str, Any]:
        """Check the form of `secrets`, for every engine: values must be known as secrets before a message shows any."""
        inside = program.get(FIELD, {})
        if not isinstance(inside, dict) or not all(isinstance(value, str) for value in inside.values()):
            raise ValueError('secrets must be names with texts, such as {"KEY": "value"}')
        return program

    def command(self, actor: str, key: str | None = None) -> SubmitJob:
        asked = JobRequest(
            id=JobId(""),
            quota=self.quota,
            groups=tuple(self._group(group) for group in self.groups),
            submitted_ms=0,
            workspace=self.workspace,
            **fields_said(self, JOB_SETTINGS),
        )
        return SubmitJob(
            actor=actor,
            key=key,
            asked=asked,
            name=self.name,
            on_hold=self.on_hold,
            program=sealed(self.program),
            autoscale=None if self.autoscale is None else self.autoscale.value(),
        )

    def _group(self, said: GroupIn) -> ReplicaGroup:
        group = said.group()
        follows = self.autoscale is not None and "replicas" not in said.model_fields_set
        return group._replace(replicas=self.autoscale.min) if self.autoscale and follows else group


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

    def command(self, actor: str, job: str) -> ResizeJob:
        return ResizeJob(
            actor=actor,
            job=job,
            replicas=self.replicas,
            min_replicas=self.min_replicas,
            max_replicas=self.max_replicas,
        )


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
