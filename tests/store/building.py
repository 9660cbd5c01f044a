"""Batches to write: whole jobs with everything the loop writes about them."""

from __future__ import annotations

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


def writer(store: Store) -> int:
    """The epoch of a lease that lasts."""
    epoch = store.take_lease(HOLDER, 0, 1000 * HOUR_MS)
    assert epoch is not None
    return epoch


def batch(epoch: int, number: int, *rows: r.Row, **more: Any) -> r.Batch:
    return r.Batch(1000 + number, HOLDER, epoch, number, rows, **more)


def record(name: str, phase: Phase = Phase.RUNNING, submitted_ms: int = 0, quota: str = "root") -> JobRecord:
    spec = JobSpec(
        JobId(name), quota, (ReplicaGroup(1, Shape(2000, 8000, 65536)),), submitted_ms, priority=5, workspace="lab",
        subjects=("user:ann", "role:developer"),
    )  # fmt: skip
    core = Standing(submitted_ms, (ReplicaPlace(0, "n1", (0, 1)),)) if phase is Phase.RUNNING else None
    told = because(Code.OwnQuotaFull, quota=quota, free="1 GPU", min="8 GPU", wanted="2 GPU")
    return JobRecord(
        spec, phase, Claim.REGULAR, 5, 1, submitted_ms, run=1, started_ms=submitted_ms, core=core, reason="FitsFree",
        told=None if core else told, story=(f"{submitted_ms} submitted", f"{submitted_ms} {phase.value}: FitsFree"),
    )  # fmt: skip


def job(job_id: str, phase: Phase = Phase.RUNNING, submitted_ms: int = 0, **changes: Any) -> r.JobRow:
    values: dict[str, Any] = {
        "id": job_id, "workspace": "lab", "quota": "root", "owner": "ann", "name": f"train-{job_id}", "module": "DLC",
        "priority": 5, "phase": phase.value, "submitted_ms": submitted_ms, "first_started_ms": submitted_ms,
        "started_ms": submitted_ms, "ended_ms": None, "gpu_milli": 2000, "run": 1, "reason_code": "FitsFree",
        "record": record(job_id, phase, submitted_ms, changes.get("quota", "root")),
        "card": {"program": {"seconds": 12.5}, "on_hold": False, "confirmed": [0], "late_ms": None},
    }  # fmt: skip
    return r.JobRow(**{**values, **changes})


def whole_job(number: int, decision_seq: int, event_seq: int) -> list[r.Row]:
    """A job row, its run and place, two decisions and three events."""
    name = f"dlc-{number:08}"
    places = (ReplicaPlace(0, "n1", (0, 1)),)
    start = Start(JobId(name), 1, Claim.REGULAR, places, Step.FREE, because(Code.FitsFree))
    body = encode(start, Decision)
    found: list[r.Row] = [
        job(name, submitted_ms=number),
        r.RunRow(name, 1, "regular", number, None, None, None, ""),
        r.PlacementRow(name, 1, 0, "n1", (0, 1), 2000, number, None),
    ]
    for seq in (decision_seq, decision_seq + 1):
        found.append(r.DecisionRow(seq, number, "Start", name, "lab", "root", "FitsFree", body))
    for seq in range(event_seq, event_seq + 3):
        found.append(
            r.EventRow(seq, number, "job.started", "lab", "root", name, {"run": 1, "claim": "regular"})
        )
    return found


def jobs_batch(epoch: int, number: int, size: int) -> r.Batch:
    """The batch `number` (from 1) of so many new jobs each."""
    rows: list[r.Row] = []
    for index in range((number - 1) * size, number * size):
        rows += whole_job(index, 2 * index + 1, 3 * index + 1)
    return batch(epoch, number, *rows)
