"""What a server reads when it starts to lead: everything that is still alive, and the numbers to go on with."""

from __future__ import annotations

from dataclasses import dataclass

from quotatree.access.directory import Directory
from quotatree.core.records import Snapshot
from quotatree.store.rows import IdempotencyRow, JobRow, PlacementRow, RunRow, WebhookRow


@dataclass(frozen=True, slots=True)
class LastNumbers:
    """The last numbers given out."""

    event: int = 0
    decision: int = 0
    preemption: int = 0
    audit: int = 0
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Loaded:
    """`jobs` are those of the snapshot: not finished, or still leaving. Runs and placements are the open ones."""

    snapshot: Snapshot
    directory: Directory
    jobs: tuple[JobRow, ...]
    runs: tuple[RunRow, ...]
    placements: tuple[PlacementRow, ...]
    versions: dict[tuple[str, str], int]
    webhooks: tuple[WebhookRow, ...]
    answers: tuple[IdempotencyRow, ...]
    counters: LastNumbers
