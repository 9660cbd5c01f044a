"""What may a job ask for? Its request as users say it, not checked yet; its fields are the table that the edges read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, NewType

from quotatree.core.model.noun_fields import Changed, said, table_of
from quotatree.core.model.noun_fields import ValueKind as Kind
from quotatree.core.model.policy import LOWEST_PRIORITY, Module
from quotatree.core.model.resources import WHOLE_GPU, Resources

JobId = NewType("JobId", str)

DEFAULT_GRACE_MS: Final = 30_000


class Idle(Enum):
    """Whether a job may run on capacity that regular work does not use now (I1)."""

    __hash__ = object.__hash__  # each member is one object; an Enum would hash its name at every look-up

    NEVER = "never"
    ALLOW = "allow"
    ONLY = "only"


class Shape(NamedTuple):
    """What one replica needs of one node."""

    gpu_milli: int
    cpu_milli: int
    memory_mib: int
    models: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def resources(self) -> Resources:
        return Resources(self.gpu_milli, self.cpu_milli, self.memory_mib)

    @property
    def whole_gpus(self) -> int:
        """Entire devices wanted; 0 for a fraction or for none."""
        return self.gpu_milli // WHOLE_GPU

    @property
    def fraction_milli(self) -> int:
        """Share of one device wanted; 0 for whole devices or for none."""
        return self.gpu_milli if self.gpu_milli < WHOLE_GPU else 0


class ReplicaGroup(NamedTuple):
    """`replicas` equal replicas of a job."""

    replicas: int
    shape: Shape
    name: str = "worker"


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a job asks for, not checked yet. Its id, submit time and subjects are given to it, and follow then.

    What has metadata is said by users, and known to every edge: a new one is an entry here and its behaviour.
    """

    id: JobId
    """Name of the job, one of a kind among those that are not finished."""
    quota: str = field(
        metadata=said(Kind.NAME, "W1", "The quota it is submitted to and counts in.", Changed.NEVER)
    )
    groups: tuple[ReplicaGroup, ...] = field(
        metadata=said(Kind.GROUPS, "J3", "The replicas it asks for, at least one group.", Changed.NEVER)
    )
    """Replicas are numbered through all groups, from 0 on."""
    submitted_ms: int
    """When it was submitted; a victim keeps its place in the queue by it."""
    module: Module = field(
        default=Module.DLC,
        metadata=said(
            Kind.CHOICE,
            "P6",
            "Training, notebook or service: decides what an eviction costs and what becomes of a victim.",
            Changed.NEVER,
        ),
    )
    priority: int = field(
        default=LOWEST_PRIORITY,
        metadata=said(Kind.PRIORITY, "W5", "1, the lowest, to 9.", Changed.WAITING),
    )
    """As submitted; `Job.priority` is what holds now."""
    workspace: str = field(
        default="default",
        metadata=said(Kind.NAME, "W1", "The workspace whose members may see and change it.", Changed.NEVER),
    )
    min_replicas: int | None = field(
        default=None,
        metadata=said(
            Kind.REPLICAS,
            "P12",
            "Of a job of one group: how many start together or not at all.",
            Changed.RESIZE,
            unset="1 for EAS, else all",
        ),
    )
    max_replicas: int | None = field(
        default=None,
        metadata=said(
            Kind.REPLICAS,
            "P12",
            "Of a job of one group: most that it can use; beyond `replicas`, surplus.",
            Changed.RESIZE,
            unset="no surplus",
        ),
    )
    idle: Idle = field(
        default=Idle.NEVER,
        metadata=said(
            Kind.CHOICE,
            "I1",
            "Whether it may run, or runs only, on what regular work does not use now.",
            Changed.NEVER,
        ),
    )
    grace_ms: int = field(
        default=DEFAULT_GRACE_MS,
        metadata=said(
            Kind.DURATION, "P14", "How long a replica may take to end after it was told to.", Changed.NEVER
        ),
    )
    checkpoint_interval_ms: int | None = field(
        default=None,
        metadata=said(
            Kind.DURATION,
            "P6",
            "How often it saves its work; not set, it reports checkpoints or has none.",
            Changed.NEVER,
        ),
    )
    max_preemptions: int | None = field(
        default=None,
        metadata=said(
            Kind.COUNT,
            "P11",
            "It fails when it was preempted more often than this.",
            Changed.NEVER,
            unset="no limit",
        ),
    )
    requeue: bool = field(
        default=False,
        metadata=said(
            Kind.FLAG,
            "P14",
            "A notebook only: queue it again when it was evicted, instead of stopping it.",
            Changed.NEVER,
        ),
    )
    subjects: tuple[str, ...] = ()
    """Subjects whose amount limits bind it (W3): "user:ann", "role:developer"."""


JOB_FIELDS: Final = table_of(JobRequest)
JOB_SETTINGS: Final = tuple(one for one in JOB_FIELDS if one.kind not in (Kind.NAME, Kind.GROUPS))
"""The fields that every job has a value of, if nothing is said of them."""
