"""Everything that can happen to the state: commands of people and reports of engines, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from quotatree.core.model.job import JobId, JobSpec, Phase, Placed
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.quota import AmountLimit, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.reasons import Reason


class ScaleMode(Enum):
    """What a decrease below what is used does (Q5)."""

    REFUSE = "refuse"
    LAZY = "lazy"
    RECLAIM = "reclaim"


@dataclass(frozen=True, slots=True)
class PoolDeclared:
    """A pool; `mixed` ones hold several GPU models (R4)."""

    pool: str
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class NodeJoined:
    node: NodeSpec


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """A node became Ready, Cordoned, Draining or Lost (R5)."""

    node: str
    state: NodeState


@dataclass(frozen=True, slots=True)
class DeviceChanged:
    """A GPU fell ill, or is well again; the other devices of its node stay in use (R5)."""

    node: str
    device: int
    healthy: bool


@dataclass(frozen=True, slots=True)
class QuotaCreated:
    quota: QuotaSpec


@dataclass(frozen=True, slots=True)
class QuotaUpdated:
    """Strategy, policies, protections, lending (Q6). Parent, pools and min stay as they are."""

    quota: QuotaSpec


@dataclass(frozen=True, slots=True)
class QuotaScaled:
    """Set the absolute target of a quota (Q5); `draws` for a root."""

    quota: str
    min: Bounds = Bounds()
    draws: tuple[tuple[str, Bounds], ...] = ()
    mode: ScaleMode = ScaleMode.REFUSE


@dataclass(frozen=True, slots=True)
class QuotaTransferred:
    """Move capacity between two children of one parent in one step (Q5)."""

    source: str
    target: str
    amount: Bounds
    mode: ScaleMode = ScaleMode.REFUSE


@dataclass(frozen=True, slots=True)
class QuotaDeleted:
    quota: str


@dataclass(frozen=True, slots=True)
class LoanReturned:
    """An admin hands a loan back by hand (P15)."""

    quota: str


@dataclass(frozen=True, slots=True)
class LimitsSet:
    """All amount limits of one quota (W3), replacing what was there."""

    quota: str
    limits: tuple[AmountLimit, ...]


@dataclass(frozen=True, slots=True)
class JobSubmitted:
    job: JobSpec


@dataclass(frozen=True, slots=True)
class JobAdopted:
    """A job that runs already (recovery, scenarios). Without places the core finds some."""

    job: JobSpec
    started_ms: int
    checkpoint_ms: int | None = None
    places: tuple[Placed, ...] = ()
    idle: bool = False
    replicas: int | None = None


@dataclass(frozen=True, slots=True)
class JobStarted:
    """The engine confirms a start."""

    job: JobId
    run: int


@dataclass(frozen=True, slots=True)
class JobCheckpointed:
    """A checkpoint was written, or a notebook's state saved."""

    job: JobId


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A running job is over: Succeeded, Failed or Stopped."""

    job: JobId
    phase: Phase = Phase.SUCCEEDED


@dataclass(frozen=True, slots=True)
class JobForgotten:
    """A finished job is not needed in memory any more."""

    job: JobId


@dataclass(frozen=True, slots=True)
class JobLeft:
    """The engine confirms that evicted replicas are gone; None: all of the job that were leaving."""

    job: JobId
    replicas: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class JobCancelled:
    job: JobId


@dataclass(frozen=True, slots=True)
class JobResubmitted:
    """A stopped job (a notebook) is started again by its owner."""

    job: JobId


@dataclass(frozen=True, slots=True)
class JobStopped:
    """Somebody else than its own end stops a job: a longest run or wait (W3), or its owner puts it on hold."""

    job: JobId
    reason: Reason
    final: bool = False


@dataclass(frozen=True, slots=True)
class JobLost:
    """Replicas are gone and nobody knows how they ended (A7)."""

    job: JobId
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JobPriorityChanged:
    """Works while the job waits; later it is an error (W5)."""

    job: JobId
    priority: int


@dataclass(frozen=True, slots=True)
class JobResized:
    """The owner changes how many replicas a job has, or how many of them are its core (P12); None: as before."""

    job: JobId
    min_replicas: int | None = None
    replicas: int | None = None


Event = (
    PoolDeclared
    | NodeJoined
    | NodeChanged
    | DeviceChanged
    | QuotaCreated
    | QuotaUpdated
    | QuotaScaled
    | QuotaTransferred
    | QuotaDeleted
    | LoanReturned
    | LimitsSet
    | JobSubmitted
    | JobAdopted
    | JobStarted
    | JobCheckpointed
    | JobEnded
    | JobForgotten
    | JobLeft
    | JobCancelled
    | JobResubmitted
    | JobStopped
    | JobLost
    | JobPriorityChanged
    | JobResized
)
