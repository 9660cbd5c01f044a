"""The whole state as one comparable value, without what may differ between equal states (indexes, stamps, memory)."""

from __future__ import annotations

from typing import Any

from quotatree.core.model.job import Job
from quotatree.core.state import State


def snapshot(state: State) -> Any:
    return _frozen(_picture(state))


_LEAVES: set[type] = set()
"""Types of values that need no copy; found as values are met, and most values are of them."""


def _frozen(value: Any) -> Any:
    """Return a copy that later changes of the state do not affect."""
    if isinstance(value, dict):
        return {key: one if type(one) in _LEAVES else _frozen(one) for key, one in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return tuple([one if type(one) in _LEAVES else _frozen(one) for one in value])
    if isinstance(value, tuple):
        hash(value)  # a named tuple that holds a list could not be hashed, and would have to be copied
    _LEAVES.add(type(value))
    return value


def _picture(state: State) -> dict[str, Any]:
    return {
        "jobs": {job.id: _job(job) for job in state.jobs.values()},
        "quotas": {
            q.id: (
                q.spec, q.min, q.named, q.actual, q.used, q.own_used, q.ending, q.idle, q.own_idle, q.shadow, sorted(q.jobs), q.tin, q.tout, q.min_runtime_ms, q.preemption_delay_ms,
                [c.id for c in q.children],
                q.shrinking, q.queue.stood, sorted(q.queue.of_job),
                sorted((repr(c.key), c.members, c.request, c.limits) for c in q.queue.classes.values()),
            )
            for q in state.quotas.values()
        },
        "trees": {
            t.root.id: (
                t.surplus_units, [m.root.id for m in t.pool_mates], t.idle_units, {p: n for p, n in t.pool_used.items() if n}, t.guard,
                t.guard_nodes, t.shares_reserved, [q.id for q in t.quotas() if q.tree is t],
            )
            for t in state.trees
        },
        "nodes": [
            (
                n.spec, n.state, n.ill, n.foreign, n.foreign_devices, n.crowded, n.free, n.held, n.leaving, n.free_cpu, n.free_memory, n.held_cpu, n.held_memory,
                n.leaving_cpu, n.leaving_memory, sorted(n.leavers), n.whole_free, n.whole_now, n.shared,
                sorted((u.name, u.cls.kind.value, s[1:]) for u, s in n.units.items()),
            )
            for n in state.nodes
        ],
        "classes": {
            key: (list(cls.standing), {k: [e[:3] for e in b] for k, b in cls.buckets.items()})
            for key, cls in state._classes.items()
            if cls.buckets
        },
        "mixes": {
            pool: (mix.counts, mix.seen, mix.next_picture, mix.typical.requests)
            for pool, mix in state.mixes.items()
            if mix.seen
        },
        "tables": (
            sorted(state.held), sorted(_growing(state)), sorted(state.waiting_quotas), sorted(state.leaving_jobs),
            state.leaving_replicas, {k: n for k, n in state.limit_used.items() if n}, dict(state.limits),
            dict(state.pools), dict(state.protected),
        ),
    }  # fmt: skip


def _growing(state: State) -> list[str]:
    """Return the jobs of the table `elastic` that can have more replicas; others may stay in it, which changes nothing."""
    return [job.id for job in state.elastic.values() if job.core_replicas < job.spec.most_replicas]


def _job(job: Job) -> tuple[Any, ...]:
    units = [job.core, *job.extras.values(), job.hold.unit if job.hold else None]
    standing = sorted((u for u in units if u is not None), key=lambda u: (u.cls.kind.value, u.name))
    return (
        job.spec, job.quota.id, job.phase, job.claim, job.priority, job.core_replicas, job.queued_ms, job.run,
        job.started_ms, job.checkpoint_ms, sorted(job.extras), sorted(job.leaving.items()), sorted(job.ending.items()), job.preempted_ms,
        job.preempted_by, job.lost_last, job.replan_first, job.reason, tuple(job.story),
        (job.hold.waiting_on, job.hold.expires_ms) if job.hold else None,
        [
            (u.name, u.cls.kind, u.cls.claim, u.places, u.started_ms, u.base, u.slope, u.anchor_ms, u.interval_ms,
             u.cap_ms, u.protected_until_ms)
            for u in standing
        ],
    )  # fmt: skip
