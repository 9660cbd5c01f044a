"""Who may be taken for whom: only what helps the quota that is short (P3, P15)."""

from __future__ import annotations

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import JobId, Phase
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope
from quotatree.core.model.resources import Bounds
from quotatree.core.model.unit import UnitClass
from quotatree.core.planning.plan import plan
from quotatree.core.search.eligible import Entitled, Signature
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


def test_a_loan_of_gpus_lets_no_cpus_go_below_the_min_p15() -> None:
    """The first of two jobs brings `b` below its min of CPUs. That it is still above its min of GPUs does not let the second go."""
    world = World()
    world.root(8, 8)
    world.quota("a", 2, 4)
    world.quota("b", 1, 4)
    world.run("above", "r", 0, cpus=2, priority=9)
    world.run("kept", "b", 1, priority=9)
    for name in ("one", "two"):
        world.run(name, "b", 1, cpus=3, priority=1)
    world.submit("waits", "a", 0, cpus=4, priority=5)
    assert world.plan() == []


def test_only_work_of_quotas_that_a_right_names_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """P2: a right over what is below says nothing about fifty quotas beside; work of a new kind below is found later."""
    asked: set[str] = set()
    decide = Signature._decide

    def noted(self: Signature, cls: UnitClass) -> Entitled | None:
        if self.clauses:
            asked.add(cls.quota.id)
        return decide(self, cls)

    monkeypatch.setattr(Signature, "_decide", noted)
    world = World(nodes=20)
    world.root(108)
    world.quota("a", 8, child_level=ChildLevel(Priorities(1, 9), frozenset(Module)))
    world.quota("a.below", 8, parent="a")
    for number in range(50):
        world.quota(f"beside-{number}", 2)
        world.run(f"runs-{number}", f"beside-{number}", 1)
    world.run("low", "a.below", 8, priority=1)
    world.submit("first", "a", 8)
    assert world.plan() == [("Evict", "low"), ("Start", "first")]
    world.event(ev.JobCancelled(JobId("first")))
    world.event(ev.JobCancelled(JobId("low")))
    for name in ("low", "first"):
        world.event(ev.JobLeft(JobId(name)))
    world.run("high", "a.below", 8, priority=5)
    world.submit("second", "a", 8)
    assert world.plan() == [("Evict", "high"), ("Start", "second")]
    assert not {name for name in asked if name.startswith("beside")}
