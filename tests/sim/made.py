"""Small clusters, trees and traces, for tests whose right answer is worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Module, Priorities, SelfLevel, SelfLevels, Strategy
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.state import Settings
from quotatree.sim.outcome import JobOutcome
from quotatree.sim.result import SimResult, simulate
from quotatree.sim.setup import Setup
from quotatree.sim.trace import Trace, TraceJob

S = 1_000
HOUR = 3_600 * S
MODULES = frozenset(Module)


def job(id: str, at_s: int, run_s: int, gpus: float = 8, team: str = "a", **more: Any) -> TraceJob:
    """`gpus` of one replica."""
    return TraceJob(id, at_s * S, run_s * S, more.pop("replicas", 1), round(gpus * 1000), team=team, **more)


def trace(*jobs: TraceJob) -> Trace:
    return Trace(tuple(sorted(jobs, key=lambda one: (one.submit_ms, one.id))), "made")


def root(gpus: int, **more: Any) -> QuotaSpec:
    return QuotaSpec(QuotaId("root"), draws=(("default", Bounds(gpus * 1000)),), **more)


def child(id: str, gpus: int, **more: Any) -> QuotaSpec:
    return QuotaSpec(QuotaId(id), QuotaId("root"), Bounds(gpus * 1000), **more)


def takes(high: str = "5-9", low: str = "1-4") -> SelfLevels:
    def span(text: str) -> Priorities:
        first, _, last = text.partition("-")
        return Priorities(int(first), int(last or first))

    return SelfLevels.of(SelfLevel(span(high), span(low), MODULES))


def nodes(*gpus: int) -> tuple[NodeSpec, ...]:
    return tuple(NodeSpec(f"n{number}", gpus=count) for number, count in enumerate(gpus))


def one_quota(gpus: int = 8, **more: Any) -> Setup:
    """One node, one team with all of it, fifo."""
    policy = more.pop("self_level", SelfLevels())
    strategy = more.pop("strategy", Strategy.FIFO)
    quotas = (root(gpus), child("a", gpus, strategy=strategy, self_level=policy))
    return _setup(nodes(gpus), quotas, more)


def two_teams(each: int = 8, **more: Any) -> Setup:
    """Two nodes, two teams with one node each."""
    quota = {key: more.pop(key) for key in ("self_level", "strategy", "lending") if key in more}
    quotas = (root(2 * each), child("a", each, **quota), child("b", each, **quota))
    return _setup(nodes(each, each), quotas, more)


def _setup(cluster: tuple[NodeSpec, ...], quotas: tuple[QuotaSpec, ...], more: dict[str, Any]) -> Setup:
    usual = Setup(
        "made",
        cluster,
        quotas,
        settings=Settings(starvation_guard_ms=0),
        sample_ms=10 * S,
        private_clusters=False,
    )
    return replace(usual, **more)


def run(setup: Setup, *jobs: TraceJob) -> SimResult:
    return simulate(setup, trace(*jobs))


def outcome(result: SimResult, id: str) -> JobOutcome:
    return next(one for one in result.jobs if one.id == id)
