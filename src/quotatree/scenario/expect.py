"""Did the scenario go as its file says? Every word an expectation may use, how it is read and how it is checked.

WORDS is the whole vocabulary. A check returns None or a sentence with what was expected and what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from quotatree.core.decisions import Decision, Evict
from quotatree.core.events import JobSubmitted
from quotatree.core.explain import Explanation, explain, exposure, preview
from quotatree.core.job import Claim, Job, JobId, JobSpec, Phase
from quotatree.core.quota import QuotaId
from quotatree.core.reasons import Code, Step
from quotatree.core.report import quota_report
from quotatree.core.resources import GPU, WHOLE_GPU
from quotatree.core.state import State
from quotatree.core.unit import GPU_SECOND
from quotatree.scenario.amounts import (
    Unreadable,
    as_count,
    as_flag,
    as_gpu_milli,
    as_gpu_seconds,
    as_map,
    as_text,
    as_text_or_texts,
    as_texts,
    one_of,
)
from quotatree.scenario.kinds import KINDS, jobs_by_kind, preemption_of, step_word


@dataclass(frozen=True, slots=True)
class Seen:
    """A time of the scenario, after everything of that time has happened."""

    state: State
    now_ms: int
    decisions: Sequence[Decision]
    previews: dict[str, JobSpec]

    def job(self, name: str) -> Job | None:
        return self.state.jobs.get(JobId(name))

    def explanation(self, name: str) -> Explanation | None:
        return explain(self.state, JobId(name), self.now_ms) if JobId(name) in self.state.jobs else None


Checker = Callable[[Seen, Any], str | None]


@dataclass(frozen=True, slots=True)
class Word:
    """`jobs` tells where job names stand in the value, so that the loader can check and expand them:
    "list", "keys" (of a table), "values" (lists in a table), or "none"."""

    read: Callable[[object], object]
    check: Checker
    jobs: str
    meaning: str


# -- comparing ---------------------------------------------------------------------------------------------------


def _same_jobs(wanted: Iterable[str], seen: Iterable[str]) -> str | None:
    missing = [job for job in wanted if job not in set(seen)]
    extra = [job for job in seen if job not in set(wanted)]
    if not missing and not extra:
        return None
    return f"expected {_names(wanted)}; seen {_names(seen)}"


def _names(jobs: Iterable[str]) -> str:
    return ", ".join(jobs) or "nobody"


def _each(value_of: Callable[[Seen, str], object], text: Callable[[object], str] = str) -> Checker:
    """Check a table job -> value against what `value_of` finds."""

    def check(seen: Seen, wanted: tuple[tuple[str, object], ...]) -> str | None:
        faults = []
        for name, value in wanted:
            found = value_of(seen, name)
            if found != value:
                faults.append(
                    f"{name} expected {text(value)}, seen {'nothing' if found is None else text(found)}"
                )
        return "; ".join(faults) or None

    return check


# -- decisions of this time --------------------------------------------------------------------------------------


def _decided(kind: str) -> Checker:
    def check(seen: Seen, wanted: tuple[str, ...]) -> str | None:
        return _same_jobs(wanted, jobs_by_kind(seen.decisions).get(kind, ()))

    return check


def _quiet(seen: Seen, wanted: bool) -> str | None:
    decided = [
        f"{kind} {_names(jobs)}" for kind, jobs in jobs_by_kind(seen.decisions).items() if kind != "wait"
    ]
    if wanted:
        return f"expected no decision; seen {'; '.join(decided)}" if decided else None
    return None if decided else "expected some decision; seen none"


def _reason(seen: Seen, wanted: tuple[tuple[str, Code], ...]) -> str | None:
    faults = []
    for name, code in wanted:
        codes = [d.reason.code for d in seen.decisions if d.job == name]
        if code not in codes:
            faults.append(f"{name} expected {code.name}, seen {_names(c.name for c in codes)}")
    return "; ".join(faults) or None


def _by_preemption(value_of: Callable[[Any], object]) -> Callable[[Seen, str], object]:
    """A figure of the ledger's entry (P13) of a preemptor."""

    def find(seen: Seen, name: str) -> object:
        found = [preemption_of(d) for d in seen.decisions if d.job == name]
        entries = [entry for entry in found if entry is not None]
        return value_of(entries[-1]) if entries else None

    return find


def _step(seen: Seen, name: str) -> object:
    steps = [step_word(d.step) for d in seen.decisions if d.job == name and hasattr(d, "step")]
    return steps[0] if steps else None


def _lost(seen: Seen, name: str) -> object:
    losses = [d.lost_work for d in seen.decisions if isinstance(d, Evict) and d.job == name]
    return sum(losses) if losses else None


# -- the state after it ------------------------------------------------------------------------------------------


