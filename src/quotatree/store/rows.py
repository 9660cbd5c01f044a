"""What is written: one frozen value for each row of a table, and the batch that a commit is made of.

`record` values are the core's own (quotatree.core.records); `body` and `card` are JSON. Times are milliseconds since
the epoch. Sequence numbers are the writer's: there is only one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from quotatree.access.differences import Differences
from quotatree.core import JobRecord, NodeRecord, PoolRecord, QuotaRecord

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
class JobRow:
    """A job with its latest record; a finished one keeps its last. `card` is what the loop knows beside it."""

    id: str
    workspace: str
    quota: str
    owner: str
    name: str
    module: str
    priority: int
    phase: str
    submitted_ms: int
    first_started_ms: int | None
    started_ms: int | None
    ended_ms: int | None
    gpu_milli: int
    run: int
    reason_code: str
    record: JobRecord
    card: Json


@dataclass(frozen=True, slots=True)
class RunRow:
    """Key: (job, run). Open while `ended_ms` is None."""

    job: str
    run: int
    claim: str
    started_ms: int
    confirmed_ms: int | None
    ended_ms: int | None
    outcome: str | None
    detail: str


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
    attempts: int
    state: str
    last_error: str


@dataclass(frozen=True, slots=True)
class EngineRow:
    """Where what runs really runs. `where` is for people."""

    id: str
    where: str


Row = (
    PoolRow | NodeRow | QuotaRow | JobRow | RunRow | PlacementRow | DecisionRow | PreemptionRow | VictimRow
    | EventRow | AuditRow | IdempotencyRow | WebhookRow | DeliveryRow
    | EngineRow
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete one row, by its key."""

    row: type[Any]
    key: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """One transaction. Committed only if (holder, epoch) still has the lease; `number` rises by one with each."""

    at_ms: int
    holder: str
    epoch: int
    number: int
    puts: tuple[Row, ...]
    drops: tuple[Drop, ...] = ()
    directory: Differences | None = None
