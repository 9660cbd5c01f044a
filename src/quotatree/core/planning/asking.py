"""How much of what a queued job asks for can it have (P12)?

A job that starts asks for its core and for the other replicas that it wants, a running one for those that it is missing, or
for the promotion of those that run idle (I1). All are asked for at once, and it gets as many as can be had: one by one, two
neighbours would stop each other's work once for every replica. An attempt is made for all of them, then for the least that
would do, then for as many as possible between; each is one walk through the steps of P4 (attempt.py).
"""

from __future__ import annotations

from collections.abc import Callable

from quotatree.core.model.job import Claim, Job, asked_for, least_count
from quotatree.core.model.resources import GPU
from quotatree.core.model.wait_queue import WaitClass
from quotatree.core.planning.attempt import Attempt
from quotatree.core.planning.outcome import Around, Failed, Outcome, Proposal
from quotatree.core.state import State


def attempt(
    state: State, job: Job, cls: WaitClass, now_ms: int, around: Around, *, patient: bool = True
) -> Outcome:
    """Try a queued job; return the outcome for the most that can be had. A failure is that of the least that would do.

    `patient`: it respects the quota's `preemption_delay` (P11). A transaction must be open.
    """

    def walk(replicas: list[int]) -> Outcome:
        trying = Attempt(state, job, replicas, now_ms, around, patient=patient)
        return trying.promote() if cls.promotes else trying.run()

    if not cls.promotes:
        least = least_count(job)
        numbers = asked_for(job, None if not job.spec.elastic else _most(state, job, cls, least))
        least = min(len(numbers), least)
    elif job.claim is Claim.IDLE:
        numbers = list(job.core_indexes)
        least = len(numbers)
    else:
        numbers, least = sorted(job.idle_wanted), 1
    outcome = walk(numbers)
    if len(numbers) == least or not isinstance(outcome, Failed):
        return outcome
    return _as_many_as_possible(numbers, least, walk)


def attempt_all(state: State, job: Job, now_ms: int, around: Around) -> Outcome:
    """Try a running job for all replicas that it is missing, and for no fewer: what `attempt` asks first, so that a question can
    tell of all of them. A transaction must be open."""
    return Attempt(state, job, asked_for(job), now_ms, around).run()


def _as_many_as_possible(numbers: list[int], least: int, walk: Callable[[list[int]], Outcome]) -> Outcome:
    """Walk for the longest beginning of `numbers`, at least `least` of them and not all, that can be had."""
    best = walk(numbers[:least])
    enough, too_many = least, len(numbers)
    while isinstance(best, Proposal) and too_many - enough > 1:
        middle = (enough + too_many) // 2
        more = walk(numbers[:middle])
        if isinstance(more, Failed):
            too_many = middle
        else:
            best, enough = more, middle
    return best


def _most(state: State, job: Job, cls: WaitClass, least: int) -> int:
    """Return how many replicas are worth asking for: not more than amount limits and the quotas could ever give.

    The job's own quota does not count, since it may go beyond its min on a loan, but for a root.
    """
    wanted, gpu_milli = job.spec.wanted_replicas, job.spec.groups[0].shape.gpu_milli
    if len(job.spec.groups) > 1 or not gpu_milli:
        return wanted
    room = [limit.gpu_milli - state.limit_used.get(limit, 0) for limit in cls.limits]
    room += [bound for above in job.quota.path[1:] or job.quota.path for i, bound in above.named if i == GPU]
    return max(least, min([wanted, *(amount // gpu_milli for amount in room)]))
