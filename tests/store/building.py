"""Batches to write: whole jobs with everything the loop writes about them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quotatree.codec import encode
from quotatree.core.decisions import Decision, ReplicaPlace, Start
from quotatree.core.model.job import Claim, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.reasons import Code, Step, because
from quotatree.core.records import JobRecord, Standing
from quotatree.store import Store
from quotatree.store import rows as r

HOLDER = "server-1"
HOUR_MS = 3_600_000


@cache
def migrated_file() -> bytes:
    """An SQLite file with empty tables, migrated once for all tests of a process."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "empty.db"
        store = Store.open(str(path))
        store.migrate()
        store.close()
        return path.read_bytes()


def writer(store: Store) -> int:
    """The epoch of a lease that lasts."""
    epoch = store.take_lease(HOLDER, 0, 1000 * HOUR_MS)
    assert epoch is not None
    return epoch


def batch(epoch: int, number: int, *rows: r.Row, **more: Any) -> r.Batch:
    return r.Batch(1000 + number, HOLDER, epoch, number, rows, **more)


def record(name: str, phase: Phase = Phase.RUNNING, submitted_ms: int = 0, **of_spec: Any) -> JobRecord:
    spec = JobSpec(
        JobId(name), "root", (ReplicaGroup(1, Shape(2000, 8000, 65536)),), submitted_ms, priority=5, workspace="lab",
        subjects=("user:ann", "role:developer"),
    )  # fmt: skip
    spec = replace(spec, **of_spec)
    core = Standing(submitted_ms, (ReplicaPlace(0, "n1", (0, 1)),)) if phase is Phase.RUNNING else None
    told = because(Code.OwnQuotaFull, quota=spec.quota, free="1 GPU", min="8 GPU", wanted="2 GPU")
    return JobRecord(
        spec, phase, Claim.REGULAR, 5, 1, submitted_ms, run=1, started_ms=submitted_ms, core=core, reason="FitsFree",
        told=None if core else told, story=(f"{submitted_ms} submitted", f"{submitted_ms} {phase.value}: FitsFree"),
    )  # fmt: skip


def job(job_id: str, phase: Phase = Phase.RUNNING, submitted_ms: int = 0, **of_spec: Any) -> r.JobRow:
    return row_of(record(job_id, phase, submitted_ms, **of_spec), first_started_ms=submitted_ms)


def row_of(record: JobRecord, **of_card: Any) -> r.JobRow:
    """The row of a job with this record, and a card with these facts."""
    card = r.Card(f"train-{record.id}", "ann", {"seconds": 12.5}, confirmed=(0,))
    return r.JobRow(record, replace(card, **of_card), "FitsFree")


def whole_job(number: int, decision_seq: int, event_seq: int, workspace: str = "lab") -> list[r.Row]:
    """A job row, its run and place, two decisions and three events."""
    name = f"dlc-{number:08}"
    places = (ReplicaPlace(0, "n1", (0, 1)),)
    start = Start(JobId(name), 1, Claim.REGULAR, places, Step.FREE, because(Code.FitsFree))
    body = encode(start, Decision)
    found: list[r.Row] = [
        job(name, submitted_ms=number, workspace=workspace),
        r.RunRow(name, 1, "regular", number, None, None, None, ""),
        r.PlacementRow(name, 1, 0, "n1", (0, 1), 2000, number, None),
    ]
    for seq in (decision_seq, decision_seq + 1):
        found.append(r.DecisionRow(seq, number, "Start", name, workspace, "root", "FitsFree", body))
    for seq in range(event_seq, event_seq + 3):
        found.append(
            r.EventRow(seq, number, "job.started", workspace, "root", name, {"run": 1, "claim": "regular"})
        )
    return found


def jobs_batch(epoch: int, number: int, size: int) -> r.Batch:
    """The batch `number` (from 1) of so many new jobs each."""
    rows: list[r.Row] = []
    for index in range((number - 1) * size, number * size):
        rows += whole_job(index, 2 * index + 1, 3 * index + 1)
    return batch(epoch, number, *rows)
