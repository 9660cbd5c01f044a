"""What is written: one frozen value for each row of a table, and the batch that a commit is made of.

`record` values are the core's own (quotatree.core.records); `body` is JSON. Times are milliseconds since
the epoch. Sequence numbers are the writer's: there is only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quotatree.access.differences import Differences
from quotatree.core import Autoscale, JobId, JobRecord, NodeRecord, Phase, PoolRecord, QuotaRecord
from quotatree.store.samples import Sample, Span

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PoolRow:
    name: str
    record: PoolRecord
    version: int


@dataclass(frozen=True, slots=True)
class NodeRow:
    name: str
    record: NodeRecord
    version: int


@dataclass(frozen=True, slots=True)
class QuotaRow:
    id: str
    record: QuotaRecord
    version: int


@dataclass(frozen=True, slots=True)
class Card:
    """What the server knows of a job beside its record.

    `confirmed` are the replicas of the present run that the engine has confirmed: after a crash, a missing replica is
    lost if it was confirmed, and is started again if not. `late_ms` is the start of the wait that was reported as too
    long; None: none was. `restart_key` names the last rolling restart of the present run, which is ordered again after a
    crash; "": there was none. `autoscale`: how its `replicas` follow demand; None: they stay as its owner says (P16).
    """

    name: str
    owner: str
    program: Mapping[str, Any]
    on_hold: bool = False
    first_started_ms: int | None = None
    ended_ms: int | None = None
    confirmed: tuple[int, ...] = ()
    late_ms: int | None = None
    restart_key: str = ""
    autoscale: Autoscale | None = None


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job with its latest record (a finished one keeps its last) and its card; all other columns follow from them.

    `reason_code` is the public reason code of its phase; for a waiting job, it says why the job waits.
    """

    record: JobRecord
    card: Card
    reason_code: str

    @property
    def id(self) -> JobId:
        return self.record.spec.id

    @property
    def workspace(self) -> str:
        return self.record.spec.workspace

    @property
    def quota(self) -> str:
        return self.record.spec.quota

    @property
    def owner(self) -> str:
        return self.card.owner

    @property
    def priority(self) -> int:
        """The present priority, which may differ from the one at submit."""
        return self.record.priority

    @property
    def phase(self) -> str:
        """The phase as it is shown: OnHold for a job on hold, whose record says Stopped."""
        on_hold = self.card.on_hold and self.record.phase is Phase.STOPPED
        return "OnHold" if on_hold else self.record.phase.value

    @property
    def started_ms(self) -> int | None:
        """Start of the latest run; None before the first."""
        return self.record.started_ms or None

    @property
    def waits(self) -> bool:
        return self.record.phase in (Phase.WAITING, Phase.HELD)

    @property
    def waits_from_ms(self) -> int:
        """When its present wait began; of a job that does not wait, when its latest run did."""
        record = self.record
        return record.queued_ms if self.waits else record.started_ms or record.queued_ms

    @property
    def gpu_milli(self) -> int:
        """GPUs of all replicas together, in thousandths of a GPU."""
        return sum(group.replicas * group.shape.gpu_milli for group in self.record.spec.groups)

    @property
    def run(self) -> int:
        return self.record.run


@dataclass(frozen=True, slots=True)
class RunRow:
    """Key: (job, run). Open while `ended_ms` is None."""

    job: str
    run: int
    claim: str
    started_ms: int
    confirmed_ms: int | None = None
    ended_ms: int | None = None
    outcome: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PlacementRow:
    """Key: (job, run, replica, from_ms): a surplus replica may leave and come back in one run. Open while `until_ms` is None."""

    job: str
    run: int
    replica: int
    node: str
    devices: tuple[int, ...]
    gpu_milli: int
    from_ms: int
    until_ms: int | None


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A stretch of time in which a run occupied `gpu_milli` under one claim: guaranteed, loan or idle.

    Key: (job, run, claim, from_ms). Open while `until_ms` is None; once closed, it lies within one day (UTC), so that a time is
    looked up by `from_ms` alone. `begins` is 1 in the one stretch with which the run began, else 0.
    """

    job: str
    run: int
    claim: str
    from_ms: int
    until_ms: int | None
    gpu_milli: int
    begins: int
    workspace: str
    quota: str
    owner: str
    module: str


@dataclass(frozen=True, slots=True)
class DecisionRow:
    seq: int
    at_ms: int
    kind: str
    job: str
    workspace: str
    quota: str
    reason_code: str
    body: Json


@dataclass(frozen=True, slots=True)
class PreemptionRow:
    """`preemptor`, `workspace` and `step` are empty where no job takes the place of what left; `quota` is then the one whose admin
    wanted it, if any."""

    seq: int
    at_ms: int
    preemptor: str
    workspace: str
    quota: str
    step: str
    cost: int
    body: Json


@dataclass(frozen=True, slots=True)
class VictimRow:
    """Key: (preemption, position)."""

    preemption: int
    position: int
    job: str
    workspace: str
    quota: str
    priority: int
    gpu_milli: int
    lost_work: int
    cost: int


@dataclass(frozen=True, slots=True)
class LossRow:
    """What a victim lost, and to whom. Key: (preemption, position), those of the victim.

    `lost_work` is in milli-GPU x milliseconds (P6); `preempted` is 1 if it counts as a preemption (P11), else 0. `cause`: the code of
    the reason why it went, empty before causes were recorded. The taker is empty where no job takes its place.
    """

    preemption: int
    position: int
    at_ms: int
    lost_work: int
    preempted: int
    claim: str
    workspace: str
    quota: str
    owner: str
    module: str
    taker_workspace: str
    taker_quota: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class EventRow:
    seq: int
    at_ms: int
    kind: str
    workspace: str | None
    quota: str | None
    job: str | None
    body: Json


@dataclass(frozen=True, slots=True)
class AuditRow:
    seq: int
    at_ms: int
    actor: str
    action: str
    target: str
    workspace: str | None
    body: Json


@dataclass(frozen=True, slots=True)
class IdempotencyRow:
    """Key: (actor, key)."""

    actor: str
    key: str
    fingerprint: str
    status: int
    body: Json
    at_ms: int


@dataclass(frozen=True, slots=True)
class WebhookRow:
    id: str
    workspace: str | None
    url: str
    secret: str = field(repr=False)
    kinds: tuple[str, ...]
    active: bool
    version: int


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """An entry of the outbox. `state`: pending, sent, dead."""

    id: str
    webhook: str
    event_seq: int
    due_ms: int
    attempts: int = 0
    state: str = "pending"
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class EngineRow:
    """The engine that has the open runs. `where` is its place, in words for people."""

    id: str
    where: str


@dataclass(frozen=True, slots=True)
class SampleRow:
    """Figures of a quota over `span`, from `at_ms` on."""

    quota: str
    span: Span
    at_ms: int
    sample: Sample


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """When a job that waited at `asked_ms` was said to start."""

    job: str
    asked_ms: int
    likely_ms: int


Row = (
    PoolRow | NodeRow | QuotaRow | JobRow | RunRow | PlacementRow | UsageRow | DecisionRow | PreemptionRow
    | VictimRow | LossRow | EventRow | AuditRow | IdempotencyRow | WebhookRow | DeliveryRow
    | EngineRow | SampleRow | EstimateRow
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete one row, by its key."""

    row: type[Any]
    key: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """One transaction. It is committed only if (holder, epoch) has the lease and `number` follows the last batch."""

    at_ms: int
    holder: str
    epoch: int
    number: int
    puts: tuple[Row, ...]
    drops: tuple[Drop, ...] = ()
    directory: Differences | None = None
