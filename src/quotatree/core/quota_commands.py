"""Creating, changing, scaling and deleting quotas (Q1, Q5, Q6, Q8), and returning loans by hand (P15)."""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import act
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.eligible import Clause, Protections, Signature, all_of
from quotatree.core.errors import Refused
from quotatree.core.node_offer import LADDER
from quotatree.core.node_search import without_implied
from quotatree.core.queueing import WaitQueue
from quotatree.core.quota import (
    MAX_CHILDREN,
    MAX_DEPTH,
    Quota,
    QuotaId,
    QuotaSpec,
    check_children_fit,
    inherited_ms,
    loan,
)
from quotatree.core.quota_cover import cheapest_cover
from quotatree.core.reasons import Code, because
from quotatree.core.resources import RESOURCE_NAMES, WHOLE_GPU, ZERO, Bounds, Resources, amount_text
from quotatree.core.state import State, limits_on
from quotatree.core.unit import Unit

Decisions = tuple[say.Decision, ...]


def create(state: State, event: ev.QuotaCreated, now_ms: int) -> Decisions:
    del now_ms
    spec = event.quota
    if not spec.id:
        raise Refused("id", spec.id, "Q1", "must not be empty")
    if spec.id in state.quotas:
        raise Refused("id", spec.id, "Q1", "exists already")
    parent = _parent_of(state, spec)
    if parent is None:
        bounds = _root_min(state, spec.draws, None)
    else:
        bounds = spec.min
        check_children_fit(parent, {spec.id: bounds})
    _check_amounts(spec, bounds)
    quota = Quota(spec, parent, WaitQueue())
    quota.set_min(bounds)
    quota.actual = list(bounds)
    quota.path = (quota, *(parent.path if parent is not None else ()))
    if parent is None:
        state.roots.append(quota)
    else:
        parent.children.append(quota)
    state.quotas[spec.id] = quota
    _renumber(state, quota.root)
    return ()


def _parent_of(state: State, spec: QuotaSpec) -> Quota | None:
    if spec.parent is None:
        if not spec.draws:
            raise Refused(
                "draws", {}, "Q1", f"{spec.id} has no parent, so it must say what it draws from pools"
            )
        return None
    parent = state.quotas.get(spec.parent)
    if parent is None:
        raise Refused("parent", spec.parent, "Q1", "no such quota")
    if spec.draws:
        raise Refused("draws", dict(spec.draws), "Q1", "only a root draws from pools")
    if parent.depth >= MAX_DEPTH:
        raise Refused("parent", spec.parent, "Q1", f"the tree may be {MAX_DEPTH} levels deep")
    if len(parent.children) >= MAX_CHILDREN:
        raise Refused("parent", spec.parent, "Q1", f"a quota may have {MAX_CHILDREN} children")
    return parent


def _check_amounts(spec: QuotaSpec, bounds: Bounds) -> None:
    for i, bound in enumerate(bounds):
        if bound is not None and bound < 0:
            raise Refused(f"min.{RESOURCE_NAMES[i]}", bound, "Q1", "must not be negative")
        reserved = spec.reserved[i]
        if reserved < 0 or (reserved and (bound is None or reserved > bound)):
            top = "its min, which it does not name" if bound is None else amount_text(i, bound)
            raise Refused(
                f"reserved.{RESOURCE_NAMES[i]}", amount_text(i, reserved), "Q8", f"must be 0 to {top}"
            )
    for name in ("idle_limit_milli", "min_runtime_ms", "preemption_delay_ms"):
        value = getattr(spec, name)
        if value is not None and value < 0:
            raise Refused(name, value, "P11", "must not be negative")


