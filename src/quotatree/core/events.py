"""Everything that can happen to the state: commands of people and reports of engines, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from quotatree.core.model.job import JobId, JobSpec, Phase, Placed
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.quota import AmountLimit, QuotaSpec
from quotatree.core.model.resources import Bounds, Resources
from quotatree.core.reasons import Reason


class ScaleMode(Enum):
    """What a decrease below what is used does (Q5)."""

    REFUSE = "refuse"
    LAZY = "lazy"
    RECLAIM = "reclaim"


@dataclass(frozen=True, slots=True)
class PoolDeclared:
    """A pool is declared; a `mixed` one holds several GPU models (R4)."""

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
class NodeRemoved:
    """A node on which nothing stands is taken out of its pool for good; one of the same name may join again (R5)."""

    node: str


@dataclass(frozen=True, slots=True)
class PoolRemoved:
    """A pool without nodes, from which no root draws, is taken away (R4)."""

    pool: str


@dataclass(frozen=True, slots=True)
class DeviceChanged:
    """A GPU fell ill, or is well again; the other devices of its node stay in use (R5)."""

    node: str
    device: int
    healthy: bool


@dataclass(frozen=True, slots=True)
class NodeAltered:
    """A known node has other GPUs, CPU, memory, model, labels or another pool than before (R2)."""

    node: NodeSpec


@dataclass(frozen=True, slots=True)
class ForeignUse:
    """Others than our jobs use this much of a node (R6)."""

    node: str
    use: Resources


@dataclass(frozen=True, slots=True)
class QuotaCreated:
    quota: QuotaSpec


@dataclass(frozen=True, slots=True)
class QuotaUpdated:
    """Strategy, policies, protections or lending of a quota change (Q6). Parent, pools and min stay as they are."""

    quota: QuotaSpec


@dataclass(frozen=True, slots=True)
class QuotaScaled:
    """A quota gets a new min (Q5), as an absolute amount; a root gets `draws`, or `min` if it has one pool."""

    quota: str
    min: Bounds = Bounds()
    draws: tuple[tuple[str, Bounds], ...] = ()
    mode: ScaleMode = ScaleMode.REFUSE


@dataclass(frozen=True, slots=True)
class QuotaTransferred:
    """Capacity moves from one child of a parent to another in one step (Q5)."""

    source: str
    target: str
    amount: Bounds
    mode: ScaleMode = ScaleMode.REFUSE


@dataclass(frozen=True, slots=True)
class QuotaDeleted:
    quota: str


@dataclass(frozen=True, slots=True)
class LoanReturned:
    """An admin returns a quota's loan by hand (P15)."""

    quota: str


@dataclass(frozen=True, slots=True)
class LimitsSet:
    """One quota gets these amount limits instead of all it had (W3)."""

    quota: str
    limits: tuple[AmountLimit, ...]


@dataclass(frozen=True, slots=True)
class JobSubmitted:
    job: JobSpec


@dataclass(frozen=True, slots=True)
class JobAdopted:
    """A job that runs already becomes known (recovery, scenarios).

    Without `places` free ones are found. `replicas`: how many run, at least the core; None: all.
    """

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
    """A checkpoint was written, or a notebook's state saved: at `at_ms`, or now if that is None."""

    job: JobId
    at_ms: int | None = None


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
    """The engine confirms that leaving replicas are gone; None: all of the job that were leaving."""

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
    """A job is stopped before its end: by a longest run or wait (W3), or because its owner puts it on hold.

    `final`: it ends as Failed and cannot be started again.
    """

    job: JobId
    reason: Reason
    final: bool = False


@dataclass(frozen=True, slots=True)
class JobLost:
    """Replicas are gone, and it is not known how they ended (A7). `detail`: what the engine knows of it, in its words.

    `at_start`: the run had not begun yet, however long that took.
    """

    job: JobId
    replicas: tuple[int, ...]
    detail: str = ""
    at_start: bool = False


@dataclass(frozen=True, slots=True)
class JobPriorityChanged:
    """The priority of a job changes; refused unless the job waits (W5)."""

    job: JobId
    priority: int


@dataclass(frozen=True, slots=True)
class JobResized:
    """The owner changes how many replicas a job insists on, wants, or can use (P12); None: as before."""

    job: JobId
    min_replicas: int | None = None
    replicas: int | None = None
    max_replicas: int | None = None


@dataclass(frozen=True, slots=True)
class JobAltered:
    """The owner replaces what a job asks for, while it does not run: `asked` has its id, quota, workspace and submit time (J5)."""

    asked: JobSpec


Event = (
    PoolDeclared
    | NodeJoined
    | NodeChanged
    | NodeRemoved
    | PoolRemoved
    | DeviceChanged
    | NodeAltered
    | ForeignUse
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
    | JobAltered
)
