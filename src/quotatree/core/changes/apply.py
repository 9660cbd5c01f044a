"""What an event does: check it against the rules, then change the state. Refused means nothing changed.

`apply` returns the decisions an event brings about by itself (a drain, a lost node, a scaling with reclaim evict at
once); everything else is left to the next plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes import job_sizes, job_stops, jobs, nodes, quotas, scaling
from quotatree.core.changes.preemption_count import count_preemption
from quotatree.core.state import State

Decisions = tuple[say.Decision, ...]


def apply(state: State, event: ev.Event, now_ms: int) -> Decisions:
    """Change the state by one event; return the decisions that it brings about by itself. Raises Refused, changing nothing."""
    return _HANDLERS[type(event)](state, event, now_ms)


def _loan_returned(state: State, event: ev.LoanReturned, now_ms: int) -> Decisions:
    found = scaling.return_loan(state, event, now_ms)
    return (*found, *_count_all(state, found, now_ms))


def _scaled(state: State, event: ev.QuotaScaled, now_ms: int) -> Decisions:
    found = scaling.scale(state, event, now_ms)
    return (*found, *_count_all(state, found, now_ms))


def _transferred(state: State, event: ev.QuotaTransferred, now_ms: int) -> Decisions:
    found = scaling.transfer(state, event, now_ms)
    return (*found, *_count_all(state, found, now_ms))


def _count_all(state: State, found: Decisions, now_ms: int) -> Decisions:
    more: list[say.Decision] = []
    for decision in found:
        if isinstance(decision, say.Evict) and decision.counts:
            more += count_preemption(state, state.jobs[decision.job], now_ms)
    return tuple(more)


_HANDLERS: dict[type[Any], Callable[[State, Any, int], Decisions]] = {
    ev.PoolDeclared: nodes.pool_declared,
    ev.NodeJoined: nodes.node_joined,
    ev.NodeChanged: nodes.node_changed,
    ev.NodeRemoved: nodes.node_removed,
    ev.PoolRemoved: nodes.pool_removed,
    ev.DeviceChanged: nodes.device_changed,
    ev.NodeAltered: nodes.node_altered,
    ev.ForeignUse: nodes.foreign_use,
    ev.QuotaCreated: quotas.create,
    ev.QuotaUpdated: quotas.update,
    ev.QuotaScaled: _scaled,
    ev.QuotaTransferred: _transferred,
    ev.QuotaDeleted: quotas.delete,
    ev.LoanReturned: _loan_returned,
    ev.LimitsSet: quotas.set_limits,
    ev.JobSubmitted: jobs.submitted,
    ev.JobAdopted: jobs.adopted,
    ev.JobStarted: jobs.started,
    ev.JobCheckpointed: jobs.checkpointed,
    ev.JobEnded: jobs.ended,
    ev.JobForgotten: jobs.forgotten,
    ev.JobLeft: jobs.left,
    ev.JobCancelled: jobs.cancelled,
    ev.JobResubmitted: jobs.resubmitted,
    ev.JobStopped: job_stops.stopped,
    ev.JobLost: job_stops.lost,
    ev.JobPriorityChanged: jobs.priority_changed,
    ev.JobResized: job_sizes.resized,
    ev.JobAltered: job_sizes.altered,
}