def _root_min(state: State, draws: tuple[tuple[str, Bounds], ...], root: Quota | None) -> Bounds:
    """The min of a root is the sum of its draws; per pool the draws of all roots must fit (Q1), one model (R4)."""
    models: set[str] = set()
    for pool, drawn in draws:
        if pool not in state.pools:
            raise Refused("draws", pool, "Q1", f"no such pool; there are {sorted(state.pools)}")
        if not state.pools[pool]:
            models |= set(state.pool_models.get(pool, ()))
        capacity = pool_capacity(state, pool)
        for i, amount in enumerate(drawn):
            if amount is None:
                continue
            others = sum(
                other[i] or 0
                for r in state.roots
                if r is not root
                for other_pool, other in r.spec.draws
                if other_pool == pool
            )
            if amount + others > capacity[i]:
                raise Refused(
                    f"draws.{pool}", amount_text(i, amount), "Q1",
                    f"other roots draw {amount_text(i, others)} of the {amount_text(i, capacity[i])} in this pool",
                )  # fmt: skip
    if len(models) > 1:
        raise Refused("draws", sorted(models), "R4", "one tree, one GPU model: make a root for each")
    totals: list[int | None] = []
    for i in range(3):
        amounts = [drawn[i] for _, drawn in draws]
        known = [a for a in amounts if a is not None]
        totals.append(sum(known) if len(known) == len(amounts) else None)
    return Bounds(*totals)


def pool_capacity(state: State, pool: str) -> Resources:
    """What the nodes of a pool have, lost ones included: losing a node shows as shortfall, it does not unmake quotas."""
    nodes = [n.spec for n in state.nodes if n.spec.pool == pool]
    return Resources(
        sum(n.gpus for n in nodes) * WHOLE_GPU,
        sum(n.cpu_milli for n in nodes),
        sum(n.memory_mib for n in nodes),
    )


def _renumber(state: State, root: Quota) -> None:
    """Number the tree so that subtrees are intervals, and refresh what hangs on its form."""
    counter = 0

    def visit(quota: Quota) -> None:
        nonlocal counter
        quota.tin = counter
        counter += 1
        for child in quota.children:
            visit(child)
        quota.tout = counter

    visit(root)
    _refresh_flags(state, root)
    for one in state.roots:
        pools = {pool for pool, _ in one.spec.draws}
        one.pool_mates = tuple(r for r in state.roots if pools & {pool for pool, _ in r.spec.draws})
    state.forget_classes()
    state.bump(root)


def _refresh_flags(state: State, root: Quota) -> None:
    state.set(root, "shares_reserved", any(any(q.spec.reserved) for q in root.subtree()))
    for quota in root.subtree():
        for name in ("min_runtime_ms", "preemption_delay_ms"):
            state.set(quota, name, inherited_ms(quota, name))
    policies = [q.spec.self_level for q in root.subtree()]
    state.set(root, "lends", any(p is not None and p.reaches_siblings for p in policies))


def update(state: State, event: ev.QuotaUpdated, now_ms: int) -> Decisions:
    """Q6: touches only jobs not yet started; parent, pools and min stay."""
    del now_ms
    quota = _quota(state, event.quota.id)
    spec = event.quota
    if spec.parent != quota.spec.parent:
        raise Refused("parent", spec.parent, "Q1", "fixed after creation")
    spec = replace(spec, draws=quota.spec.draws, min=quota.spec.min)
    _check_amounts(spec, Bounds(*quota.min))
    state.set(quota, "spec", spec)
    state.forget_indexes()
    _refresh_flags(state, quota.root)
    for below in quota.subtree():
        for job in below.jobs.values():
            for unit in [job.core, *job.surplus.values()]:
                if unit is not None:
                    state.protect(unit)
            if job.id in below.queue.of_job:
                state.requeue(job)
        below.queue.forget_failures()
    state.bump(quota)
    return ()


def delete(state: State, event: ev.QuotaDeleted, now_ms: int) -> Decisions:
    """Q6: refused with the list of what is in the way."""
    del now_ms
    quota = _quota(state, event.quota)
    if quota.children:
        raise Refused("quota", quota.id, "Q6", f"has children: {', '.join(c.id for c in quota.children)}")
    if quota.jobs:
        raise Refused("quota", quota.id, "Q6", f"has active jobs: {', '.join(sorted(quota.jobs)[:20])}")
    if quota.parent is None:
        state.roots.remove(quota)
    else:
        quota.parent.children.remove(quota)
    del state.quotas[quota.id]
    state.limits.pop(quota.id, None)
    if quota.parent is not None:
        _renumber(state, quota.root)
    else:
        for root in state.roots:
            _renumber(state, root)
    return ()


