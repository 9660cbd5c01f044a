"""How many replicas does a job want, and how many of them are its core? Its owner may change that (P12)."""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes import effects
from quotatree.core.changes.admission import check_can_ever_fit
from quotatree.core.errors import Refused
from quotatree.core.model.job import FINAL_PHASES, Job, JobSpec
from quotatree.core.model.policy import Module
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Code, because
from quotatree.core.state import State

Decisions = tuple[say.Decision, ...]


def resized(state: State, event: ev.JobResized, now_ms: int) -> Decisions:
    """Change how many replicas a job wants and how many of them are its core.

    For a larger core the job waits with all its rights; replicas beyond a smaller core become surplus. Replicas beyond
    the number wanted leave with grace: surplus, the newest first.
    """
    job = state.jobs.get(event.job)
    if job is None:
        raise Refused("job", event.job, "J4", "no such job")
    spec = resized_spec(job, event.replicas, event.min_replicas)
    core = spec.core_replicas
    if core > max(job.core_replicas, len(job.core_indexes) + len(job.surplus)):
        check_can_ever_fit(state, spec, job.quota)
    found: list[say.Decision] = []
    if job.hold is not None and core != job.core_replicas:
        found.append(effects.release(state, job, now_ms, because(Code.CoreResized), again=True))
    effects.clear_guard(state, job)
    state.dequeue(job)
    state.set_spec(job, spec, core)
    state.tell(job, now_ms, f"replicas {spec.total_replicas}, min_replicas {core}")
    if job.core is not None:
        found += _fit_what_runs(state, job, now_ms)
    if job.queued:
        state.enqueue(job)
    return tuple(found)


def resized_spec(job: Job, replicas: int | None, min_replicas: int | None) -> JobSpec:
    """Return the job's request with the new numbers, or raise Refused.

    None leaves a number as it is, but for the core of a gang, which stays all replicas, and a core is never larger than
    the replicas.
    """
    spec = job.spec
    if replicas is None and min_replicas is None:
        raise Refused("replicas", None, "P12", "say replicas, min_replicas, or both")
    if len(spec.groups) != 1:
        field, value = ("replicas", replicas) if min_replicas is None else ("min_replicas", min_replicas)
        raise Refused(field, value, "P12", "only a job of one group can be resized")
    if job.phase in FINAL_PHASES:
        raise Refused("job", job.id, "A5", f"is {job.phase.value}")
    before = spec.total_replicas
    total = before if replicas is None else replicas
    gang = spec.module is not Module.EAS and job.core_replicas == before
    if min_replicas is not None:
        if not 1 <= min_replicas <= total:
            raise Refused("min_replicas", min_replicas, "P12", f"must be 1..{total} (replicas)")
        core = min_replicas
    else:
        core = total if gang else min(job.core_replicas, total)
    if gang and job.core is not None and total != before and core == total:
        raise Refused(
            "replicas", total, "P12",
            f"{job.id} runs as a gang of {before}: stop it first, or lower min_replicas if it can do with fewer",
        )  # fmt: skip
    wanted = replace(spec, groups=(replace(spec.groups[0], replicas=total),), min_replicas=None)
    said = min_replicas is not None or spec.min_replicas is not None
    return replace(wanted, min_replicas=core) if said or wanted.core_replicas != core else wanted


def _fit_what_runs(state: State, job: Job, now_ms: int) -> list[say.Decision]:
    """Shrink the running core to the size wanted, and evict surplus beyond the replicas wanted; return the evictions.

    A job whose core is now too small waits from `now_ms` on.
    """
    if len(job.core_indexes) > job.core_replicas:
        _shrink_core(state, job, job.core_replicas)
    if job.core_replicas < job.spec.total_replicas:
        state.put_entry(job.quota.tree.elastic, job.id, job)
    else:
        state.drop_entry(job.quota.tree.elastic, job.id)
    state.remember_surplus(job, None)
    if len(job.core_indexes) < job.core_replicas:
        state.set_queued(job, now_ms)
    reason = because(Code.FewerReplicas, replicas=job.spec.total_replicas)
    newest_first = sorted(job.surplus.values(), key=lambda u: (-u.started_ms, -u.places[0].replica))
    too_many = len(job.core_indexes) + len(job.surplus) - job.spec.total_replicas
    return [
        effects.evict(state, unit, now_ms, reason, None, counts=False)
        for unit in newest_first[: max(0, too_many)]
    ]


def _shrink_core(state: State, job: Job, size: int) -> None:
    """Shrink the core to its first `size` replicas; the others run on as surplus."""
    old = job.core
    assert old is not None
    state.displace(old, leaves=False)
    keep, extra = old.places[:size], old.places[size:]
    core = state.make_unit(job, UnitKind.CORE, job.claim, keep, old.started_ms)
    state.place(core)
    state.set_core(job, core)
    for place in extra:
        unit = state.make_unit(job, UnitKind.SURPLUS, job.claim, (place,), old.started_ms)
        state.place(unit)
        state.put_surplus(job, unit)