def _all_in(phase: Phase, inside: bool) -> Checker:
    def check(seen: Seen, wanted: tuple[str, ...]) -> str | None:
        found = [(name, seen.job(name)) for name in wanted]
        wrong = [
            f"{name} is {job.phase.value if job else 'not there'}"
            for name, job in found
            if (job is not None and job.phase is phase) is not inside
        ]
        return f"expected {'' if inside else 'not '}{phase.value}; seen {', '.join(wrong)}" if wrong else None

    return check


def _phase(seen: Seen, name: str) -> object:
    job = seen.job(name)
    return job.phase if job is not None else None


def _claim(seen: Seen, name: str) -> object:
    job = seen.job(name)
    return job.claim if job is not None and job.running else None


def _replicas(seen: Seen, name: str) -> object:
    job = seen.job(name)
    return len(job.core_indexes) + len(job.surplus) if job is not None else None


def _preemptions(seen: Seen, name: str) -> object:
    job = seen.job(name)
    return len(job.preempted_ms) if job is not None else None


def _on(seen: Seen, name: str) -> object:
    """The nodes a job's replicas stand on, or are promised to stand on."""
    job = seen.job(name)
    if job is None:
        return None
    units = [unit for unit in (job.core, job.hold.unit if job.hold else None, *job.surplus.values()) if unit]
    return tuple(sorted({seen.state.nodes[index].spec.name for unit in units for index in unit.nodes}))


def _node_free(seen: Seen, name: str) -> object:
    """GPUs of a node on which nobody runs, is promised to run, or is still leaving."""
    node = seen.state.node_by_name.get(name)
    return sum(node.device_free(d, True) for d in range(node.spec.gpus)) if node is not None else None


def _quota(seen: Seen, wanted: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]) -> str | None:
    faults = []
    for name, figures in wanted:
        if QuotaId(name) not in seen.state.quotas:
            faults.append(f"there is no quota {name}")
            continue
        found = quota_figures(seen.state, name)
        for figure, value in figures:
            if found[figure] != value:
                faults.append(f"{name} {figure} expected {_gpus(value)}, seen {_gpus(found[figure])}")
    return "; ".join(faults) or None


def quota_figures(state: State, name: str) -> dict[str, int]:
    """The GPU figures of Q7, in milli-GPU; `queued_jobs` in thousandths of a job, to be read alike."""
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


def _why(seen: Seen, wanted: tuple[tuple[str, tuple[Code, ...]], ...]) -> str | None:
    faults = []
    for name, codes in wanted:
        told = seen.explanation(name)
        found = [] if told is None else [r.code for r in told.reasons] + [t.reason.code for t in told.tried]
        missing = [code for code in codes if code not in found]
        if missing:
            faults.append(
                f"{name} expected {_names(c.name for c in missing)}, seen {_names(c.name for c in found)}"
            )
    return "; ".join(faults) or None


def _holders(seen: Seen, name: str) -> object:
    told = seen.explanation(name)
    return tuple(sorted({holder.quota for holder in told.holders})) if told is not None else None


def _ahead(seen: Seen, name: str) -> object:
    told = seen.explanation(name)
    return tuple(told.ahead) if told is not None else None


def _preempted_by(seen: Seen, name: str) -> object:
    told = seen.explanation(name)
    return told.preempted_by if told is not None else None


def _exposed(seen: Seen, name: str) -> object:
    if seen.job(name) is None:
        return None
    return tuple(sorted({risk.quota for risk in exposure(seen.state, JobId(name), seen.now_ms)}))


def _queue(seen: Seen, name: str) -> object:
    """The jobs of a quota's queue in order."""
    places = []
    for job in seen.state.jobs.values():
        if job.quota.id == name and job.queued:
            told = explain(seen.state, job.id, seen.now_ms)
            if told.position is not None:
                places.append((told.position, str(job.id)))
    return tuple(job for _, job in sorted(places))


def _preview(
    seen: Seen, wanted: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
) -> str | None:
    faults = []
    for name, kinds in wanted:
        spec = seen.previews.get(name)
        if spec is None:
            faults.append(f"{name} is not declared in [[preview]]")
            continue
        found = jobs_by_kind(preview(seen.state, [JobSubmitted(spec)], seen.now_ms))
        for kind, jobs in kinds:
            fault = _same_jobs(jobs, found.get(kind, ()))
            if fault:
                faults.append(f"{name} {kind} {fault}")
    return "; ".join(faults) or None


# -- reading -----------------------------------------------------------------------------------------------------


def _as_code(value: object) -> Code:
    name = as_text(value)
    if name not in Code.__members__:
        raise Unreadable(f"{name} is not a reason code; allowed: {', '.join(Code.__members__)}")
    return Code[name]


def _as_codes(value: object) -> tuple[Code, ...]:
    return tuple(_as_code(name) for name in as_text_or_texts(value))


