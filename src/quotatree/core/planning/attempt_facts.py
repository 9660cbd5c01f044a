"""Small questions an attempt asks about a job and its quota, and the reasons it tells: no searching, no changes."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core.model.job import Claim, Job, least_asked_for, total_request
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import Shortage, Usage, idle_room
from quotatree.core.model.resources import GPU, ZERO, Resources, amount_text, resources_text
from quotatree.core.model.rights import could_claim, could_evict, work_of
from quotatree.core.model.unit import GPU_SECOND, Unit
from quotatree.core.reasons import Code, Reason, because
from quotatree.core.state import State


def passes_guard(state: State, job: Job) -> bool:
    """Return whether this job may use what the tree's guard keeps: it is the guarded job, or could evict it (S10).

    True if the tree has no guarded job.
    """
    guard = job.quota.tree.guard
    if guard is None or guard == job.id:
        return True
    guarded = state.jobs[guard]
    request = total_request(guarded, least_asked_for(guarded))
    claimable = could_claim(work_of(job), work_of(guarded), request)
    return could_evict(job.quota, job.priority, work_of(guarded), claimable=claimable)


def kept_for_guard(state: State, job: Job) -> Reason:
    """Return that a job waits since what it would use is kept for the guarded job of its tree, which there must be (S10)."""
    root, guard = job.quota.root, job.quota.tree.guard
    assert guard is not None
    kept = total_request(state.jobs[guard], least_asked_for(state.jobs[guard]))
    return because(Code.KeptForGuard, quota=root.id, kept=resources_text(kept), head=guard)


def regular_part(job: Job) -> Resources:
    """Return what the regular replicas of a running job take."""
    units = [unit for unit in (job.core, *job.extras.values()) if unit is not None]
    regular = [unit.footprint for unit in units if unit.cls.claim is Claim.REGULAR]
    return Resources(*(sum(footprint[i] for footprint in regular) for i in range(3)))


def fits_own_min(quota: Quota, request: Resources, surplus: Resources = ZERO) -> bool:
    """Return whether the request fits the quota's own min, in the resources that it asks for, once this surplus has left (P15)."""
    used = quota.used
    for i, bound in quota.named:  # noqa: SIM110  # asked for every job that may be tried: no generator
        if request[i] and used[i] - surplus[i] + request[i] > bound:
            return False
    return True


def why_short(quota: Quota, short: Shortage, past_guard: bool) -> Reason:
    code = Code.OwnQuotaFull if short.quota is quota else Code.AncestorFull
    bound = short.quota.min[short.resource] or 0
    kept = short.quota.shadow[short.resource] if not past_guard else 0
    if kept and short.free < short.wanted <= short.free + kept:
        return because(
            Code.KeptForGuard, quota=short.quota.id, kept=amount_text(short.resource, kept),
            head=quota.tree.guard or "",
        )  # fmt: skip
    return because(
        code, quota=short.quota.id, free=amount_text(short.resource, short.free),
        min=amount_text(short.resource, bound), wanted=amount_text(short.resource, short.wanted),
    )  # fmt: skip


def idle_refusal(state: State, job: Job, request: Resources, usage: Usage | None = None) -> Reason | None:
    """Return why the idle room or its quota's idle limit is too small for a job; None if both suffice (I2).

    `usage`: what quotas would use in a supposed state.
    """
    quota, root = job.quota, job.quota.root
    for i, capacity in root.named:
        room = idle_room(quota, capacity, i, usage)
        if request[i] and request[i] > room:
            return because(Code.IdleRoomShort, free=amount_text(i, room), wanted=amount_text(i, request[i]))
    limit = quota.spec.idle_limit_milli
    if limit is not None and request[GPU] and quota.own_idle[GPU] + request[GPU] > limit:
        return because(
            Code.IdleLimitReached, quota=quota.id, limit=amount_text(GPU, limit),
            used=amount_text(GPU, quota.own_idle[GPU]), wanted=amount_text(GPU, request[GPU]),
        )  # fmt: skip
    return None


def victim_cost(unit: Unit, eviction: say.Evict, freed: Resources) -> say.VictimCost:
    """Return the line of the preemption record for one eviction, which freed so much, with what the unit took along."""
    cls = unit.cls
    return say.VictimCost(
        job=eviction.job,
        kind=cls.kind,
        replicas=eviction.replicas,
        quota=cls.quota.spec.id,
        priority=cls.priority,
        lost_work=eviction.lost_work,
        cost=eviction.cost,
        freed=freed,
    )


def cost_text(cost: int) -> str:
    """Return a cost, given in milli-GPU x milliseconds, as text in GPU-seconds."""
    return f"{cost / GPU_SECOND:.1f}".removesuffix(".0")


def seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:g} s"
