"""Why was a step not enough, why is a unit taken, and why does a job start: the reasons that an attempt tells (X1, P13)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from quotatree.core import decisions as say
from quotatree.core.model.job import Job, least_asked_for, total_request
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import Shortage, Usage, idle_room, loan
from quotatree.core.model.resources import GPU, Resources, amount_text, resources_text
from quotatree.core.model.rights import Work, kept_from, rules_against, work_of
from quotatree.core.model.unit import GPU_SECOND, Unit, UnitKind
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.fair_shares import sharing_from
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.eligible import Signature, above_min_beside
from quotatree.core.search.free_index import free_index
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import Wanted, bounded_by_pools, first_too_few, grouped
from quotatree.core.search.tentative import PoolRooms
from quotatree.core.search.victims import Found, Why
from quotatree.core.state import State

GIVE_WAY_TO_ANYBODY: Final = (Code.IdleTakenBack, Code.SurplusGivesWay)
"""Why idle work and surplus go: they stand on the lowest rung, whatever their priority."""
BY_RIGHT: Final = (
    Code.SelfLevelOwn, Code.SelfLevelSibling, Code.ChildLevel, Code.ReturnOfLoan, Code.HoldTaken, Code.TakenInTurn,
)  # fmt: skip
"""Why others go: some job has a right to take them."""


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


def kept_for_guard(state: State, job: Job) -> Reason:
    """Return that a job waits since what it would use is kept for the guarded job of its tree, which there must be (S10)."""
    root, guard = job.quota.root, job.quota.tree.guard
    assert guard is not None
    kept = total_request(state.jobs[guard], least_asked_for(state.jobs[guard]))
    return because(Code.KeptForGuard, quota=root.id, kept=resources_text(kept), head=guard)


def idle_refusal(job: Job, request: Resources, usage: Usage | None = None) -> Reason | None:
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


def why_no_place(state: State, root: Quota, wanted: Wanted, avoid: frozenset[int]) -> Reason:
    """Return which shape finds too few free devices: the largest, or the first that does beside larger ones (X1)."""
    shape = max((s for _, s in wanted), key=lambda s: s.gpu_milli)
    count = sum(1 for _, s in wanted if s == shape)
    free = free_index(state, shape, root, True)
    fits = free.total - sum(free.slots[n] for n in avoid)
    if fits >= count:
        part = why_no_part(state, root, wanted, avoid)
        if part is not None:
            return part
        shape, fits, count = first_too_few(state, root, wanted, avoid)
    return because(Code.NoPlacement, fits=fits, wanted=count, shape=resources_text(shape.resources))


def why_no_part(state: State, root: Quota, wanted: Wanted, avoid: frozenset[int]) -> Reason | None:
    """Return which pool has free devices for a shape of which the root's part there is used up (Q1); None if none has.

    Of several it is the pool of which most is left for the root.
    """
    if not bounded_by_pools(root):
        return None
    rooms = PoolRooms(Overlay(state), root)
    for shape, numbers in grouped(wanted).items():
        if not shape.gpu_milli:
            continue
        free: dict[str, int] = {}
        for node, slots in enumerate(free_index(state, shape, root, True).slots):
            if slots and node not in avoid:
                pool = state.nodes[node].spec.pool
                free[pool] = free.get(pool, 0) + slots
        allowed = {
            pool: min(slots, max(0, rooms.left(pool)) // shape.gpu_milli) for pool, slots in free.items()
        }
        used_up = [pool for pool, slots in free.items() if allowed[pool] < slots]
        if used_up and sum(allowed.values()) < len(numbers) <= sum(free.values()):
            pool = max(sorted(used_up), key=rooms.left)
            part = dict(root.spec.draws)[pool].gpu_milli or 0
            return because(
                Code.PoolPartFull, quota=root.id, limit=amount_text(GPU, part), pool=pool,
                used=amount_text(GPU, part - rooms.left(pool)),
                wanted=amount_text(GPU, shape.gpu_milli * len(numbers)),
            )  # fmt: skip
    return None


def why_no_return(claimant: Claimant, short: Shortage | None) -> Reason | None:
    """Return why a job has no right to a return; None if nobody beside it is above their min in what it lacks.

    `short`: the lowest quota on its path without room, before anybody gave way; None: only places are short. Asked where the job
    has no such right.
    """
    quota = claimant.quota
    if not quota.tree.loans:
        return None
    if short is not None and short.quota is quota:
        beside = above_min_beside(claimant.state, quota)
        lent = any(claimant.request[i] and loan(sibling, i) for sibling in beside for i in range(3))
        return why_short(quota, short, claimant.past_guard) if lent else None
    return why_too_little(claimant) or _not_for_those_below(claimant, short)


def why_too_little(claimant: Claimant) -> Reason | None:
    """Return whose policy keeps the job from claiming as much as it lacks, of several siblings the one that keeps most; None if no
    policy does."""
    beside, work = above_min_beside(claimant.state, claimant.quota), work_of(claimant.job)
    lacks = claimant.deficit(False)
    for resource in claimant.lacks():
        loans = [(over, sibling) for sibling in beside if (over := loan(sibling, resource))]
        kept = [(min(over, kept_from(sibling, work, resource)), over, sibling) for over, sibling in loans]
        most, over, borrower = max(kept, key=lambda one: one[0], default=(0, 0, claimant.quota))
        claimable = sum(over - part for part, over, _ in kept)
        if most and (not claimable or claimable < lacks[resource]):
            return because(
                Code.ReturnRefused, quota=borrower.id, loan=amount_text(resource, over),
                kept=amount_text(resource, most), claimable=amount_text(resource, over - most),
            )  # fmt: skip
    return None


def _not_for_those_below(claimant: Claimant, short: Shortage | None) -> Reason | None:
    """Return that siblings of a quota above the job's own fill what is short and are above their min: only jobs of that quota
    itself may claim it. None if it is not so."""
    if short is None:
        return None
    path = claimant.quota.path
    lender = path[path.index(short.quota) - 1]
    if lender is claimant.quota:
        return None
    beside = above_min_beside(claimant.state, lender)
    if not any(loan(sibling, short.resource) for sibling in beside):
        return None
    return because(Code.ReturnNotBelow, quota=lender.id)


def why_nobody(step: Step, why: Why) -> Reason:
    code = Code.NoEligibleVictims if why is Why.NOBODY_ELIGIBLE else Code.NoLawfulSet
    return because(code, step=step.value)


def why_on_loan(claimant: Claimant) -> Reason:
    quota = claimant.quota
    over = amount_text(GPU, loan(quota, GPU) + claimant.beyond_min(GPU))
    return because(Code.OnLoan, quota=quota.id, loan=over)


def why_taken(job: Job, signature: Signature, unit: Unit) -> Reason:
    """Return why a unit goes for this job: the rule that gives the right, and whose it is."""
    entitled = signature.entitled(unit.cls)
    assert entitled is not None
    if unit.cls.kind is UnitKind.HOLD:
        return because(Code.HoldTaken, preemptor=job.id)
    if entitled.rule is Code.IdleTakenBack and signature.spared:
        top = sharing_from(unit.job.quota)
        if top is not None and top.tree is job.quota.tree:  # borrowers of another tree have no turn
            return because(Code.LargestShare, preemptor=job.id, quota=top.id)
    by = job.quota
    if entitled.rule is Code.ReturnOfLoan:
        by = next(q for q in unit.job.quota.path if q.parent is job.quota.parent)
    return because(entitled.rule, preemptor=job.id, quota=by.id)


def why_handed_on(before: Reason, taker: Job, kept: Job, victim: Work, protected: bool) -> Reason:
    """Return why a victim goes for `taker`, which was to go for `kept`: by the taker's own right, else by that of `kept` (P8).

    `before`: why it was to go. `protected`: `min_runtime` keeps it from policies (P11), as it did not for `kept`.
    """
    if before.code in GIVE_WAY_TO_ANYBODY:
        return because(before.code, preemptor=taker.id, quota=taker.quota.id)
    facts = dict(before.facts)
    if before.code in BY_RIGHT:
        rules = () if protected else rules_against(taker.quota, taker.priority, victim, claimable=False)
        if rules and before.code is not Code.HoldTaken:
            return because(rules[0], preemptor=taker.id, quota=taker.quota.id)
        if not rules and before.code is not Code.TakenInTurn:
            quota = facts.get("quota", kept.quota.id)
            return because(
                Code.TakenInTurn, preemptor=taker.id, stays=kept.id, rule=before.code.name, quota=quota
            )
    return because(before.code, **(facts | {"preemptor": taker.id}))


def why_started(step: Step, found: Found, victims: Iterable[say.VictimCost]) -> Reason:
    victims = list(victims)
    if step in (Step.IDLE, Step.LOAN):
        freed = sum(victim.freed.gpu_milli for victim in victims)
        return because(Code.AfterIdleBorrowers, freed=amount_text(GPU, freed))
    return because(
        Code.AfterPreemption, victims=len(victims), rule=step.value, highest=found.highest,
        cost=cost_text(found.cost),
    )  # fmt: skip


def cost_text(cost: int) -> str:
    """Return a cost, given in milli-GPU x milliseconds, as text in GPU-seconds."""
    return f"{cost / GPU_SECOND:.1f}".removesuffix(".0")
