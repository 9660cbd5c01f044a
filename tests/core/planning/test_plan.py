"""What a plan remembers must not outlive its reason (S8, P10, A3).

Each is the smallest story of something that wide random walks found.
"""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import explain, preview
from quotatree.core.model.job import Idle, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.policy import ChildLevel, Priorities, Scope, Strategy
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from tests.core.building import ALL, child, cluster, root, self_level, submit

BORROWS = self_level(4, 3, Scope.LEVEL)


def test_who_waits_for_a_lazy_scaling_to_end_may_borrow_when_it_has_ended() -> None:
    """Q5: while the quota shrank only room in it could have helped; afterwards a loan does."""
    policy = self_level(4, 3, Scope.SIBLINGS)
    state = cluster(4, root(4), child("a", 2, self_level=policy), child("b", 2))
    old = submit(state, "old", "a", (1, 2000), priority=5)
    plan(state, 0)
    apply(state, ev.QuotaScaled("a", Bounds(1000), mode=ev.ScaleMode.LAZY), 1)
    late = submit(state, "late", "a", (1, 2000), now_ms=1, priority=5)
    assert not plan(state, 1).decisions[:-1], "only told to wait"
    apply(state, ev.JobEnded(old.id), 2)
    plan(state, 2)
    assert late.phase is Phase.RUNNING


def test_a_loan_gives_a_right_to_who_failed_before_it_was_taken() -> None:
    """P15: `wide` finds no node with two GPUs and nobody to take, until `b` goes above its min beside it."""
    racks = ((("rack", "x"),), (("rack", "y"),))
    state = cluster(2, root(4), child("a", 2), child("b", 2, self_level=BORROWS), nodes=2, labels=racks)
    for name, rack in (("b0", "x"), ("b1", "y")):
        group = ReplicaGroup(1, Shape(1000, 0, 0, (), (("rack", rack),)))
        apply(state, ev.JobSubmitted(JobSpec(JobId(name), "b", (group,), 0, priority=4)), 0)
    plan(state, 0)
    wide = submit(state, "wide", "a", (1, 2000), now_ms=1, priority=5)
    submit(state, "lent", "b", (1, 1000), now_ms=1, priority=6)
    plan(state, 1)
    assert wide.phase is Phase.HELD
    assert plan(restore(snapshot(state)), 1).decisions == ()


def test_two_jobs_of_several_shapes_that_cannot_start_do_not_wake_each_other_for_ever() -> None:
    state = cluster(2, root(4, strategy=Strategy.TRAVERSE), nodes=2)
    submit(state, "idle", "r", (2, 2000), idle=Idle.ONLY)
    plan(state, 0)
    policy = self_level(9, 1, Scope.OWN)
    spec = root(4, strategy=Strategy.TRAVERSE, self_level=policy)
    apply(state, ev.QuotaUpdated(spec), 0)
    for name in ("one", "two"):
        submit(state, name, "r", (1, 1000), (3, 500), priority=9)
    plan(state, 1)
    assert plan(state, 1).decisions == ()


@pytest.mark.parametrize("asked", ["nothing", "explain", "preview", "restore"])
def test_no_question_and_no_restart_changes_who_starts_a8(asked: str) -> None:
    below = ChildLevel(Priorities(4, 4), ALL)
    state = cluster(4, root(4, child_level=below, strategy=Strategy.TRAVERSE), child("c", 1), child("d", 2))
    submit(state, "y", "c", (1, 1000))
    submit(state, "z", "r", (1, 2000), priority=9)
    plan(state, 0)
    submit(state, "x", "c", (1, 1000), now_ms=1, priority=4, idle=Idle.ALLOW)
    plan(state, 1)
    submit(state, "t", "r", (1, 2000), now_ms=2, priority=1)
    submit(state, "u", "d", (1, 2000), now_ms=2, priority=2)
    apply(state, ev.JobEnded(JobId("z")), 2)
    if asked == "explain":
        explain(state, JobId("t"), 2)
    elif asked == "preview":
        preview(state, [ev.JobCancelled(JobId("y"))], 2)
    elif asked == "restore":
        state = restore(snapshot(state))
    assert [d.job for d in plan(state, 2).decisions if isinstance(d, say.Start)] == ["u"]
