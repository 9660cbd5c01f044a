"""Why does it wait, who took it, what would happen, who could take it (X1-X4): the planner's own code, nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.decisions import Decision, StepTried
from quotatree.core.errors import Refused
from quotatree.core.holders import Holder, who_holds
from quotatree.core.model.job import Claim, Idle, Job, JobId, Phase, least_asked_for
from quotatree.core.model.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY, Module
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import has_loan
from quotatree.core.model.resources import ZERO
from quotatree.core.model.rights import Work, could_claim, rules_against, work_of
from quotatree.core.planning.fair_shares import sharing_from
from quotatree.core.planning.plan import plan_through
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.search.standing_in import could_stand_in
from quotatree.core.sentences import Sentence, a_job, a_quota
from quotatree.core.state import State
from quotatree.core.supposed_policy import Help
from quotatree.core.waiting_reasons import why_no_more, why_waiting
from quotatree.core.what_helps import what_helps


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that are alike for a job that finds no place: how many, what is free on each, how many replicas fit on each."""

    pool: str
    model: str
    state: str
    nodes: int
    free_gpus: int
    replicas_fit: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `explain` says about one job (X1, X2)."""

    job: JobId
    phase: Phase
    quota: str
    position: int | None
    ahead: tuple[JobId, ...]
    reasons: tuple[Reason, ...]
    holders: tuple[Holder, ...]
    nodes: tuple[NodeGroup, ...]
    tried: tuple[StepTried, ...]
    helps: tuple[Help, ...]
    preempted_by: JobId | None
    lost_work: int | None
    next_try: str


@dataclass(frozen=True, slots=True)
class Exposure:
    """A quota whose jobs could take a running job, the rule by which, and which of its jobs, in words (X4)."""

    quota: str
    rule: str
    who: str


PREVIEWABLE: Final = (
    ev.JobSubmitted, ev.JobCancelled, ev.JobEnded, ev.JobResized, ev.JobPriorityChanged, ev.QuotaScaled,
    ev.QuotaTransferred, ev.QuotaUpdated, ev.LoanReturned, ev.LimitsSet, ev.NodeChanged, ev.DeviceChanged, ev.QuotaCreated,
    ev.QuotaDeleted, ev.NodeJoined, ev.PoolDeclared,
)  # fmt: skip


def preview(state: State, events: Sequence[ev.Event], now_ms: int) -> tuple[Decision, ...]:
    """Return the decisions that these events and a plan after them would bring about; the state is unchanged (X3)."""
    for event in events:
        if not isinstance(event, PREVIEWABLE):
            raise Refused("event", type(event).__name__, "X3", "cannot be previewed")
    state.begin()
    try:
        found: list[Decision] = []
        for event in events:
            found += apply(state, event, now_ms)
        found += plan_through(state, now_ms)
        return tuple(found)
    finally:
        state.rollback()


def explain(state: State, job_id: JobId, now_ms: int) -> Explanation:
    """Return a job's place in its queue, why it waits, and what would help (X1, X2)."""
    job = state.jobs.get(job_id)
    if job is None:
        raise Refused("job", job_id, "X1", "no such job")
    position, ahead = _place_in_queue(state, job, now_ms)
    reasons: tuple[Reason, ...] = ()
    tried: tuple[StepTried, ...] = ()
    if job.phase is Phase.WAITING:
        reasons, tried = why_waiting(state, job, now_ms)
    elif job.phase is Phase.HELD and job.hold is not None:
        reasons = (because(Code.WaitsForLeaving, leaving=len(job.hold.waiting_on)),)
    elif job.core is not None and job.running_replicas < job.spec.most_replicas:
        reasons, tried = why_no_more(state, job, now_ms)
    return Explanation(
        job=job.id,
        phase=job.phase,
        quota=job.quota.id,
        position=position,
        ahead=ahead,
        reasons=reasons,
        holders=who_holds(state, job, reasons),
        nodes=_node_groups(state, job, reasons),
        tried=tried,
        helps=what_helps(state, job, reasons, tried, now_ms),
        preempted_by=job.preempted_by,
        lost_work=job.lost_last if job.preempted_by else None,
        next_try=_next_try(job, ahead),
    )


Known = dict[Work, list[tuple[Quota, Code, str]]]


def exposure(state: State, job_id: JobId, now_ms: int, known: Known | None = None) -> tuple[Exposure, ...]:
    """Return by which quotas' jobs, and under which rules, a running job could be taken (X4).

    `known`: what was found for jobs asked about before, in the same state; it is added to.
    """
    job = state.jobs.get(job_id)
    if job is None or job.core is None:
        raise Refused("job", job_id, "X4", "is not running")
    if job.claim is Claim.IDLE:
        taken_back = Exposure(
            job.quota.root.id, Code.IdleTakenBack.name, "any regular job that lacks a place"
        )
        return (taken_back, *_fair_exposure(job))
    found: list[Exposure] = []
    who: str
    if any(unit.is_surplus for unit in job.extras.values()):
        who = Sentence("any regular job of ", a_quota(job.quota.root.id), " or below (surplus replicas)")
        found.append(Exposure(job.quota.root.id, Code.SurplusGivesWay.name, who))
    if any(unit.cls.claim is Claim.IDLE for unit in job.extras.values()):
        who = "any regular job that lacks a place (idle replicas)"
        found.append(Exposure(job.quota.root.id, Code.IdleTakenBack.name, who))
    if could_stand_in(state, job.core, now_ms):
        who = "any regular job that lacks a place (instead of a borrower of the same quota that loses more)"
        found.append(Exposure(job.quota.root.id, Code.IdleTakenBack.name, who))
    victim, found_before = work_of(job), {} if known is None else known
    if victim not in found_before:
        found_before[victim] = _who_could_take(victim)
    protected = job.quota.min_runtime_ms and job.core.protected_until_ms > now_ms
    for taker, rule, who in found_before[victim]:
        if protected and rule is not Code.ReturnOfLoan:
            left = (job.core.protected_until_ms - now_ms) // 1000
            who = Sentence(who, f", once its min_runtime ends in {left} s")
        found.append(Exposure(taker.id, rule.name, who))
    return tuple(found)


