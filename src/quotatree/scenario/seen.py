"""What is to be seen at one time of a scenario: of its decisions, of the state after them, of what explain says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quotatree.core import (
    GPU,
    WHOLE_GPU,
    Claim,
    Code,
    Explanation,
    Job,
    JobId,
    JobSpec,
    Phase,
    QuotaId,
    State,
    explain,
    exposure,
    preview,
    quota_report,
)
from quotatree.core.decisions import Decision, Evict, Hold, Preemption, Start
from quotatree.core.events import JobSubmitted
from quotatree.scenario.kinds import jobs_by_kind, preemption_of, step_word


@dataclass(frozen=True, slots=True)
class Seen:
    """One time of the scenario, after everything of that time has happened.

    `state` is a copy: explain and preview undo what they try, but make the planner forget which attempts failed, and
    looking must not change the play.
    """

    state: State
    now_ms: int
    decisions: Sequence[Decision]
    previews: dict[str, JobSpec]

    def job(self, name: str) -> Job | None:
        return self.state.jobs.get(JobId(name))

    def explanation(self, name: str) -> Explanation | None:
        return explain(self.state, JobId(name), self.now_ms) if JobId(name) in self.state.jobs else None


# -- decisions ---------------------------------------------------------------------------------------------------


def reason_codes(seen: Seen, name: str) -> list[Code]:
    """The reason code of each decision about this job."""
    return [decision.reason.code for decision in seen.decisions if decision.job == name]


def step(seen: Seen, name: str) -> str | None:
    """The step of P4 by which the job started or was held; None if it was not."""
    steps = [step_word(d.step) for d in seen.decisions if isinstance(d, Start | Hold) and d.job == name]
    return steps[0] if steps else None


def of_preemption(value_of: Callable[[Preemption], int]) -> Callable[[Seen, str], int | None]:
    """A finder of one figure in the ledger's entry (P13) of a preemptor; it returns None if there is no entry."""

    def find(seen: Seen, name: str) -> int | None:
        found = [preemption_of(decision) for decision in seen.decisions if decision.job == name]
        entries = [entry for entry in found if entry is not None]
        return value_of(entries[-1]) if entries else None

    return find


def lost_work(seen: Seen, name: str) -> int | None:
    """The work the job loses by its evictions at this time, before its priority's weight; None if it has none."""
    losses = [d.lost_work for d in seen.decisions if isinstance(d, Evict) and d.job == name]
    return sum(losses) if losses else None


# -- the state after them ----------------------------------------------------------------------------------------


def phase(seen: Seen, name: str) -> Phase | None:
    job = seen.job(name)
    return job.phase if job is not None else None


def claim(seen: Seen, name: str) -> Claim | None:
    job = seen.job(name)
    return job.claim if job is not None and job.running else None


def replicas(seen: Seen, name: str) -> int | None:
    job = seen.job(name)
    return len(job.core_indexes) + len(job.extras) if job is not None else None


def preemptions(seen: Seen, name: str) -> int | None:
    job = seen.job(name)
    return len(job.preempted_ms) if job is not None else None


def nodes_of(seen: Seen, name: str) -> tuple[str, ...] | None:
    """The nodes that a job's replicas stand on or are promised, sorted; None if there is no such job."""
    job = seen.job(name)
    if job is None:
        return None
    promised = job.hold.unit if job.hold is not None else None
    units = [unit for unit in (job.core, promised, *job.extras.values()) if unit is not None]
    return tuple(sorted({seen.state.nodes[index].spec.name for unit in units for index in unit.nodes}))


def node_free(seen: Seen, name: str) -> int | None:
    """Milli-GPU of a node on which nothing runs, is promised, or is still leaving; None if there is no such node."""
    node = seen.state.node_by_name.get(name)
    if node is None:
        return None
    return sum(node.device_free(device, True) for device in range(node.spec.gpus))


def quota_figures(state: State, name: str) -> dict[str, int] | None:
    """The GPU figures of Q7, in milli-GPU; `queued_jobs` in thousandths of a job, so that all read alike."""
    if QuotaId(name) not in state.quotas:
        return None
    report = quota_report(state, QuotaId(name))
    return {
        "min": report.desired.gpu_milli or 0,
        "actual": report.actual.gpu_milli or 0,
        "used": report.used_own[GPU] + report.used_below[GPU],
        "own": report.used_own[GPU],
        "below": report.used_below[GPU],
        "loan": report.loan[GPU],
        "squeezed": report.squeezed[GPU],
        "shortfall": report.shortfall[GPU],
        "idle_lent": report.idle_lent[GPU],
        "idle_borrowed": report.idle_borrowed[GPU],
        "queued": report.queued[GPU],
        "queued_jobs": report.queued_jobs * WHOLE_GPU,
        "free": report.free[GPU],
    }


# -- what explain says -------------------------------------------------------------------------------------------


def told_codes(seen: Seen, name: str) -> list[Code]:
    """The reason codes that explain gives for a job, overall and for each step it tried (X1)."""
    told = seen.explanation(name)
    if told is None:
        return []
    return [reason.code for reason in told.reasons] + [tried.reason.code for tried in told.tried]


def holders(seen: Seen, name: str) -> tuple[str, ...] | None:
    told = seen.explanation(name)
    return tuple(sorted({holder.quota for holder in told.holders})) if told is not None else None


def ahead(seen: Seen, name: str) -> tuple[str, ...] | None:
    told = seen.explanation(name)
    return told.ahead if told is not None else None


def preempted_by(seen: Seen, name: str) -> str | None:
    told = seen.explanation(name)
    return told.preempted_by if told is not None else None


def exposed_to(seen: Seen, name: str) -> tuple[str, ...] | None:
    """The quotas whose jobs could take this one (X4), sorted; None if it does not run."""
    job = seen.job(name)
    if job is None or not job.running:
        return None
    return tuple(sorted({risk.quota for risk in exposure(seen.state, job.id, seen.now_ms)}))


def queue(seen: Seen, name: str) -> tuple[str, ...]:
    """The jobs of a quota's queue, in order."""
    places = []
    for job in seen.state.jobs.values():
        if job.quota.id == name and job.queued:
            told = explain(seen.state, job.id, seen.now_ms)
            if told.position is not None:
                places.append((told.position, str(job.id)))
    return tuple(job for _, job in sorted(places))


def previewed(seen: Seen, name: str) -> dict[str, tuple[str, ...]] | None:
    """The jobs by kind of decision if this job of [[preview]] were submitted now (X3); None if there is no such job."""
    spec = seen.previews.get(name)
    if spec is None:
        return None
    return jobs_by_kind(preview(seen.state, [JobSubmitted(spec)], seen.now_ms))
