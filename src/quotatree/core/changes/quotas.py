"""Creating, changing and deleting quotas, and the amount limits of their users (Q1, Q6, Q8, W3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.errors import Refused
from quotatree.core.model.noun_fields import NounField, ValueKind
from quotatree.core.model.quota import MAX_CHILDREN, MAX_DEPTH, QUOTA_SETTINGS, Quota, QuotaId, QuotaSpec
from quotatree.core.model.quota_arithmetic import check_children_fit, inherited_ms
from quotatree.core.model.resources import RESOURCE_NAMES, WHOLE_GPU, Bounds, Resources, amount_text
from quotatree.core.model.tree import Tree
from quotatree.core.model.wait_queue import WaitQueue
from quotatree.core.sentences import Sentence, a_job, a_quota
from quotatree.core.state import State, limits_on

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
        bounds = root_min(state, spec.draws, None)
    else:
        bounds = spec.min
        check_children_fit(parent, {spec.id: bounds})
    check_amounts(spec, bounds)
    quota = Quota(spec, parent, WaitQueue(spec.id))
    quota.set_min(bounds)
    quota.actual = list(bounds)
    state.add_quota(quota)
    refresh_flags(state, quota.tree)
    return ()


def _parent_of(state: State, spec: QuotaSpec) -> Quota | None:
    if spec.parent is None:
        if not spec.draws:
            raise Refused(
                "draws",
                "",
                "Q1",
                Sentence(a_quota(spec.id), " has no parent, so it must say what it draws from pools"),
            )
        return None
    parent = state.quotas.get(spec.parent)
    if parent is None:
        raise Refused("parent", spec.parent, "Q1", "no such quota")
    if spec.draws:
        raise Refused("draws", pools_text(spec.draws), "Q1", "only a root draws from pools")
    if parent.depth >= MAX_DEPTH:
        raise Refused("parent", spec.parent, "Q1", f"the tree may be {MAX_DEPTH} levels deep")
    if len(parent.children) >= MAX_CHILDREN:
        raise Refused("parent", spec.parent, "Q1", f"a quota may have {MAX_CHILDREN} children")
    return parent


def pools_text(draws: tuple[tuple[str, Bounds], ...]) -> str:
    """Return the names of the pools that are drawn from, for a refusal."""
    return ", ".join(pool for pool, _ in draws)


def check_amounts(spec: QuotaSpec, bounds: Bounds) -> None:
    for i, bound in enumerate(bounds):
        if bound is not None and bound < 0:
            raise Refused(f"min.{RESOURCE_NAMES[i]}", bound, "Q1", "must not be negative")
        reserved = spec.reserved[i]
        if reserved < 0 or (reserved and (bound is None or reserved > bound)):
            top = "its min, which it does not name" if bound is None else amount_text(i, bound)
            raise Refused(
                f"reserved.{RESOURCE_NAMES[i]}", amount_text(i, reserved), "Q8", f"must be 0 to {top}"
            )
    for setting in QUOTA_SETTINGS:
        _check_setting(setting, setting.of(spec))


def _check_setting(setting: NounField, value: Any) -> None:
    """Raise Refused for a negative amount or time. Which values are none at all, the edges know."""
    amounts: dict[str, int | None] = {}
    if setting.kind in (ValueKind.GPUS, ValueKind.DURATION):
        amounts = {setting.name: value}
    elif setting.kind is ValueKind.BOUNDS:
        amounts = {f"{setting.name}.{RESOURCE_NAMES[i]}": amount for i, amount in enumerate(value or ())}
    for name, amount in amounts.items():
        if amount is not None and amount < 0:
            raise Refused(name, amount, setting.rule, "must not be negative")


def root_min(state: State, draws: tuple[tuple[str, Bounds], ...], root: Quota | None) -> Bounds:
    """Return the min of a root, the sum of its draws, or raise Refused.

    In each pool the draws of all roots must fit (Q1), and all pools must have one GPU model (R4). `root`: the root that
    these draws are to replace; None for a new one.
    """
    models: set[str] = set()
    if len({pool for pool, _ in draws}) != len(draws):
        raise Refused("draws", pools_text(draws), "Q1", "names a pool twice")
    for pool, drawn in draws:
        if pool not in state.pools:
            there = ", ".join(sorted(state.pools)) or "none"
            raise Refused("draws", pool, "Q1", f"no such pool; there are: {there}")
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
        raise Refused(
            "draws", ", ".join(sorted(models)), "R4", "one tree, one GPU model: make a root for each"
        )
    totals: list[int | None] = []
    for i in range(3):
        amounts = [drawn[i] for _, drawn in draws]
        known = [a for a in amounts if a is not None]
        totals.append(sum(known) if len(known) == len(amounts) else None)
    return Bounds(*totals)


def pool_capacity(state: State, pool: str) -> Resources:
    """Return what all nodes of a pool have, lost ones included: a lost node shows as shortfall and unmakes no quota."""
    nodes = [n.spec for n in state.nodes if n.spec.pool == pool]
    return Resources(
        sum(n.gpus for n in nodes) * WHOLE_GPU,
        sum(n.cpu_milli for n in nodes),
        sum(n.memory_mib for n in nodes),
    )


def refresh_flags(state: State, tree: Tree) -> None:
    """Set what follows from the declarations of a tree's quotas: whether any reserves, and their inherited times."""
    quotas = tree.quotas()
    state.set_shares_reserved(tree, any(any(quota.spec.reserved) for quota in quotas))
    for quota in quotas:
        min_runtime_ms = inherited_ms(above.spec.min_runtime_ms for above in quota.path)
        preemption_delay_ms = inherited_ms(above.spec.preemption_delay_ms for above in quota.path)
        state.set_times(quota, min_runtime_ms, preemption_delay_ms)


