"""A small cluster with jobs that wait, for the tests of estimates: one node of 8 GPUs under one quota."""

from __future__ import annotations

from quotatree.core import JobId, JobSpec, NodeSpec, ReplicaGroup, Shape, State, apply, plan
from quotatree.core import events as ev
from quotatree.core.model.policy import SelfLevels
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.state import Settings

HOUR_MS = 3_600_000


def world(policy: SelfLevels | None = None) -> State:
    """One node of 8 GPUs under one quota."""
    state = State(Settings())
    apply(state, ev.NodeJoined(NodeSpec("n0", "p", gpus=8)), 0)
    spec = QuotaSpec(QuotaId("q"), draws=(("p", Bounds(8000)),), self_level=policy or SelfLevels())
    apply(state, ev.QuotaCreated(spec), 0)
    return state


def submit(state: State, name: str, gpus: int, now_ms: int = 0, **more: object) -> JobId:
    spec = JobSpec(JobId(name), "q", (ReplicaGroup(1, Shape(gpus * 1000, 0, 0)),), now_ms, **more)  # type: ignore[arg-type]
    apply(state, ev.JobSubmitted(spec), now_ms)
    plan(state, now_ms)
    return spec.id