def set_limits(state: State, event: ev.LimitsSet, now_ms: int) -> Decisions:
    """W3: recount what is in use under the new limits."""
    del now_ms
    quota = _quota(state, event.quota)
    for limit in event.limits:
        if limit.quota != quota.id or limit.gpu_milli < 0 or not 1 <= limit.low <= limit.high <= 9:
            raise Refused(
                "limits", limit, "W3", "needs this quota, priorities in 1..9 and an amount of at least 0"
            )
    waiting = [job for job in quota.jobs.values() if job.id in quota.queue.of_job]
    for job in waiting:
        state.dequeue(job)
    state.put_entry(state.limits, quota.id, event.limits)
    used = {limit: n for limit, n in state.limit_used.items() if limit.quota != quota.id}
    for job in quota.jobs.values():
        units = [job.core, *job.surplus.values(), job.hold.unit if job.hold is not None else None]
        total = sum(u.footprint.gpu_milli for u in units if u is not None)
        for limit in limits_on(state, job):
            used[limit] = used.get(limit, 0) + total
    state.set(state, "limit_used", used)
    for job in waiting:
        state.enqueue(job)
    state.bump(quota)
    return ()


# -- scaling -----------------------------------------------------------------------------------------------------


def scale(state: State, event: ev.QuotaScaled, now_ms: int) -> Decisions:
    quota = _quota(state, event.quota)
    if quota.parent is None:
        draws = event.draws
        if not draws and len(quota.spec.draws) == 1:
            pool, before = quota.spec.draws[0]
            draws = ((pool, _merged(before, event.min)),)
        if {p for p, _ in draws} != {p for p, _ in quota.spec.draws}:
            raise Refused(
                "draws", dict(draws), "Q1", "a root keeps its pools; name an amount for each of them"
            )
        target = _root_min(state, draws, quota)
        found = _scale_all(state, {quota.id: target}, event.mode, now_ms)
        state.set(quota, "spec", replace(quota.spec, draws=draws))
        return found
    target = _merged(Bounds(*quota.min), event.min)
    return _scale_all(state, {quota.id: target}, event.mode, now_ms)


def transfer(state: State, event: ev.QuotaTransferred, now_ms: int) -> Decisions:
    """Move capacity between two children of one parent in one step (Q5)."""
    source, target = _quota(state, event.source), _quota(state, event.target)
    if source is target or source.parent is None or source.parent is not target.parent:
        raise Refused(
            "to", event.target, "Q5", f"{event.source} and {event.target} must be two children of one parent"
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
                RESOURCE_NAMES[i], amount_text(i, amount), "Q5", f"{event.source} has {have} to give"
            )
        less[i] = before - amount
        more[i] = (more[i] or 0) + amount
    return _scale_all(state, {source.id: Bounds(*less), target.id: Bounds(*more)}, event.mode, now_ms)


def _scale_all(state: State, targets: dict[QuotaId, Bounds], mode: ev.ScaleMode, now_ms: int) -> Decisions:
    """Check everything, find who must go, then change: refused means nothing changed."""
    for quota_id, target in targets.items():
        quota = state.quotas[quota_id]
        _check_amounts(quota.spec, target)
        check_children_fit(quota, {quota_id: target}, "Q5")
        if quota.parent is not None:
            check_children_fit(quota.parent, dict(targets), "Q5")
    victims: list[tuple[Quota, tuple[Unit, ...]]] = []
    for quota_id, target in targets.items():
        quota = state.quotas[quota_id]
        over = _over(quota, target)
        if over == ZERO or not _decreases(quota, target):
            continue
        if mode is ev.ScaleMode.REFUSE:
            raise _in_the_way(quota, target, over)
        if mode is ev.ScaleMode.RECLAIM:
            victims.append((quota, _reclaim_victims(state, quota, target, over, now_ms)))
    for quota_id, target in targets.items():
        _set_target(state, state.quotas[quota_id], target)
    found: list[say.Decision] = []
    for quota, units in victims:
        reason = because(Code.ScaleReclaim, quota=quota.id)
        found += [act.evict(state, unit, now_ms, reason, None, counts=True) for unit in units]
    return tuple(found)