def update(state: State, event: ev.QuotaUpdated, now_ms: int) -> Decisions:
    """Replace a quota's policies (Q6): running jobs go on, waiting ones are tried anew; parent, pools and min stay."""
    del now_ms
    quota = find_quota(state, event.quota.id)
    spec = event.quota
    if spec.parent != quota.spec.parent:
        raise Refused("parent", spec.parent, "Q1", "fixed after creation")
    spec = replace(spec, draws=quota.spec.draws, min=quota.spec.min)
    check_amounts(spec, Bounds(*quota.min))
    state.set_quota_spec(quota, spec)
    state.forget_indexes()
    refresh_flags(state, quota.tree)
    for below in quota.subtree():
        for job in below.jobs.values():
            for unit in [job.core, *job.extras.values()]:
                if unit is not None:
                    state.protect(unit)
            if job.id in below.queue.of_job:
                state.requeue(job)
    state.bump(quota)
    return ()


def delete(state: State, event: ev.QuotaDeleted, now_ms: int) -> Decisions:
    """Delete a quota and forget its finished jobs, or refuse with the list of what is in the way (Q6)."""
    del now_ms
    quota = find_quota(state, event.quota)
    if quota.children:
        raise Refused(
            "quota", quota.id, "Q6", Sentence("has children: ", (a_quota(c.id) for c in quota.children))
        )
    if quota.jobs:
        raise Refused(
            "quota", quota.id, "Q6", Sentence("has active jobs: ", map(a_job, sorted(quota.jobs)[:20]))
        )
    leaving = sorted(job.id for job in state.leaving_jobs.values() if job.quota is quota)
    if leaving:
        raise Refused(
            "quota",
            quota.id,
            "P9",
            Sentence("has jobs that are still leaving their devices: ", map(a_job, leaving[:20])),
        )
    for job in [job for job in state.jobs.values() if job.quota is quota]:
        state.forget_job(job)
    state.put_limits(quota, ())
    state.remove_quota(quota)
    if quota.parent is not None:
        refresh_flags(state, quota.tree)
    return ()


def set_limits(state: State, event: ev.LimitsSet, now_ms: int) -> Decisions:
    """Set the amount limits of a quota's users and count what is in use under each (W3)."""
    del now_ms
    quota = find_quota(state, event.quota)
    for limit in event.limits:
        if limit.quota != quota.id or limit.gpu_milli < 0 or not 1 <= limit.low <= limit.high <= 9:
            raise Refused(
                "limits", limit, "W3", "needs this quota, priorities in 1..9 and an amount of at least 0"
            )
    waiting = [job for job in quota.jobs.values() if job.id in quota.queue.of_job]
    for job in waiting:
        state.dequeue(job)
    state.put_limits(quota, tuple(dict.fromkeys(event.limits)))
    used = {limit: n for limit, n in state.limit_used.items() if limit.quota != quota.id}
    for job in quota.jobs.values():
        units = [job.core, *job.extras.values(), job.hold.unit if job.hold is not None else None]
        total = sum(u.footprint.gpu_milli for u in units if u is not None)
        for limit in limits_on(state, job):
            used[limit] = used.get(limit, 0) + total
    state.set_limit_used(used)
    for job in waiting:
        state.enqueue(job)
    state.bump(quota)
    return ()


def find_quota(state: State, quota_id: str) -> Quota:
    quota = state.quotas.get(QuotaId(quota_id))
    if quota is None:
        raise Refused("quota", quota_id, "Q1", "no such quota")
    return quota
