"""What is counted while the server runs, for Prometheus. Reason codes are labels; names of jobs, quotas and people never are.

What is looked at when Prometheus asks stands in `live_metrics`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from quotatree.codec import tag_of
from quotatree.control.commands.values import Answer
from quotatree.control.decision_effects import lost_work
from quotatree.core import GPU_SECOND, Code, JobId, Module, NodeState, State, UnitKind
from quotatree.core.decisions import Evict, Start

if TYPE_CHECKING:
    from quotatree.control.batch import Inputs, Outcome
    from quotatree.control.turn import Turn

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_WAITS = (1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400, 604_800)
_EVICTIONS = (0.1, 0.5, 1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 300)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_PREEMPTIONS = (
    Code.SelfLevelOwn, Code.SelfLevelSibling, Code.ChildLevel, Code.ReturnOfLoan, Code.TakenInTurn, Code.LoanReturnedByHand,
    Code.ScaleReclaim,
)  # fmt: skip
_OTHER_LOSSES = (
    Code.IdleTakenBack, Code.LargestShare, Code.FairShare, Code.SurplusGivesWay, Code.NodeDrained, Code.NodeLost, Code.DeviceIll, Code.RunLost,
)  # fmt: skip


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        on = self.registry
        self.commands = Counter(
            "quotatree_commands",
            "Commands answered, by kind and outcome",
            ["command", "outcome"],
            registry=on,
        )
        self.decisions = Counter(
            "quotatree_decisions", "Decisions taken, by kind and reason code", ["kind", "reason"], registry=on
        )
        self.reports = Counter("quotatree_engine_reports", "Reports of the engine", ["kind"], registry=on)
        self.batch_size = Histogram(
            "quotatree_batch_size",
            "Commands, reports and deadlines in one commit",
            buckets=_SIZES,
            registry=on,
        )
        self.plan_seconds = Histogram(
            "quotatree_plan_seconds", "Time of one plan", buckets=_SECONDS, registry=on
        )
        self.plans_cut_short = Counter(
            "quotatree_plans_cut_short",
            "Plans that left something to the next, which followed at once",
            registry=on,
        )
        self.commit_seconds = Histogram(
            "quotatree_commit_seconds", "Time of one commit to the store", buckets=_SECONDS, registry=on
        )
        self.wait_seconds = Histogram(
            "quotatree_wait_seconds",
            "From when a job was queued, or queued again, until its start was decided",
            ["module"],
            buckets=_WAITS,
            registry=on,
        )
        self.eviction_seconds = Histogram(
            "quotatree_eviction_seconds",
            "From the decision to evict until the last replica concerned had left",
            buckets=_EVICTIONS,
            registry=on,
        )
        self.preemptions = Counter(
            "quotatree_preemptions",
            "Evictions that count as preemptions, by reason code",
            ["reason"],
            registry=on,
        )
        self.lost_gpu_seconds = Counter(
            "quotatree_lost_gpu_seconds", "Work that evictions lost, by reason code", ["reason"], registry=on
        )
        self.oldest_leaving = Gauge(
            "quotatree_oldest_leaving_seconds",
            "How long ago the oldest job that has not left yet was told to stop; 0: all have left",
            registry=on,
        )
        self.oldest_leaving.set_function(self._oldest_leaving_seconds)
        self._leaving: dict[JobId, _Leaving] = {}
        self.active = Gauge(
            "quotatree_jobs_active", "Jobs that are not finished, or still leaving", registry=on
        )
        self.waiting = Gauge("quotatree_jobs_waiting", "Jobs in the queues", registry=on)
        self.leaving = Gauge("quotatree_jobs_leaving", "Jobs with replicas told to stop", registry=on)
        self.nodes = Gauge("quotatree_nodes", "Nodes, by state", ["state"], registry=on)
        self.gpus = Gauge("quotatree_gpus", "GPUs of nodes, by the state of the node", ["state"], registry=on)
        self.gpus_ill = Gauge("quotatree_gpus_ill", "GPUs that are out of order", registry=on)
        self.stray_gpus = Gauge(
            "quotatree_stray_gpus", "GPUs of pods beside all quotas, where a workspace has them", registry=on
        )
        self._nodes_seen: tuple[State, int] | None = None
        self.store_failures = Counter(
            "quotatree_store_failures", "Times the store was unavailable", registry=on
        )
        self.order_failures = Counter(
            "quotatree_engine_order_failures", "Orders that the engine did not take at once", registry=on
        )
        self.faults = Counter("quotatree_faults", "Bugs met and survived", registry=on)
        self.books_mended = Counter(
            "quotatree_books_mended",
            "Runs whose stretches of use did not fit and were put together anew, as after an overlap with an older version",
            registry=on,
        )
        self.refused = Counter(
            "quotatree_refused_requests",
            "Requests without the right to them, by code: nobody signed in, no right, nothing one may see",
            ["code"],
            registry=on,
        )
        self.deliveries = Counter(
            "quotatree_webhook_deliveries", "Webhook deliveries, by outcome", ["outcome"], registry=on
        )
        self._begin_at_zero()

    def _begin_at_zero(self) -> None:
        """Tell these before anything has happened: Prometheus sees an increase only from a value that it has seen."""
        for code in _PREEMPTIONS:
            self.preemptions.labels(code.name)
        for code in (*_PREEMPTIONS, *_OTHER_LOSSES):
            self.lost_gpu_seconds.labels(code.name)
        for outcome in ("sent", "failed", "dead"):
            self.deliveries.labels(outcome)
        for module in Module:
            self.wait_seconds.labels(module.value)

    def count(self, turn: Turn, inputs: Inputs, outcome: Outcome) -> None:
        """Count one committed batch, and set the gauges to the state after it."""
        self.batch_size.observe(len(inputs))
        self.plan_seconds.observe(outcome.plan_seconds)
        self.plans_cut_short.inc(outcome.cut_short)
        state = turn.state
        self.active.set(len(state.jobs))
        self.waiting.set(sum(len(quota.queue.of_job) for quota in state.waiting_quotas.values()))
        self.leaving.set(len(state.leaving_jobs))
        self._count_nodes(state)
        for call, answer in outcome.answers:
            said = "done" if isinstance(answer, Answer) else type(answer).__name__
            self.commands.labels(type(call.command).__name__, said).inc()
        for report in inputs.reports:
            self.reports.labels(type(report).__name__).inc()
        for decision in turn.decisions:
            self.decisions.labels(tag_of(type(decision)), decision.reason.code.name).inc()
            if isinstance(decision, Start) and not decision.grows:
                job = state.jobs.get(decision.job)
                if job is not None:
                    waited_ms = max(0, turn.now_ms - job.queued_ms)
                    self.wait_seconds.labels(job.spec.module.value).observe(waited_ms / 1000)
            elif isinstance(decision, Evict):
                self._evicted(decision, turn)
        self._see_who_left(state.leaving_jobs, turn.now_ms)

    def stands_by(self) -> None:
        """Forget the state of things: another server leads, and tells it."""
        self._leaving.clear()
        self._nodes_seen = None
        for labelled in (self.nodes, self.gpus):
            labelled.clear()
        for gauge in (self.active, self.waiting, self.leaving, self.gpus_ill, self.stray_gpus):
            gauge.set(0)

    def _count_nodes(self, state: State) -> None:
        """Count nodes and GPUs, if one has joined or changed since they were counted last."""
        if self._nodes_seen is not None:
            seen, version = self._nodes_seen
            if seen is state and version == state.ready_version:
                return
        self._nodes_seen = state, state.ready_version
        for one in NodeState:
            there = [node for node in state.nodes if node.state is one]
            self.nodes.labels(one.value).set(len(there))
            self.gpus.labels(one.value).set(sum(node.spec.gpus for node in there))
        self.gpus_ill.set(sum(len(node.ill) for node in state.nodes))

    def _evicted(self, decision: Evict, turn: Turn) -> None:
        reason = decision.reason.code.name
        if decision.counts:
            self.preemptions.labels(reason).inc()
        lost = lost_work(turn.world, decision.job, decision.lost_work)
        self.lost_gpu_seconds.labels(reason).inc(lost / GPU_SECOND)
        if decision.kind is not UnitKind.HOLD:
            self._leaving[decision.job] = _Leaving(turn.now_ms, time.monotonic(), evicted=True)

    def _see_who_left(self, leaving: Mapping[JobId, object], now_ms: int) -> None:
        """Measure who has left since the last batch, and note who was told to leave."""
        for job in [job for job in self._leaving if job not in leaving]:
            since = self._leaving.pop(job)
            if since.evicted:
                self.eviction_seconds.observe(max(0, now_ms - since.at_ms) / 1000)
        for job in leaving:
            if job not in self._leaving:
                self._leaving[job] = _Leaving(now_ms, time.monotonic(), evicted=False)

    def _oldest_leaving_seconds(self) -> float:
        """Asked by the thread of a scrape while the loop writes, so of a copy."""
        now = time.monotonic()
        return now - min((one.at_seconds for one in list(self._leaving.values())), default=now)


class _Leaving(NamedTuple):
    """When a job was told to stop, by the clock of decisions and by that of this process."""

    at_ms: int
    at_seconds: float
    evicted: bool
