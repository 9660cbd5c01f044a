"""Running work is protected for `min_runtime` from its confirmed start (P11)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.policy import Scope
from quotatree.core.planning.plan import plan
from tests.core.building import cluster, root, self_level, submit


def test_a_confirmed_start_begins_min_runtime_anew() -> None:
    policy = self_level(5, 4, Scope.OWN)
    state = cluster(1, root(1, self_level=policy, min_runtime_ms=60_000))
    job = submit(state, "old", "r", (1, 1000), priority=1)
    plan(state, 0)
    apply(state, ev.JobStarted(job.id, job.run), 50_000)
    submit(state, "new", "r", (1, 1000), now_ms=70_000, priority=9)
    assert not any(isinstance(d, say.Evict) for d in plan(state, 70_000).decisions)
    assert any(isinstance(d, say.Evict) for d in plan(state, 110_000).decisions)
