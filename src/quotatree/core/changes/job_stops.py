"""What stops a job that neither ended nor was cancelled: a rule of its workspace, its owner's wish to wait, a lost run."""

from __future__ import annotations

from typing import Final

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes import effects
from quotatree.core.changes.evictions import evict_all
from quotatree.core.changes.jobs import confirm_left, leaving_among
from quotatree.core.errors import Refused
from quotatree.core.model.job import FINAL_PHASES, Job, JobId, Phase
from quotatree.core.reasons import Code, because
from quotatree.core.state import State

EARLY_MS: Final = 60_000
"""A run that is lost sooner than this after its start was lost at its start (R5)."""
FIRST_BACK_OFF_MS: Final = 10_000
LONGEST_BACK_OFF_MS: Final = 300_000

Decisions = tuple[say.Decision, ...]


def stopped(state: State, event: ev.JobStopped, now_ms: int) -> Decisions:
    """Stop a job: running work leaves with grace, a hold is released. It may be resubmitted unless `final` (W3)."""
    job = _job(state, event.job)
    if job.phase in FINAL_PHASES or job.phase is Phase.STOPPED:
        raise Refused("job", job.id, "A5", f"is {job.phase.value} already")
    found: list[say.Decision] = []
    if job.phase is Phase.RUNNING:
        found.append(effects.stop(state, job, now_ms, event.reason))
    else:
        if job.phase is Phase.HELD:
            found.append(effects.release(state, job, now_ms, event.reason, again=False))
        state.dequeue(job)
    effects.clear_guard(state, job)
    state.move(job, Phase.FAILED if event.final else Phase.STOPPED, now_ms, event.reason.code.name)
    if event.final:
        state.drop_entry(job.quota.jobs, job.id)
        found.append(say.Fail(job.id, event.reason))
    return tuple(found)


def lost(state: State, event: ev.JobLost, now_ms: int) -> Decisions:
    """Free the devices of replicas that vanished. If one was of the core, the whole job leaves and is queued again.

    Its owner may have taken that one away: what is left counts for its quota until it has left (P9).
    """
    job = _job(state, event.job)
    gone = tuple(dict.fromkeys(event.replicas))
    confirm_left(state, job, leaving_among(job, gone))
    if job.phase is not Phase.RUNNING:
        return ()
    reason = because(Code.RunLost, replicas=", ".join(map(str, gone)))
    if job.core is not None and set(gone) & set(job.core_indexes):
        units = [job.core]
    else:
        units = [job.extras[r] for r in gone if r in job.extras]
    started_ms = job.started_ms
    regular = effects.regular_places(job)
    found: Decisions = evict_all(state, units, now_ms, reason, None, counts=False)
    confirm_left(state, job, leaving_among(job, gone))
    state.count_ending(job, tuple([place for place in regular if job.leaving.get(place.replica) is place]))
    if job.core is None and not job.running:
        early = event.at_start or now_ms - started_ms < EARLY_MS
        return (*found, *_back_off(state, job, now_ms, early, event.detail))
    return found


def _back_off(state: State, job: Job, now_ms: int, early: bool, detail: str) -> Decisions:
    """Put a job off whose last runs were lost at their start, longer each time (R5): it would only be lost again."""
    losses = job.losses + 1 if early else 0
    pause_ms = back_off_ms(losses)
    if not pause_ms:
        state.set_losses(job, losses, 0)
        return ()
    state.put_off_job(job, losses, now_ms + pause_ms)
    last = f" (the last: {detail})" if detail else ""
    reason = because(Code.LostAtStart, losses=losses, detail=last, pause=f"{pause_ms // 1000} s")
    state.set_told(job, reason)
    return (say.Wait(job.id, reason),)


def back_off_ms(losses: int) -> int:
    """Return how long a job waits after so many runs in a row that were lost at their start; the first costs nothing."""
    return min(FIRST_BACK_OFF_MS << min(losses - 2, 10), LONGEST_BACK_OFF_MS) if losses > 1 else 0


def _job(state: State, job_id: JobId) -> Job:
    job = state.jobs.get(job_id)
    if job is None:
        raise Refused("job", job_id, "J4", "no such job")
    return job
