"""How often was a job preempted, and what follows from it: an alarm, or the end its owner asked for (P11)."""

from __future__ import annotations

from typing import Final

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.model.job import Job, Phase
from quotatree.core.reasons import Code, because
from quotatree.core.state import State

ALARM_COUNT: Final = 5
ALARM_WINDOW_MS: Final = 24 * 3_600_000


def count_preemption(state: State, job: Job, now_ms: int) -> list[say.Decision]:
    """Count one more preemption of a job; return an alarm if it was preempted often, and its end if it may not be again."""
    return count_preemptions(state, [job], now_ms)


def count_preemptions(state: State, jobs: list[Job], now_ms: int) -> list[say.Decision]:
    """Count one more preemption of each of these jobs; return what follows for all of them."""
    state.add_preempted(jobs, now_ms)
    found: list[say.Decision] = []
    for job in jobs:
        if len(job.preempted_ms) >= ALARM_COUNT or job.spec.max_preemptions is not None:
            found += _what_follows(state, job, now_ms)
    return found


def _what_follows(state: State, job: Job, now_ms: int) -> list[say.Decision]:
    count, limit = len(job.preempted_ms), job.spec.max_preemptions
    found: list[say.Decision] = []
    if count >= ALARM_COUNT:
        recent = sum(1 for t in job.preempted_ms if t > now_ms - ALARM_WINDOW_MS)
        if recent >= ALARM_COUNT:
            found.append(say.Alarm(job.id, because(Code.OftenPreempted, count=recent)))
    if limit is not None and count > limit and job.phase is Phase.WAITING:
        reason = because(Code.PreemptionLimit, count=count, limit=limit)
        state.dequeue(job)
        effects.clear_guard(state, job)
        state.move(job, Phase.FAILED, now_ms, "PreemptionLimit")
        state.drop_entry(job.quota.jobs, job.id)
        found.append(say.Fail(job.id, reason))
    return found
