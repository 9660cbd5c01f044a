"""What would let a waiting job start, or a running one have the replicas that it misses (X1)?

Work that ends, a larger quota, another policy: each in words and, where it can be done, as a change that can be previewed (X3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from quotatree.core.decisions import StepTried
from quotatree.core.model.job import Idle, Job, JobId, asked_for, total_request
from quotatree.core.model.policy import Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.resources import Bounds, text_of_difference
from quotatree.core.planning.fair_shares import branch_below, sharing_from
from quotatree.core.reasons import Code, Reason
from quotatree.core.sentences import Sentence, a_job, a_quota, a_subject
from quotatree.core.state import State
from quotatree.core.supposed_policy import Help, Question
from quotatree.core.wider_policy import wider_policies

UNASKED: Final = (
    Code.BehindHead, Code.OverAmountLimit, Code.PreemptionDelayed, Code.StopsAtIdle, Code.NotYetTried, Code.LostAtStart,
)  # fmt: skip
"""Reasons of jobs that are not tried, or wait for a right that they have: no policy would help them."""


def what_helps(
    state: State, job: Job, reasons: Sequence[Reason], tried: Sequence[StepTried], now_ms: int
) -> tuple[Help, ...]:
    """Return what would help a job that waits, or misses replicas, for these reasons; the state is unchanged."""
    return (
        *_changes_and_ends(state, job, reasons, tried),
        *_policies(state, job, reasons, now_ms),
        *_for_borrowers(state, job, reasons, now_ms),
    )


def _changes_and_ends(
    state: State, job: Job, reasons: Sequence[Reason], tried: Sequence[StepTried]
) -> tuple[Help, ...]:
    """Return what each reason suggests: work that ends, a larger quota, patience."""
    found: dict[Help, None] = {}
    for reason in (*reasons, *(t.reason for t in tried)):
        facts = dict(reason.facts)
        if reason.code in (Code.OwnQuotaFull, Code.AncestorFull):
            full = a_quota(facts["quota"])
            missing = text_of_difference(facts["wanted"], facts["free"])
            text = Sentence(f"work worth {missing} in ", full, " ends, or ", full, " is scaled up")
            found[_scaled_up(state.quotas[QuotaId(facts["quota"])], job, text)] = None
        elif reason.code is Code.NoPlacement:
            found[Help(f"devices for {facts['shape']} become free together on one node")] = None
        elif reason.code is Code.PoolPartFull:
            full = a_quota(facts["quota"])
            text = Sentence(
                "work of ", full, f" in pool {facts['pool']} ends, or ", full, " draws more from it"
            )
            found[Help(text)] = None
        elif reason.code is Code.BehindHead:
            head = JobId(facts["head"])
            found[Help(Sentence(a_job(head), " starts or is cancelled"), "cancel", job=head)] = None
        elif reason.code is Code.OverAmountLimit:
            found[Help(Sentence("jobs of ", a_subject(facts["subject"]), " end, or the limit is raised"))] = (
                None
            )
        elif reason.code is Code.IdleRoomShort:
            missing = text_of_difference(facts["wanted"], facts["free"])
            room = Sentence(f"work worth {missing} in ", a_quota(job.quota.root.id), " ends, regular or idle")
            found[Help(room)] = None
        elif reason.code is Code.IdleLimitReached:
            own = a_quota(facts["quota"])
            found[Help(Sentence("idle work of ", own, " ends, or the idle_limit of ", own, " is raised"))] = (
                None
            )
        elif reason.code is Code.PreemptionDelayed:
            found[Help(f"waiting {facts['left']} more: then it may preempt")] = None
    return tuple(found)


def _scaled_up(quota: Quota, job: Job, text: str) -> Help:
    """Return the help that a quota with room for the job would be; only in words if a root draws from several pools."""
    waits = job.quota.queue.of_job.get(job.id)
    if waits is None:
        return Help(text)
    request = total_request(job, asked_for(job)) if waits.grows else waits.request
    wanted = Bounds(
        *(
            None if bound is None else max(bound, quota.used[i] + request[i])
            for i, bound in enumerate(quota.min)
        )
    )
    draws = quota.spec.draws
    if quota.parent is not None:
        return Help(text, "scale", quota=quota.id, min=wanted)
    if len(draws) != 1:
        return Help(text)
    return Help(text, "scale", quota=quota.id, draws=((draws[0][0], wanted),))


def _policies(state: State, job: Job, reasons: Sequence[Reason], now_ms: int) -> tuple[Help, ...]:
    """Return which policies would let the job start, or have replicas that it misses (P12); none if it is not tried, or waits for a
    right that it has."""
    cls = job.quota.queue.of_job.get(job.id)
    if cls is None or cls.promotes or any(reason.code in UNASKED for reason in reasons):
        return ()
    return (*_sparing_policies(state, job, reasons, now_ms), *wider_policies(state, job, now_ms))


def _sparing_policies(state: State, job: Job, reasons: Sequence[Reason], now_ms: int) -> Iterator[Help]:
    """Yield the policies of borrowers without those of their rights that keep the job from a return, if it would start then (P15)."""
    for reason in reasons:
        if reason.code is not Code.ReturnRefused:
            continue
        borrower = state.quotas[QuotaId(dict(reason.facts)["quota"])]
        spared = [_spares_siblings(policy) for policy in borrower.spec.self_level]
        spec = replace(borrower.spec, self_level=SelfLevels(spared))
        begun = Question(state, job, now_ms).begun_if(borrower, spec)
        if begun is not None:
            text = Sentence(
                "the self-level policy of ", a_quota(borrower.id), f" spares siblings: {begun.text}"
            )
            yield Help(text, "policies", quota=borrower.id, spec=spec)


def _spares_siblings(policy: SelfLevel) -> SelfLevel:
    """Return the policy with scope own; switched off, if it is for siblings only."""
    if policy.scope is Scope.SIBLINGS:
        return replace(policy, off=True)
    return replace(policy, scope=Scope.OWN)


def _for_borrowers(state: State, job: Job, reasons: Sequence[Reason], now_ms: int) -> Iterator[Help]:
    """Yield what would let a job that waits for an idle claim run: as regular work, or with a fair share of what is idle (I1, I4)."""
    if job.running or not any(
        reason.code in (Code.IdleRoomShort, Code.IdleNoPlacement) for reason in reasons
    ):
        return
    question = Question(state, job, now_ms)
    if job.spec.idle is Idle.ONLY and (begun := question.begun_regular()) is not None:
        yield Help(f"submitted with idle: allow, or without idle, {begun}")
    if sharing_from(job.quota) is not None:
        return
    above = job.quota.path[1:]
    if not above or _fair_on(question, above[-1]) is None:
        return
    yield next(found for quota in above if (found := _fair_on(question, quota)) is not None)


def _fair_on(question: Question, quota: Quota) -> Help | None:
    """Return that `fair_idle` on a quota would let the job take its share of what is idle, and how many units of whom; None if not."""
    took = question.fair_take_if(quota, replace(quota.spec, fair_idle=True))
    if took is None:
        return None
    borrower = branch_below(took.quota, took.units[0].job.quota)
    units = f": {len(took.units)} unit(s) of idle work of "
    return Help(
        Sentence("fair_idle on ", a_quota(quota.id), units, a_quota(borrower.quota.id), " would leave")
    )
