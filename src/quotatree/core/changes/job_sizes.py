"""How many replicas does a job insist on, want and can it use at most (P12)? And what else does it ask for, while it waits?"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes import effects
from quotatree.core.changes.admission import check_can_ever_fit, check_grace
from quotatree.core.changes.evictions import evict_all
from quotatree.core.changes.replicas import settle, shrink_core
from quotatree.core.errors import Refused
from quotatree.core.model.job import FINAL_PHASES, Claim, Job, JobSpec
from quotatree.core.model.policy import Module
from quotatree.core.reasons import Code, because
from quotatree.core.sentences import Sentence, a_job
from quotatree.core.state import State

Decisions = tuple[say.Decision, ...]


def resized(state: State, event: ev.JobResized, now_ms: int) -> Decisions:
    """Change how many replicas a job insists on, wants, and can use at most.

    Replicas beyond what it can use leave with grace, the newest first; all others run on, whatever they now count as.
    """
    job = state.jobs.get(event.job)
    if job is None:
        raise Refused("job", event.job, "J4", "no such job")
    spec = resized_spec(job, event.replicas, event.min_replicas, event.max_replicas)
    core = spec.core_replicas
    if core > max(job.core_replicas, job.running_replicas):
        check_can_ever_fit(state, spec, job.quota)
    found: list[say.Decision] = []
    if job.hold is not None and _outgrown(job, spec):
        found.append(effects.release(state, job, now_ms, because(Code.CoreResized), again=True))
    effects.clear_guard(state, job)
    state.dequeue(job)
    state.set_spec(job, spec, core)
    most = "" if spec.max_replicas is None else f", max_replicas {spec.max_replicas}"
    state.tell(job, now_ms, f"replicas {spec.wanted_replicas}, min_replicas {core}{most}")
    if job.core is not None:
        found += _fit_what_runs(state, job, now_ms)
    state.requeue(job)
    return tuple(found)


def altered(state: State, event: ev.JobAltered, now_ms: int) -> Decisions:
    """Replace what a job asks for that does not run. It keeps its place in the queue, which goes by its submit time."""
    spec = event.asked
    job = state.jobs.get(spec.id)
    if job is None:
        raise Refused("job", spec.id, "J4", "no such job")
    if job.core is not None or job.phase in FINAL_PHASES:
        raise Refused(
            "job", job.id, "J5", f"is {job.phase.value}; what it asks for can be changed only while it waits"
        )
    check_grace(state, spec)
    check_can_ever_fit(state, spec, job.quota)
    found: list[say.Decision] = []
    if job.hold is not None:
        found.append(effects.release(state, job, now_ms, because(Code.RequestChanged), again=True))
    effects.clear_guard(state, job)
    state.dequeue(job)
    state.set_spec(job, spec, spec.core_replicas)
    state.learn(job)
    state.tell(job, now_ms, "asks for something else")
    state.requeue(job)
    return tuple(found)


def resized_spec(
    job: Job, replicas: int | None, min_replicas: int | None, max_replicas: int | None = None
) -> JobSpec:
    """Return the job's request with the new numbers, or raise Refused.

    What is not named stays: a figure that was given bounds the others, and one that never was follows its default. Naming
    a figure with the value of its default takes it away.
    """
    spec = job.spec
    given = [("min_replicas", min_replicas), ("max_replicas", max_replicas), ("replicas", replicas)]
    said = [(name, value) for name, value in given if value is not None]
    if not said:
        raise Refused("replicas", None, "P12", "say replicas, min_replicas or max_replicas")
    if len(spec.groups) != 1:
        field, value = said[0]
        raise Refused(field, value, "P12", "only a job of one group can be resized")
    if job.phase in FINAL_PHASES:
        raise Refused("job", job.id, "A5", f"is {job.phase.value}")
    wanted = spec.wanted_replicas if replicas is None else replicas
    least = _least(spec, wanted, min_replicas)
    most = _most(spec, wanted, max_replicas)
    group = spec.groups[0]._replace(replicas=wanted)
    sized = replace(spec, groups=(group,), min_replicas=least, max_replicas=most)
    _check_gang(job, sized)
    return sized


def _least(spec: JobSpec, wanted: int, named: int | None) -> int | None:
    """Return the min_replicas of a job that wants so many: the named one, or the one it has; None is the default."""
    if named is not None:
        if not 1 <= named <= wanted:
            raise Refused("min_replicas", named, "P12", f"must be 1..{wanted} (replicas)")
        return None if named == (1 if spec.module is Module.EAS else wanted) else named
    if spec.min_replicas is not None and 1 <= wanted < spec.min_replicas:
        raise Refused(
            "replicas", wanted, "P12", f"must be at least {_in_the_way('min_replicas', spec.min_replicas)}"
        )
    return spec.min_replicas


def _most(spec: JobSpec, wanted: int, named: int | None) -> int | None:
    """Return the max_replicas of a job that wants so many: the named one, or the one it has; None is the default."""
    if named is not None:
        return None if named == wanted else named
    if spec.max_replicas is not None and wanted > spec.max_replicas:
        raise Refused(
            "replicas", wanted, "P12", f"must be at most {_in_the_way('max_replicas', spec.max_replicas)}"
        )
    return spec.max_replicas


def _in_the_way(name: str, value: int) -> str:
    option = "--" + name.replace("_", "-")
    return f"{value}, its {name}, which stays unless it is named: say {name} ({option}) too"


def _check_gang(job: Job, sized: JobSpec) -> None:
    """Raise Refused if a gang that runs would become a gang of another size."""
    before, wanted = job.spec.wanted_replicas, sized.wanted_replicas
    gang = job.spec.module is not Module.EAS and job.core_replicas == before
    if gang and job.core is not None and wanted != before and sized.core_replicas == wanted:
        raise Refused(
            "replicas", wanted, "P12",
            Sentence(
                a_job(job.id), f" runs as a gang of {before}: stop it first, or lower min_replicas if it can do with fewer"
            ),
        )  # fmt: skip


def _outgrown(job: Job, spec: JobSpec) -> bool:
    """Return whether the hold of a job is not what it needs any more: another core, or more places than it wants."""
    assert job.hold is not None
    held = len(job.hold.unit.places)
    return spec.core_replicas != job.core_replicas or job.running_replicas + held > spec.wanted_replicas


def _fit_what_runs(state: State, job: Job, now_ms: int) -> list[say.Decision]:
    """Make what runs fit the new sizes: evict the newest replicas beyond the most it can use; return what was decided."""
    shrink_core(state, job)
    reason = because(Code.FewerReplicas, replicas=job.spec.most_replicas)
    newest_first = sorted(job.extras.values(), key=lambda u: (-u.started_ms, -u.places[0].replica))
    too_many = max(0, job.running_replicas - job.spec.most_replicas)
    gone = newest_first[:too_many]
    regular = [unit.places[0] for unit in gone if unit.cls.claim is Claim.REGULAR]
    found: list[say.Decision] = list(evict_all(state, gone, now_ms, reason, None, counts=False))
    state.count_ending(job, tuple(regular))
    joined = settle(state, job, now_ms)
    if joined:
        state.tell(job, now_ms, f"{joined} more replica(s) became core")
        found.append(say.Promote(job.id, because(Code.CoreGrows)))
    return found
