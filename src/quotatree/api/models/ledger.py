"""Who took what from whom, and what became of them: their own jobs by name, others by priority and size (P13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from typing_extensions import TypedDict

from quotatree.access.redaction import Reader
from quotatree.api.models.decisions import PreemptionOut, preemption_out
from quotatree.api.models.fields import number
from quotatree.codec import decode
from quotatree.core.decisions import Preemption
from quotatree.store import LedgerEntry
from quotatree.store.rows import JobRow, PreemptionRow


class PreemptorOut(TypedDict):
    """Who took it. Of other teams' jobs the reader learns priority, size and the level of the quota; the rest is null."""

    job: str
    name: str | None
    workspace: str | None
    owner: str | None
    module: str | None
    quota: str
    priority: int
    gpus: float


class LedgerOut(TypedDict):
    """`names`: of the jobs in it that the reader may see, by id. `preemptor` is null where no job takes the place of what left."""

    seq: int
    at_ms: int
    preemptor: PreemptorOut | None
    names: dict[str, str]
    preemption: PreemptionOut


class SinceOut(TypedDict):
    """What became of a job that was part of a preemption. `role`: preemptor, victim or demoted."""

    job: str
    name: str
    role: Literal["preemptor", "victim", "demoted"]
    quota: str
    phase: str
    reason_code: str
    position: int | None
    run: int
    started_ms: int | None
    ended_ms: int | None


class LedgerDetail(LedgerOut):
    """`since`: what became of the jobs that the reader may see."""

    since: list[SinceOut]


class LedgerPage(TypedDict):
    items: list[LedgerOut]
    next: str | None


def ledger_out(entry: LedgerEntry, rows: Mapping[str, JobRow], reads: Reader) -> LedgerOut:
    told = decode(Preemption, entry.preemption.body)
    return {
        "seq": entry.preemption.seq,
        "at_ms": entry.preemption.at_ms,
        "preemptor": preemptor_out(entry.preemption, rows.get(entry.preemption.preemptor), reads)
        if entry.preemption.preemptor
        else None,
        "names": {job: rows[job].card.name for job, _ in jobs_in(entry) if job in rows and reads.sees(job)},
        "preemption": preemption_out(reads.preemption(told)),
    }


def preemptor_out(entry: PreemptionRow, row: JobRow | None, reads: Reader) -> PreemptorOut:
    """The preemptor as it is now; `row` None: it is no longer known."""
    seen = reads.sees(entry.preemptor)
    return {
        "job": reads.job(entry.preemptor),
        "name": row.card.name if row is not None and seen else None,
        "workspace": entry.workspace if seen else None,
        "owner": row.owner if row is not None and seen else None,
        "module": row.record.spec.module.value if row is not None and seen else None,
        "quota": reads.quota(entry.quota),
        "priority": 0 if row is None else row.priority,
        "gpus": 0 if row is None else number(row.gpu_milli),
    }


def jobs_in(entry: LedgerEntry) -> list[tuple[str, Literal["preemptor", "victim", "demoted"]]]:
    """The jobs of an entry, each once, with what they were in it."""
    found: dict[str, Literal["preemptor", "victim", "demoted"]] = {}
    if entry.preemption.preemptor:
        found[entry.preemption.preemptor] = "preemptor"
    for victim in entry.victims:
        found.setdefault(victim.job, "victim")
    for job in decode(Preemption, entry.preemption.body).demoted:
        found.setdefault(job, "demoted")
    return list(found.items())


def since_out(row: JobRow, role: Literal["preemptor", "victim", "demoted"], position: int | None) -> SinceOut:
    return {
        "job": row.id,
        "name": row.card.name,
        "role": role,
        "quota": row.quota,
        "phase": row.phase,
        "reason_code": row.reason_code,
        "position": position,
        "run": row.run,
        "started_ms": row.started_ms,
        "ended_ms": row.card.ended_ms,
    }
