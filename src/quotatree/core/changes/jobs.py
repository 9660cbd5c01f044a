"""What happens to jobs: submitted, adopted, checkpointed, ended, cancelled; and what engines confirm."""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes import effects
from quotatree.core.changes.admission import check_can_ever_fit, check_grace, check_places
from quotatree.core.changes.replicas import add_replicas, settle
from quotatree.core.errors import Refused
from quotatree.core.model.job import FINAL_PHASES, Claim, Job, JobId, JobSpec, Phase, Placed
from quotatree.core.model.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.quota_arithmetic import over_while_ending
from quotatree.core.model.resources import ZERO
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Code, because
from quotatree.core.search.placement import find_places
from quotatree.core.sentences import Sentence, a_job
from quotatree.core.state import State

Decisions = tuple[say.Decision, ...]


def _job(state: State, job_id: JobId) -> Job:
    job = state.jobs.get(job_id)
    if job is None:
        raise Refused("job", job_id, "J4", "no such job")
    return job


def _new_job(state: State, spec: JobSpec) -> Job:
    quota = state.quotas.get(QuotaId(spec.quota))
    if quota is None:
        raise Refused("quota", spec.quota, "W1", "no such quota")
    known = state.jobs.get(spec.id)
    if known is not None and known.phase not in FINAL_PHASES:
        raise Refused("job", spec.id, "J4", "exists already")
    if known is not None and known.leaving:
        raise Refused("job", spec.id, "P9", "an earlier job of this name is still leaving its devices")
    check_can_ever_fit(state, spec, quota)
    return Job(
        spec, quota, priority=spec.priority, core_replicas=spec.core_replicas, queued_ms=spec.submitted_ms
    )


def submitted(state: State, event: ev.JobSubmitted, now_ms: int) -> Decisions:
    check_grace(state, event.job)
    job = _new_job(state, event.job)
    _register(state, job)
    state.tell(job, now_ms, "submitted")
    state.enqueue(job)
    return ()


def _register(state: State, job: Job) -> None:
    state.put_entry(state.jobs, job.id, job)
    state.put_entry(job.quota.jobs, job.id, job)
    state.learn(job)


def adopted(state: State, event: ev.JobAdopted, now_ms: int) -> Decisions:
    """Take over a job that runs already, on its places or on free ones. Room in its quotas is not checked."""
    job = _new_job(state, event.job)
    replicas = event.replicas if event.replicas is not None else job.spec.wanted_replicas
    indexes = list(range(max(job.core_replicas, min(replicas, job.spec.most_replicas))))
    places = event.places
    if not places:
        found = find_places(state, job.quota.root, job.shaped(indexes), now=True)
        if found is None:
            raise Refused("job", job.id, "R3", "runs, but there are no free devices to place it on")
        places = found
    check_places(state, job, places)
    _register(state, job)
    claim = Claim.IDLE if event.idle else Claim.REGULAR
    state.begin_run(job, claim, now_ms, "adopted")
    state.set_started(job, event.started_ms)
    state.set_checkpoint(job, event.checkpoint_ms)
    core = tuple(p for p in places if p.replica < job.core_replicas)
    unit = state.make_unit(job, UnitKind.CORE, claim, core, event.started_ms)
    state.place(unit)
    state.set_core(job, unit)
    rest = tuple(p for p in places if p.replica >= job.core_replicas)
    add_replicas(state, job, rest, claim, event.started_ms)
    settle(state, job, now_ms)
    state.bump(
        job.quota
    )  # it may have put the head of a queue over an amount limit, so that others may pass it (W4)
    return ()


def started(state: State, event: ev.JobStarted, now_ms: int) -> Decisions:
    """Start the clock of a run that the engine confirms; any other run is ignored."""
    job = _job(state, event.job)
    if job.phase is Phase.RUNNING and job.run == event.run and job.core is not None:
        before_ms = job.core.started_ms
        state.set_started(job, now_ms)
        for unit in (job.core, *job.extras.values()):
            if unit.started_ms == before_ms:  # later ones have a clock of their own
                state.reprice(unit, now_ms)
                state.protect(unit)
    return ()


def checkpointed(state: State, event: ev.JobCheckpointed, now_ms: int) -> Decisions:
    """Note a checkpoint; one from before the present run, or older than the last one known, changes nothing."""
    job = _job(state, event.job)
    at_ms = now_ms if event.at_ms is None else min(event.at_ms, now_ms)
    if job.phase is Phase.RUNNING and job.core is not None:
        if event.at_ms is not None and at_ms <= max(job.started_ms, job.checkpoint_ms or 0):
            return ()
        state.set_checkpoint(job, at_ms)
        for unit in (job.core, *job.extras.values()):
            state.reprice(unit)
    return ()


def ended(state: State, event: ev.JobEnded, now_ms: int) -> Decisions:
    job = _job(state, event.job)
    if event.phase not in (Phase.SUCCEEDED, Phase.FAILED, Phase.STOPPED):
        raise Refused("phase", event.phase.value, "A5", "a job ends as Succeeded, Failed or Stopped")
    if job.phase is Phase.RUNNING:
        effects.stop_everything(state, job)
    elif job.leaving and job.phase not in FINAL_PHASES and event.phase is not Phase.STOPPED:
        # The job came to its end during the grace of an eviction: it is not run again.
        state.dequeue(job)
        if job.hold is not None:
            effects.drop_hold(state, job)
        confirm_left(state, job, tuple(job.leaving.values()))
    else:
        raise Refused("job", job.id, "A5", f"is {job.phase.value}, not Running")
    _finish(state, job, event.phase, now_ms, "ended")
    return ()


