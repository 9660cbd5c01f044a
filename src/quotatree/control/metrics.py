"""What is counted while the server runs, for Prometheus. Reason codes are labels; names of jobs and people never are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from quotatree.codec import tag_of
from quotatree.control.commands.values import Answer

if TYPE_CHECKING:
    from quotatree.control.batch import Inputs, Outcome
    from quotatree.control.turn import Turn

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


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
        self.commit_seconds = Histogram(
            "quotatree_commit_seconds", "Time of one commit to the store", buckets=_SECONDS, registry=on
        )
        self.active = Gauge(
            "quotatree_jobs_active", "Jobs that are not finished, or still leaving", registry=on
        )
        self.waiting = Gauge("quotatree_jobs_waiting", "Jobs in the queues", registry=on)
        self.leaving = Gauge("quotatree_jobs_leaving", "Jobs with replicas told to stop", registry=on)
        self.store_failures = Counter(
            "quotatree_store_failures", "Times the store was unavailable", registry=on
        )
        self.order_failures = Counter(
            "quotatree_engine_order_failures", "Orders that the engine did not take at once", registry=on
        )
        self.faults = Counter("quotatree_faults", "Bugs met and survived", registry=on)
        self.refused = Counter(
            "quotatree_refused_requests",
            "Requests without the right to them, by code: nobody signed in, no right, nothing one may see",
            ["code"],
            registry=on,
        )
        self.deliveries = Counter(
            "quotatree_webhook_deliveries", "Webhook deliveries, by outcome", ["outcome"], registry=on
        )

    def count(self, turn: Turn, inputs: Inputs, outcome: Outcome) -> None:
        """Count one committed batch, and set the gauges to the state after it."""
        self.batch_size.observe(len(inputs))
        self.plan_seconds.observe(outcome.plan_seconds)
        state = turn.state
        self.active.set(len(state.jobs))
        self.waiting.set(sum(len(quota.queue.of_job) for quota in state.waiting_quotas.values()))
        self.leaving.set(len(state.leaving_jobs))
        for call, answer in outcome.answers:
            said = "done" if isinstance(answer, Answer) else type(answer).__name__
            self.commands.labels(type(call.command).__name__, said).inc()
        for report in inputs.reports:
            self.reports.labels(type(report).__name__).inc()
        for decision in turn.decisions:
            self.decisions.labels(tag_of(type(decision)), decision.reason.code.name).inc()