def _as_step(value: object) -> str:
    allowed = [step_word(step) for step in Step]
    if value not in allowed:
        raise Unreadable(f"must be one of {', '.join(allowed)}")
    return str(value)


def _as_nodes(value: object) -> tuple[str, ...]:
    return tuple(sorted(as_text_or_texts(value)))


FIGURES: Final = (
    "min", "actual", "used", "own", "below", "loan", "squeezed", "shortfall", "idle_lent", "idle_borrowed",
    "queued", "queued_jobs", "free",
)  # fmt: skip


def _as_figures(value: object) -> tuple[tuple[str, int], ...]:
    found = as_map(as_gpu_milli)(value)
    for figure, _ in found:
        if figure not in FIGURES:
            raise Unreadable(f"{figure} is not a figure of a quota; allowed: {', '.join(FIGURES)}")
    return found


def _as_kinds(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = as_map(as_texts)(value)
    for kind, _ in found:
        if kind not in KINDS:
            raise Unreadable(f"{kind} is not a kind of decision; allowed: {', '.join(KINDS)}")
    return found


def _gpus(milli: object) -> str:
    return f"{milli / WHOLE_GPU:g}" if isinstance(milli, int) else str(milli)


def _gpu_seconds(cost: object) -> str:
    return f"{cost / GPU_SECOND:g} GPU-s" if isinstance(cost, int) else str(cost)


def _value(member: object) -> str:
    return str(getattr(member, "value", member))


WORDS: Final[dict[str, Word]] = {
    **{
        kind: Word(as_texts, _decided(kind), "list", f"exactly these jobs: {meaning}")
        for kind, meaning in KINDS.items()
        if kind != "wait"
    },
    "quiet": Word(as_flag, _quiet, "none", "no decision at this time (false: at least one)"),
    "reason": Word(as_map(_as_code), _reason, "keys", "reason code of a decision about the job"),
    "step": Word(as_map(_as_step), _each(_step), "keys", "step of P4 by which the job starts or is held"),
    "cost": Word(as_map(as_gpu_seconds), _each(_by_preemption(lambda p: p.cost), _gpu_seconds), "keys",
                 "cost of the job's preemption, weighed by priority, in GPU-seconds (P5)"),
    "cost_without_ladder": Word(
        as_map(as_gpu_seconds), _each(_by_preemption(lambda p: p.cost_without_ladder), _gpu_seconds), "keys",
        "what the cheapest lawful set without the priority ladder would have cost (P5)"),
    "lost": Word(as_map(as_gpu_seconds), _each(_lost, _gpu_seconds), "keys", "lost work of a victim, in GPU-seconds (P6)"),
    "running": Word(as_texts, _all_in(Phase.RUNNING, True), "list", "these jobs run, maybe others too"),
    "not_running": Word(as_texts, _all_in(Phase.RUNNING, False), "list", "these jobs do not run"),
    "waiting": Word(as_texts, _all_in(Phase.WAITING, True), "list", "these jobs wait"),
    "held": Word(as_texts, _all_in(Phase.HELD, True), "list", "these jobs have a hold"),
    "phase": Word(as_map(one_of(Phase)), _each(_phase, _value), "keys", "phase of a job"),
    "claim": Word(as_map(one_of(Claim)), _each(_claim, _value), "keys", "claim of a running job: regular or idle"),
    "replicas": Word(as_map(as_count), _each(_replicas), "keys", "how many replicas of the job run"),
    "preemptions": Word(as_map(as_count), _each(_preemptions), "keys", "how many preemptions count for the job"),
    "on": Word(as_map(_as_nodes), _each(_on), "keys", "the nodes a job stands on or is promised"),
    "node_free": Word(as_map(as_gpu_milli), _each(_node_free, _gpus), "none", "GPUs of a node free at this moment"),
    "quota": Word(as_map(_as_figures), _quota, "none", "figures of a quota (Q7)"),
    "queue": Word(as_map(as_texts), _each(_queue), "values", "the waiting jobs of a quota, in order"),
    "why": Word(as_map(_as_codes), _why, "keys", "reason codes that explain names for a waiting job (X1)"),
    "holders": Word(as_map(_as_nodes), _each(_holders), "keys", "quotas that explain names as holders (X1)"),
    "ahead": Word(as_map(as_texts), _each(_ahead), "keys", "jobs ahead of a waiting one, in order (X1)"),
    "preempted_by": Word(as_map(as_text), _each(_preempted_by), "keys", "who took a victim's place (X2)"),
    "exposed": Word(as_map(_as_nodes), _each(_exposed), "keys", "quotas whose jobs could take a running one (X4)"),
    "preview": Word(as_map(_as_kinds), _preview, "keys", "what submitting a job of [[preview]] would decide (X3)"),
}  # fmt: skip