def forgotten(state: State, event: ev.JobForgotten, now_ms: int) -> Decisions:
    """Remove a finished job from the state, which keeps no history."""
    del now_ms
    job = _job(state, event.job)
    if job.phase not in FINAL_PHASES or job.leaving:
        raise Refused("job", job.id, "A5", f"is {job.phase.value}; only a finished job can be forgotten")
    state.forget_job(job)
    return ()


def _finish(state: State, job: Job, phase: Phase, now_ms: int, why: str) -> None:
    effects.clear_guard(state, job)
    state.move(job, phase, now_ms, why)
    if phase in FINAL_PHASES:
        state.drop_entry(job.quota.jobs, job.id)


def left(state: State, event: ev.JobLeft, now_ms: int) -> Decisions:
    """Free the devices of replicas that have left; numbers that are not leaving, or said twice, change nothing."""
    del now_ms
    job = _job(state, event.job)
    confirm_left(
        state, job, leaving_among(job, event.replicas if event.replicas is not None else job.leaving)
    )
    return ()


def leaving_among(job: Job, replicas: Iterable[int]) -> tuple[Placed, ...]:
    """Return the places of those replicas that are leaving, each once: engines may say a thing twice."""
    return tuple(job.leaving[i] for i in dict.fromkeys(replicas) if i in job.leaving)


def confirm_left(state: State, job: Job, places: tuple[Placed, ...]) -> None:
    """Free the devices of replicas that have left; holds that these kept waiting no longer wait for this job."""
    if not places:
        return
    state.end_leaving(job, places)
    if not job.leaving and job.id in job.quota.queue.of_job:
        state.requeue(job)
    for other in list(state.awaited.get(job.id, {}).values()):
        if other.hold is not None and not _in_the_way(job, other):
            rest = tuple(j for j in other.hold.waiting_on if j != job.id)
            state.set_waiting_on(other.hold, rest)
            state.drop_entry(state.awaited[job.id], other.id)
    if not state.awaited.get(job.id):
        state.drop_entry(state.awaited, job.id)


def _in_the_way(job: Job, other: Job) -> bool:
    """Return whether replicas of `job` that are still leaving occupy what the hold of `other` was promised.

    Replicas that leave other places, after a later eviction, do not count.
    """
    if job is other or other.hold is None:
        return bool(job.leaving)
    asked = other.hold.unit.footprint
    if job.ending and job.quota is other.quota and over_while_ending(job.quota, asked, ZERO):
        return True
    for leaving in job.leaving.values():
        for place in other.hold.unit.places:
            if place.node != leaving.node:
                continue
            shape, mine = place.shape, leaving.shape
            if (shape.cpu_milli and mine.cpu_milli) or (shape.memory_mib and mine.memory_mib):
                return True
            if not set(place.devices).isdisjoint(leaving.devices):
                return True
    return False


def cancelled(state: State, event: ev.JobCancelled, now_ms: int) -> Decisions:
    """End a job in any phase but a final one; a hold is dropped, but its victims still leave (P9)."""
    job = _job(state, event.job)
    if job.phase in FINAL_PHASES:
        raise Refused("job", job.id, "A5", f"is {job.phase.value} already")
    found: list[say.Decision] = []
    if job.phase is Phase.RUNNING:
        found.append(effects.stop(state, job, now_ms, because(Code.CancelledByOwner)))
    else:
        state.dequeue(job)
        if job.hold is not None:
            effects.drop_hold(state, job)
    _finish(state, job, Phase.CANCELLED, now_ms, "cancelled")
    return tuple(found)


def resubmitted(state: State, event: ev.JobResubmitted, now_ms: int) -> Decisions:
    job = _job(state, event.job)
    if job.phase is not Phase.STOPPED:
        raise Refused("job", job.id, "P14", f"is {job.phase.value}; only a stopped job can be started again")
    state.set_queued(job, now_ms)
    state.set_claim(job, Claim.REGULAR)
    state.move(job, Phase.WAITING, now_ms, "resubmitted")
    state.enqueue(job)
    return ()


def priority_changed(state: State, event: ev.JobPriorityChanged, now_ms: int) -> Decisions:
    job = _job(state, event.job)
    if job.phase is not Phase.WAITING:
        raise Refused(
            "priority",
            event.priority,
            "W5",
            Sentence(a_job(job.id), f" is {job.phase.value}; works only while it waits"),
        )
    if not LOWEST_PRIORITY <= event.priority <= HIGHEST_PRIORITY:
        raise Refused("priority", event.priority, "J2", "must be 1..9")
    state.dequeue(job)
    state.set_priority(job, event.priority)
    state.tell(job, now_ms, f"priority {event.priority}")
    state.enqueue(job)
    if job.quota.tree.guard == job.id:
        state.bump(job.quota)  # jobs that could evict it now may use what is kept for it (S10)
    return ()
