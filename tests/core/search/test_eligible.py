"""Who may be taken for whom: only what helps the quota that is short (P3, P15)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Phase
from quotatree.core.model.policy import Scope
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from tests.core.building import World, child, cluster, root, self_level, submit


def test_a_siblings_victim_frees_nothing_in_a_quota_that_may_not_borrow() -> None:
    policy = self_level(5, 4, Scope.SIBLINGS)
    state = cluster(4, root(4), child("a", 2, self_level=policy), child("b", 2))
    submit(state, "kept", "a", (1, 2000), priority=9)
    other = submit(state, "other", "b", (2, 1000), priority=1)
    plan(state, 0)
    apply(state, ev.QuotaScaled("a", Bounds(1000), mode=ev.ScaleMode.LAZY), 1)
    late = submit(state, "late", "a", (1, 1000), now_ms=1, priority=8)
    plan(state, 2)
    assert (other.phase, late.phase) == (Phase.RUNNING, Phase.WAITING)


def test_a_loan_of_cpu_returns_no_gpu_p15() -> None:
    world = World(nodes=2)
    world.root(16, 32)
    world.quota("a", 8, 8, self_level=self_level(5, 1))
    world.quota("b", 8, 24)
    world.run("trains", "a", 8, cpus=8, priority=1)
    world.run("above", "r", 8, priority=9)
    world.submit("prepares", "a", 0, cpus=2, priority=5)
    assert world.plan() == [("Start", "prepares")]
    world.submit("waits", "b", 2, priority=5)
    assert world.plan() == []
