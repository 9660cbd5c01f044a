"""Scaling a quota, moving capacity between two, and returning loans by hand (Q5, P15).

A decrease below what is used is refused, followed lazily, or enforced by evictions (reclaim).
"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.evictions import evict_all
from quotatree.core.changes.quotas import check_amounts, find_quota, pools_text, root_min
from quotatree.core.errors import Refused
from quotatree.core.model.policy import HIGHEST_PRIORITY, Module
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import check_children_fit, loan
from quotatree.core.model.resources import RESOURCE_NAMES, ZERO, Bounds, Resources, amount_text
from quotatree.core.model.rights import Work
from quotatree.core.model.unit import Unit
from quotatree.core.reasons import Code, because
from quotatree.core.search.eligible import Clause, Signature, all_of
from quotatree.core.search.ladder import first_on_ladder, rungs_that_could_help
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.trial import Request
from quotatree.core.sentences import Sentence, a_job, a_quota
from quotatree.core.state import State

Decisions = tuple[say.Decision, ...]


def scale(state: State, event: ev.QuotaScaled, now_ms: int) -> Decisions:
    quota = find_quota(state, event.quota)
    if quota.parent is None:
        draws = event.draws
        if not draws and len(quota.spec.draws) == 1:
            pool, before = quota.spec.draws[0]
            draws = ((pool, _merged(before, event.min)),)
        if {p for p, _ in draws} != {p for p, _ in quota.spec.draws}:
            raise Refused(
                "draws", pools_text(draws), "Q1", "a root keeps its pools; name an amount for each of them"
            )
        target = root_min(state, draws, quota)
        found = _scale_all(state, {quota.id: target}, event.mode, now_ms)
        state.set_quota_spec(quota, replace(quota.spec, draws=draws))
        return found
    target = _merged(Bounds(*quota.min), event.min)
    return _scale_all(state, {quota.id: target}, event.mode, now_ms)


def transfer(state: State, event: ev.QuotaTransferred, now_ms: int) -> Decisions:
    """Move capacity between two children of one parent in one step (Q5)."""
    source, target = find_quota(state, event.source), find_quota(state, event.target)
    if source is target or source.parent is None or source.parent is not target.parent:
        raise Refused(
            "to",
            event.target,
            "Q5",
            Sentence(
                a_quota(event.source), " and ", a_quota(event.target), " must be two children of one parent"
            ),
        )
    less: list[int | None] = list(source.min)
    more: list[int | None] = list(target.min)
    for i, amount in enumerate(event.amount):
        if amount is None:
            continue
        before = less[i]
        if amount <= 0:
            raise Refused(RESOURCE_NAMES[i], amount, "Q5", "must be more than 0")
        if before is None or more[i] is None or before < amount:
            have = "no bound" if before is None else amount_text(i, before)
            raise Refused(
                RESOURCE_NAMES[i],
                amount_text(i, amount),
                "Q5",
                Sentence(a_quota(event.source), f" has {have} to give"),
            )
        less[i] = before - amount
        more[i] = (more[i] or 0) + amount
    return _scale_all(state, {source.id: Bounds(*less), target.id: Bounds(*more)}, event.mode, now_ms)


def _scale_all(state: State, targets: dict[QuotaId, Bounds], mode: ev.ScaleMode, now_ms: int) -> Decisions:
    """Check all targets, find the victims, then set the targets and evict; if it is refused, nothing has changed."""
    for quota_id, target in targets.items():
        quota = state.quotas[quota_id]
        check_amounts(quota.spec, target)
        check_children_fit(quota, {quota_id: target}, "Q5")
        if quota.parent is not None:
            check_children_fit(quota.parent, dict(targets), "Q5")
    victims: list[tuple[Quota, tuple[Unit, ...]]] = []
    for quota_id, target in targets.items():
        quota = state.quotas[quota_id]
        over = _over(quota, target)
        if over == ZERO:
            continue
        if mode is ev.ScaleMode.REFUSE and _decreases(quota, target):
            raise _in_the_way(quota, target, over)
        if mode is ev.ScaleMode.RECLAIM and _no_increase(quota, target):
            victims.append((quota, _reclaim_victims(state, quota, target, over, now_ms)))
    for quota_id, target in targets.items():
        quota = state.quotas[quota_id]
        lazily = mode is ev.ScaleMode.LAZY and _no_increase(quota, target)
        _set_target(state, quota, target, quota.shrinking or lazily or _decreases(quota, target))
    found: list[say.Decision] = []
    for quota, units in victims:
        reason = because(Code.ScaleReclaim, quota=quota.id)
        found += evict_all(state, units, now_ms, reason, None, counts=True)
    return tuple(found)


def _over(quota: Quota, target: Bounds) -> Resources:
    """Return how much of what is used would be above the target."""
    return Resources(*(max(0, quota.used[i] - t) if t is not None else 0 for i, t in enumerate(target)))


def _decreases(quota: Quota, target: Bounds) -> bool:
    """Return whether, in some resource, the target is below both the present min and what is used.

    An increase is thus never refused, even if the quota uses more than the new min.
    """
    return any(
        t is not None and quota.used[i] > t and ((was := quota.min[i]) is None or t < was)
        for i, t in enumerate(target)
    )


def _no_increase(quota: Quota, target: Bounds) -> bool:
    """Return whether a mode other than `refuse` counts: the target is lower somewhere, or the same as it is (Q5)."""
    return _decreases(quota, target) or target == Bounds(*quota.min)


def _in_the_way(quota: Quota, target: Bounds, over: Resources) -> Refused:
    i = next(i for i in range(3) if over[i])
    jobs = sorted(
        (j for q in quota.subtree() for j in q.jobs.values() if j.core is not None), key=lambda j: j.id
    )
    return Refused(
        f"min.{RESOURCE_NAMES[i]}", amount_text(i, target[i] or 0), "Q5",
        Sentence(
            a_quota(quota.id),
            f" uses {amount_text(i, quota.used[i])}, {amount_text(i, over[i])} too much; in the way: ",
            (a_job(j.id) for j in jobs[:5]),
            f"{' ...' if len(jobs) > 5 else ''}. Use mode lazy to let it shrink as work ends, or reclaim to evict",
        ),
    )  # fmt: skip


def _reclaim_victims(
    state: State, quota: Quota, target: Bounds, over: Resources, now_ms: int
) -> tuple[Unit, ...]:
    """Return the units to evict: of descendants above their min if those suffice, else of the whole subtree (Q5).

    Raises Refused if reserved parts keep the rest from being reclaimed (Q8).
    """
    if quota.children:
        first = all_of(quota, Code.ScaleReclaim, above_min_only=True)
        found = _cheapest(state, quota, first, over, now_ms) if first else None
        if found is not None:
            return found
    found = _cheapest(state, quota, all_of(quota, Code.ScaleReclaim, above_min_only=False), over, now_ms)
    if found is None:
        i = next(i for i in range(3) if over[i])
        raise Refused(
            f"min.{RESOURCE_NAMES[i]}", amount_text(i, target[i] or 0), "Q8",
            Sentence("reserved parts below ", a_quota(quota.id), f" keep {amount_text(i, over[i])} from being reclaimed"),
        )  # fmt: skip
    return found


def _cheapest(
    state: State, quota: Quota, clauses: tuple[Clause, ...], over: Resources, now_ms: int
) -> tuple[Unit, ...] | None:
    """Return units that these clauses allow and that free `over`, by lowest highest priority, then cost (P5); or None."""
    everyone = Work(
        quota, HIGHEST_PRIORITY, Module.DLC
    )  # the module counts for returns only, and there are none
    request = Request(state, quota, Signature(everyone, clauses), over, now_ms)
    overlay = Overlay(state)
    found = first_on_ladder(request, overlay, rungs_that_could_help(request, overlay))
    return None if found is None else found[1].units


def _set_target(state: State, quota: Quota, target: Bounds, shrinks: bool) -> None:
    """`shrinks`: what stands above the target is given up as work ends, and no new loan is taken meanwhile."""
    before = Bounds(*quota.actual)
    state.set_min(quota, target)
    above = any(t is not None and quota.used[i] > t for i, t in enumerate(target))
    actual: list[int | None] = list(target)
    for i, t in enumerate(target):
        was = before[i]
        if t is not None and was is not None:
            actual[i] = max(t, min(quota.used[i], was))
    state.set_actual(quota, actual, above and shrinks)
    quota.tree.loans = quota.tree.loans or above
    state.bump(quota)


def return_loan(state: State, event: ev.LoanReturned, now_ms: int) -> Decisions:
    """Evict units of a quota above its min until it is back at it, as an admin asked (P15)."""
    quota = find_quota(state, event.quota)
    over = Resources(*(loan(quota, i) for i in range(3)))
    if over == ZERO:
        raise Refused("quota", quota.id, "P15", "has no loan to return")
    units = _cheapest(state, quota, all_of(quota, Code.LoanReturnedByHand, False), over, now_ms)
    if units is None:
        raise Refused("quota", quota.id, "Q8", "reserved parts keep its loan from being returned")
    reason = because(Code.LoanReturnedByHand, quota=quota.id)
    return evict_all(state, units, now_ms, reason, None, counts=True)


def _merged(before: Bounds, change: Bounds) -> Bounds:
    """Return the bounds with those replaced that the change names; None in the change leaves a bound as it is."""
    return Bounds(*(b if c is None else c for b, c in zip(before, change, strict=True)))