def _who_could_take(victim: Work) -> list[tuple[Quota, Code, str]]:
    """Return the quotas whose jobs could take this regular work, each with a rule and which of its jobs, in words."""
    found: list[tuple[Quota, Code, str]] = []
    for taker, borrower in _possible_takers(victim.quota):
        may_claim = borrower is not None and has_loan(borrower)
        by_rule: dict[Code, list[int]] = {}
        for priority in range(LOWEST_PRIORITY, HIGHEST_PRIORITY + 1):
            claimable = may_claim and any(could_claim(Work(taker, priority, m), victim, ZERO) for m in Module)
            for rule in rules_against(taker, priority, victim, claimable=claimable):
                by_rule.setdefault(rule, []).append(priority)
        for rule, priorities in by_rule.items():
            found.append((taker, rule, _jobs_of(taker, priorities)))
    return found


def _jobs_of(taker: Quota, priorities: list[int]) -> Sentence:
    return Sentence("jobs of ", a_quota(taker.id), f" with priority {priorities[0]}-{priorities[-1]}")


def _possible_takers(quota: Quota) -> Iterator[tuple[Quota, Quota | None]]:
    """Yield the quotas on the path of this one, root first, and their siblings: nobody else has rights to its work (P1, P2, P15).

    With a sibling comes the quota on the path beside it, whose loan it might claim.
    """
    path = set(quota.path)

    def below(above: Quota) -> Iterator[tuple[Quota, Quota | None]]:
        yield above, None
        if above is quota:
            return
        beside = next(child for child in above.children if child in path)
        for child in above.children:
            if child is beside:
                yield from below(child)
            else:
                yield child, beside

    yield from below(quota.root)


def _fair_exposure(job: Job) -> tuple[Exposure, ...]:
    """Return that borrowers with a smaller share may take an `idle: only` job below fair borrowing; else nothing (I4)."""
    top = sharing_from(job.quota)
    if top is None or job.spec.idle is not Idle.ONLY:
        return ()
    who = Sentence("waiting idle jobs below ", a_quota(top.id), " that have a smaller share")
    return (Exposure(top.id, Code.FairShare.name, who),)


def _place_in_queue(state: State, job: Job, now_ms: int) -> tuple[int | None, tuple[JobId, ...]]:
    """Return a job's place in its queue, from 1 on, and the jobs ahead of it; None if it does not wait."""
    quota = job.quota
    if job.id not in quota.queue.of_job:
        return None, ()
    order = quota.queue.jobs_in_order(now_ms, state.settings.aging_interval_ms, quota.spec.strategy)
    ahead: list[JobId] = []
    for _, other in order:
        if other == job.id:
            return len(ahead) + 1, tuple(ahead)
        ahead.append(other)
    return None, ()


def _node_groups(state: State, job: Job, reasons: Sequence[Reason]) -> tuple[NodeGroup, ...]:
    """Return the nodes of the tree in groups, for a job that finds no place on them; empty for other reasons (X1)."""
    if not any(reason.code in (Code.NoPlacement, Code.IdleNoPlacement) for reason in reasons):
        return ()
    missing = least_asked_for(job) or [0]  # of surplus nothing is missing, but there could be more
    shape = max((job.shape_of(i) for i in missing), key=lambda s: (s.gpu_milli, s.cpu_milli))
    groups: dict[tuple[str, str, str, int, int], int] = {}
    for node in state.nodes_of(job.quota.root):
        fit = node.slots(shape, True) if node.suits(shape) else 0
        key = (node.spec.pool, node.spec.model, node.state.value, node.whole_now, fit)
        groups[key] = groups.get(key, 0) + 1
    return tuple(
        NodeGroup(pool, model, node_state, count, free, fit)
        for (pool, model, node_state, free, fit), count in sorted(groups.items())
    )


def _next_try(job: Job, ahead: tuple[JobId, ...]) -> str:
    if job.retry_ms:
        return "when its pause is over: its last runs were lost at their start"
    if job.phase is Phase.WAITING:
        soon = "as soon as capacity is released or a limit changes"
        return (
            Sentence(soon, f", after {len(ahead)} job(s) ahead of it in ", a_quota(job.quota.id))
            if ahead
            else soon
        )
    if job.phase is Phase.HELD and job.hold is not None:
        return Sentence("starts when ", map(a_job, job.hold.waiting_on), " have left")
    if job.phase is Phase.STOPPED:
        return "when its owner starts it again"
    return ""