def _over(quota: Quota, target: Bounds) -> Resources:
    """How much of what is used would be above the target."""
    return Resources(*(max(0, quota.used[i] - t) if t is not None else 0 for i, t in enumerate(target)))


def _decreases(quota: Quota, target: Bounds) -> bool:
    """Does the target go below the present min of a resource that is used beyond it? An increase is never refused."""
    return any(
        t is not None and quota.used[i] > t and ((was := quota.min[i]) is None or t < was)
        for i, t in enumerate(target)
    )


def _in_the_way(quota: Quota, target: Bounds, over: Resources) -> Refused:
    i = next(i for i in range(3) if over[i])
    jobs = sorted(
        (j for q in quota.subtree() for j in q.jobs.values() if j.core is not None), key=lambda j: j.id
    )
    named = ", ".join(j.id for j in jobs[:5]) + (" ..." if len(jobs) > 5 else "")
    return Refused(
        f"min.{RESOURCE_NAMES[i]}", amount_text(i, target[i] or 0), "Q5",
        f"{quota.id} uses {amount_text(i, quota.used[i])}, {amount_text(i, over[i])} too much; in the way: {named}. "
        "Use mode lazy to let it shrink as work ends, or reclaim to evict",
    )  # fmt: skip


def _reclaim_victims(
    state: State, quota: Quota, target: Bounds, over: Resources, now_ms: int
) -> tuple[Unit, ...]:
    """Regular units of the subtree: quotas above their min first, then all (Q5)."""
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
            f"reserved parts below {quota.id} keep {amount_text(i, over[i])} from being reclaimed",
        )  # fmt: skip
    return found


def _cheapest(
    state: State, quota: Quota, clauses: tuple[Clause, ...], over: Resources, now_ms: int
) -> tuple[Unit, ...] | None:
    """P5 over a set of clauses: lowest highest priority first, then least cost."""
    signature = Signature(quota, 9, clauses)
    protections = Protections(signature)
    bound = protections if protections.bind() else None
    for highest in range(LADDER):
        found = cheapest_cover(state, signature, highest, over, now_ms, bound)
        if found is not None:
            return without_implied(found, now_ms).units
    return None


def _set_target(state: State, quota: Quota, target: Bounds) -> None:
    before = Bounds(*quota.actual)
    shrinks = quota.shrinking or _decreases(quota, target)
    state.set(quota, "named", tuple((i, m) for i, m in enumerate(target) if m is not None))
    state.set(quota, "min", list(target))
    above = any(t is not None and quota.used[i] > t for i, t in enumerate(target))
    actual: list[int | None] = list(target)
    for i, t in enumerate(target):
        was = before[i]
        if t is not None and was is not None:
            actual[i] = max(t, min(quota.used[i], was))
    state.set(quota, "actual", actual)
    state.set(quota, "shrinking", above and shrinks)
    quota.root.loans = quota.root.loans or above
    state.bump(quota)


def return_loan(state: State, event: ev.LoanReturned, now_ms: int) -> Decisions:
    """An admin brings a quota back to its min (P15)."""
    quota = _quota(state, event.quota)
    over = Resources(*(loan(quota, i) for i in range(3)))
    if over == ZERO:
        raise Refused("quota", quota.id, "P15", "has no loan to return")
    units = _cheapest(state, quota, all_of(quota, Code.LoanReturnedByHand, False), over, now_ms)
    if units is None:
        raise Refused("quota", quota.id, "Q8", "reserved parts keep its loan from being returned")
    reason = because(Code.LoanReturnedByHand, quota=quota.id)
    return tuple(act.evict(state, unit, now_ms, reason, None, counts=True) for unit in units)


def _merged(before: Bounds, change: Bounds) -> Bounds:
    """The bounds with what the change names."""
    return Bounds(*(b if c is None else c for b, c in zip(before, change, strict=True)))


def _quota(state: State, quota_id: str) -> Quota:
    quota = state.quotas.get(QuotaId(quota_id))
    if quota is None:
        raise Refused("quota", quota_id, "Q1", "no such quota")
    return quota
