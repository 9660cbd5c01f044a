"""Why does a job wait right now? Every waiting job has at least one reason, with figures (X1).

The answers come from the planner's own code: an attempt that is rolled back, the same order of the queue, the same test for
an idle start. Jobs of one class ask for the same with the same rights, so a list of jobs costs one attempt for each class,
and one plan, rolled back as well, where jobs wait that could start: only a plan knows why it puts them off (S8).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from quotatree.core.decisions import StepTried
from quotatree.core.model.job import Claim, Idle, Job, JobId, Phase, asked_for, total_request
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import protected_from, shortage
from quotatree.core.model.resources import GPU, Resources, amount_text
from quotatree.core.model.tree import Tree
from quotatree.core.model.wait_queue import FIFO_FROM, WaitClass
from quotatree.core.planning.applying import apply
from quotatree.core.planning.asking import attempt, attempt_all
from quotatree.core.planning.fair_take import why_no_turn
from quotatree.core.planning.leftovers import idle_start
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.outcome import Failed, Outcome, Proposal, alone
from quotatree.core.planning.plan import PutOff, put_off
from quotatree.core.planning.rivals import who_would_take_it_back
from quotatree.core.planning.strategies import first_in_line, head, passed
from quotatree.core.planning.why import why_no_place, why_short
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.placement import Wanted, find_places
from quotatree.core.state import State

ATTEMPTS: Final = 100
"""Most attempts made for one list of jobs; jobs of further classes have the reason they were told last."""


class WhyWaiting(NamedTuple):
    """All reasons of a waiting job, at least one, the foremost first; and the steps of P4 that were not enough."""

    reasons: tuple[Reason, ...]
    tried: tuple[StepTried, ...] = ()


def why_waiting(state: State, job: Job, now_ms: int) -> WhyWaiting:
    """Return why a job waits; the state is unchanged."""
    return _Questions(state, now_ms).answer(job)


def why_no_more(state: State, job: Job, now_ms: int) -> WhyWaiting:
    """Return how many of how many replicas of a running job run, and why there are no more (P12); the state is unchanged."""
    spec = job.spec
    counted = because(
        Code.ReplicasRun, running=job.running_replicas, wanted=spec.wanted_replicas, most=spec.most_replicas
    )
    if job.id in job.quota.queue.of_job:
        why = why_waiting(state, job, now_ms)
        return WhyWaiting((counted, *why.reasons), why.tried)
    if job.hold is not None:
        return WhyWaiting((counted, because(Code.WaitsForLeaving, leaving=len(job.hold.waiting_on))))
    return WhyWaiting((counted, *_why_no_surplus(state, job)))


def _why_no_surplus(state: State, job: Job) -> list[Reason]:
    """Return why a job that has all it wants, or runs idle only, has no further replica."""
    if job.spec.idle is not Idle.NEVER and job.claim is Claim.IDLE:
        refusal = idle_start(state, job) if job.missing_replicas else None
        return [refusal] if isinstance(refusal, Reason) else []
    shape = job.spec.groups[0].shape
    short = shortage(job.quota, shape.resources)
    if short is not None:
        return [why_short(job.quota, short, past_guard=True)]
    one_more: Wanted = [(0, shape)]
    if find_places(state, job.quota.root, one_more, now=True) is None:
        return [why_no_place(state, job.quota.root, one_more, frozenset())]
    return []


def foremost_reasons(state: State, jobs: Iterable[Job], now_ms: int) -> dict[JobId, Reason]:
    """Return the foremost reason of each of these jobs that waits; the state is unchanged."""
    questions = _Questions(state, now_ms)
    found: dict[JobId, Reason] = {}
    for job in jobs:
        if job.phase is not Phase.WAITING:
            continue
        if questions.attempts < ATTEMPTS or questions.knows(job):
            found[job.id] = questions.answer(job).reasons[0]
        elif job.told is not None:
            found[job.id] = job.told
    return found


class _Questions:
    """Answers about jobs of one moment; what is found for one is remembered for the others."""

    def __init__(self, state: State, now_ms: int) -> None:
        self._state, self._now_ms = state, now_ms
        self._orderings: dict[tuple[Tree, ...], Ordering] = {}
        self._heads: dict[QuotaId, Job | None] = {}
        self._alike: dict[tuple[int, int], tuple[WhyWaiting, bool]] = {}
        self._put_off: dict[tuple[Tree, ...], PutOff] = {}
        self.attempts = 0

    def knows(self, job: Job) -> bool:
        """Return whether the answer for this job needs no further attempt."""
        return job.retry_ms != 0 or _alike(job) in self._alike

    def answer(self, job: Job) -> WhyWaiting:
        cls = job.quota.queue.of_job.get(job.id)
        if cls is None:  # put off: it was told why, and nothing is tried until its time comes (R5)
            return WhyWaiting((job.told or self._not_yet(job),))
        alike = _alike(job)
        known = self._alike.get(alike)
        if known is None:
            self.attempts += 1
            known = self._alike[alike] = self._why_class(job, cls)
        why, could_start = known
        reasons = list(why.reasons)
        blocker = self._blocker(job, cls)
        if could_start and blocker is None and not _over_limits(self._state, cls, job):
            reasons = self._with_who_would_take_it(cls, reasons)
        if blocker is not None:
            strategy = job.quota.spec.strategy.value
            after = sum(1 for reason in reasons if reason.code is Code.OverAmountLimit)
            reasons.insert(after, because(Code.BehindHead, head=blocker, strategy=strategy))
        if not reasons:
            reasons.append(self._not_yet(job))
        return WhyWaiting(tuple(reasons), why.tried)

    def _not_yet(self, job: Job) -> Reason:
        """Return that a job could start and comes up at the next plan; and how many come first if the last one was cut short (A8)."""
        trees = job.quota.tree.together
        unfinished = trees[0].unfinished
        if unfinished is None:
            return because(Code.NotYetTried, when="it comes up at the next plan")
        own = job.quota.queue.of_job.get(job.id)
        before = sum(
            cls is not own and cls.priority >= job.priority and cls not in unfinished.tried
            for tree in trees
            for quota in tree.waiting.values()
            for cls in quota.queue.classes.values()
        )
        when = f"the last plan was cut short; in the next, which follows at once, {before} kind(s) of jobs may come first"
        return because(Code.NotYetTried, when=when)

    def _why_class(self, job: Job, cls: WaitClass) -> tuple[WhyWaiting, bool]:
        """Return the reasons that all jobs of a class have, which may be none: the strategy is left aside.

        Also whether one of them could start, regular or idle, as far as an attempt by itself can tell.
        """
        reasons = _over_limits(self._state, cls, job)
        tried: tuple[StepTried, ...] = ()
        could_start = False
        if job.spec.idle is not Idle.ONLY:
            outcome, taken_back = self._attempt(job, cls)
            reasons += taken_back
            if isinstance(outcome, Proposal | Failed):
                tried = outcome.tried
            could_start = not isinstance(outcome, Failed) and not taken_back
            if isinstance(outcome, Failed):
                if cls.grows:
                    outcome = self._of_all_missing(job, outcome)
                    tried = outcome.tried
                reasons += [outcome.failure.reason]
                reasons += [step.reason for step in tried if step.reason not in reasons]
                reasons += [reason for reason in _shortages(job, cls) if reason not in reasons]
        if job.spec.idle is not Idle.NEVER and not cls.promotes:
            refusal = idle_start(self._state, job)
            if isinstance(refusal, Reason):
                idle = self._tried_idle(job, refusal)
                reasons += [step.reason for step in idle]
                tried = (*tried, *idle)
            else:
                could_start = True
        return WhyWaiting(tuple(reasons), tried), could_start

    def _attempt(self, job: Job, cls: WaitClass) -> tuple[Outcome, list[Reason]]:
        """Try the job once more, in a transaction that is rolled back; return how that ended.

        Also why it would not keep what it takes (S8), if that can be seen without a plan; else nothing.
        """
        state = self._state
        state.begin()
        try:
            outcome = attempt(state, job, cls, self._now_ms, alone(state))
            if not isinstance(outcome, Proposal):
                return outcome, []
            taken = apply(state, outcome, self._now_ms).taken
            taker = who_would_take_it_back(state, job, taken, self._now_ms)
        finally:
            state.rollback()
        return outcome, [because(Code.WouldBeTaken, preemptor=taker)] if taker is not None else []

    def _tried_idle(self, job: Job, refusal: Reason) -> list[StepTried]:
        """Return what was tried for an idle claim: free idle room, and a fair turn where borrowers share (I4).

        `refusal`: why it does not start on free idle room.
        """
        found = [StepTried(Step.FREE, refusal)]
        no_turn = None if job.running else why_no_turn(self._state, job, self._now_ms)
        if no_turn is not None and refusal.code is not Code.FairTurn:
            found.append(StepTried(Step.IDLE, no_turn))
        return found

    def _of_all_missing(self, job: Job, of_one: Failed) -> Failed:
        """Return how the attempt ends for all replicas that a running job is missing, of which not even one can be had (P12).

        What stands in the way of one and not of all together, such as nodes where quotas lack room for all, is told as well.
        """
        state = self._state
        state.begin()
        try:
            outcome = attempt_all(state, job, self._now_ms, alone(state))
        finally:
            state.rollback()
        if not isinstance(outcome, Failed):
            return of_one
        told = {(one.step, one.reason.code) for one in outcome.tried}
        more = [one for one in of_one.tried if (one.step, one.reason.code) not in told]
        steps = list(Step)
        return outcome._replace(
            tried=tuple(sorted((*outcome.tried, *more), key=lambda t: steps.index(t.step)))
        )

    def _with_who_would_take_it(self, cls: WaitClass, reasons: list[Reason]) -> list[Reason]:
        """Return the reasons with that of the plan if it puts off a job that could start (S8); it does not run idle then."""
        trees = cls.quota.tree.together
        if trees not in self._put_off:
            self._put_off[trees] = put_off(self._state, self._now_ms, trees)
        why = self._put_off[trees].get((cls.quota.id, cls.key))
        if why is None:
            return reasons
        return [why, *(reason for reason in reasons if reason.code is not Code.StopsAtIdle)]

    def _blocker(self, job: Job, cls: WaitClass) -> JobId | None:
        """Return the head that keeps the strategy from trying this job; None if none does, or the job is head itself."""
        quota, strategy = job.quota, job.quota.spec.strategy
        if strategy is Strategy.TRAVERSE:
            return None
        top = self._head(quota)
        if top is None or top is job or passed(self._state, cls):
            return None
        if cls.grows and any(ahead is job for ahead, _ in first_in_line(self._state, quota, self._now_ms)):
            return None
        if strategy is Strategy.INTELLIGENT and top.priority < FIFO_FROM:
            return None
        if strategy is Strategy.BALANCE and _inside_window(self._state, quota, job.id, self._now_ms):
            return None
        return top.id

    def _head(self, quota: Quota) -> Job | None:
        if quota.id not in self._heads:
            self._heads[quota.id] = head(self._state, quota, self._now_ms)
        return self._heads[quota.id]

    def _ordering(self, quota: Quota) -> Ordering:
        trees = quota.tree.together
        if trees not in self._orderings:
            self._orderings[trees] = Ordering(self._state, self._now_ms, trees)
        return self._orderings[trees]


def _alike(job: Job) -> tuple[int, int]:
    """Return a key that jobs with the same reasons share: their class and, under a delay, since when they wait (P11)."""
    return id(job.quota.queue.of_job[job.id]), job.queued_ms if job.quota.preemption_delay_ms else 0


def _over_limits(state: State, cls: WaitClass, job: Job) -> list[Reason]:
    """Return the amount limits that a job of this class is over (W4); what it wants is told with all replicas that it is missing."""
    found = []
    wanted = _wanted(job, cls)
    for limit in cls.limits:
        used = state.limit_used.get(limit, 0)
        if used + cls.request.gpu_milli > limit.gpu_milli:
            found.append(
                because(
                    Code.OverAmountLimit, subject=limit.subject, priorities=f"{limit.low}-{limit.high}",
                    limit=amount_text(GPU, limit.gpu_milli), used=amount_text(GPU, used),
                    wanted=amount_text(GPU, wanted.gpu_milli),
                )
            )  # fmt: skip
    return found


def _inside_window(state: State, quota: Quota, job_id: JobId, now_ms: int) -> bool:
    window = 1
    for position, (_, since) in enumerate(quota.queue.stood):
        if now_ms - since < state.settings.balance_timeout_ms:
            break
        window = position + 2
    return any(stood == job_id for stood, _ in quota.queue.stood[:window])


def _wanted(job: Job, cls: WaitClass) -> Resources:
    """Return what a job of this class is told to want: all replicas that are missing if it runs, else the least that would do (P12)."""
    return total_request(job, asked_for(job)) if cls.grows else cls.request


def _shortages(job: Job, cls: WaitClass) -> list[Reason]:
    """Return a reason for each further quota and resource on the path that is short beside the first (X1, Q8)."""
    request, reserving = _wanted(job, cls), job.quota.tree.shares_reserved
    first = shortage(job.quota, request)
    found: list[Reason] = []
    for above in job.quota.path:
        for i, bound in above.named:
            free = bound - above.used[i] - (protected_from(job.quota, above, i) if reserving else 0)
            if first is None or (above is first.quota and i == first.resource):
                continue
            if request[i] > free:
                code = Code.OwnQuotaFull if above is job.quota else Code.AncestorFull
                found.append(
                    because(
                        code, quota=above.id, free=amount_text(i, free),
                        min=amount_text(i, bound), wanted=amount_text(i, request[i]),
                    )
                )  # fmt: skip
    return found
