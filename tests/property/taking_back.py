"""Who takes regular work keeps what it took: no waiting job could start by evicting it (S8).

Asked of the planner itself, one queue at a time: in a copy that is restored from a snapshot, where delays are over and nobody
waits but at one quota. A plan never asks in this way. It is asked when the whole plan is made.
"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Claim, JobId, Phase
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.unit import UnitKind
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State


def takers(state: State, made: say.Plan) -> set[JobId]:
    """Return who took regular work in a plan and has a place by it."""
    found = {
        d.preemptor
        for d in made.decisions
        if isinstance(d, say.Evict) and d.preemptor is not None and d.kind is not UnitKind.SURPLUS and d.cost
    }
    return {
        name
        for name in found
        if state.jobs[name].phase in (Phase.RUNNING, Phase.HELD) and state.jobs[name].claim is Claim.REGULAR
    }


def taken_back(state: State, made: say.Plan) -> list[tuple[JobId, JobId]]:
    """Return each taker of regular work with a waiting job that would start by evicting it."""
    took = takers(state, made)
    waits = {job.quota.id for job in state.jobs.values() if job.phase is Phase.WAITING}
    return [pair for quota in sorted(waits) if took for pair in _by_those_at(quota, state, took, made.now_ms)]


def _by_those_at(quota: QuotaId, state: State, took: set[JobId], now_ms: int) -> list[tuple[JobId, JobId]]:
    alone = restore(snapshot(state))
    for job in list(alone.jobs.values()):
        if job.phase is Phase.WAITING and job.quota.id != quota:
            apply(alone, ev.JobCancelled(job.id), now_ms)
    for here in list(alone.quotas.values()):
        apply(alone, ev.QuotaUpdated(replace(here.spec, preemption_delay_ms=0)), now_ms)
    return [
        (d.job, d.preemptor)
        for d in plan(alone, now_ms).decisions
        if isinstance(d, say.Evict) and d.preemptor is not None and d.job in took
    ]
