"""What an event does: check it against the rules, then change the state. Refused means nothing changed.

`apply` returns the decisions an event brings about by itself (a drain, a lost node, a scaling with reclaim evict at
once); everything else is left to the next plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core import job_commands, job_sizes, job_stops, node_commands, quota_commands, scaling
from quotatree.core.preemptions import count_preemption
from quotatree.core.state import State

Decisions = tuple[say.Decision, ...]


def apply(state: State, event: ev.Event, now_ms: int) -> Decisions:
    """Let one event happen."""
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
    ev.PoolDeclared: node_commands.pool_declared,
    ev.NodeJoined: node_commands.node_joined,
    ev.NodeChanged: node_commands.node_changed,
    ev.DeviceChanged: node_commands.device_changed,
    ev.QuotaCreated: quota_commands.create,
    ev.QuotaUpdated: quota_commands.update,
    ev.QuotaScaled: _scaled,
    ev.QuotaTransferred: _transferred,
    ev.QuotaDeleted: quota_commands.delete,
    ev.LoanReturned: _loan_returned,
    ev.LimitsSet: quota_commands.set_limits,
    ev.JobSubmitted: job_commands.submitted,
    ev.JobAdopted: job_commands.adopted,
    ev.JobStarted: job_commands.started,
    ev.JobCheckpointed: job_commands.checkpointed,
    ev.JobEnded: job_commands.ended,
    ev.JobForgotten: job_commands.forgotten,
    ev.JobLeft: job_commands.left,
    ev.JobCancelled: job_commands.cancelled,
    ev.JobResubmitted: job_commands.resubmitted,
    ev.JobStopped: job_stops.stopped,
    ev.JobLost: job_stops.lost,
    ev.JobPriorityChanged: job_commands.priority_changed,
    ev.JobResized: job_sizes.resized,
}
