"""What a plan remembers must not outlive its reason, and what it started it does not take again (S8, P10, A3).

Each is the smallest story of something that wide random walks found.
"""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import explain, preview
from quotatree.core.model.job import Idle, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, Strategy
from quotatree.core.model.quota import AmountLimit, QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import Settings, State
from tests.core.building import ALL, World, child, cluster, root, self_level, submit

BORROWS = self_level(4, 3, Scope.LEVEL)


def started_and_taken(made: say.Plan) -> set[JobId]:
    starts = {d.job for d in made.decisions if isinstance(d, say.Start | say.Hold)}
    return starts & {d.job for d in made.decisions if isinstance(d, say.Evict)}


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


def test_the_first_surplus_replica_is_no_news_for_the_next_plan() -> None:
    """P10, P12: the surplus may give way to `thirsty`; whether that helps is found out in the same plan."""
    state = State()
    apply(state, ev.NodeJoined(NodeSpec("n0", gpus=4, cpu_milli=8000)), 0)
    draws = (("default", Bounds(4000, 2000)),)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=draws, strategy=Strategy.TRAVERSE)), 0)
    for name, gpu_milli, cpu_milli in (("busy", 0, 1000), ("short", 1000, 0), ("thirsty", 2000, 2000)):
        group = ReplicaGroup(1, Shape(gpu_milli, cpu_milli, 0))
        apply(state, ev.JobSubmitted(JobSpec(JobId(name), "r", (group,), 0, priority=5)), 0)
    plan(state, 0)
    apply(state, ev.JobEnded(JobId("short")), 1)
    submit(state, "elastic", "r", (3, 1000), now_ms=1, min_replicas=1)
    plan(state, 1)
    assert len(state.jobs[JobId("elastic")].extras) == 2
    assert plan(state, 1).decisions == ()


def test_nothing_is_started_only_to_be_taken_when_a_victim_was_larger_than_needed() -> None:
    """S8: `top` may not take `big`. `mid` may, and what that leaves over would let `top` take `mid`: so it waits."""
    below = ChildLevel(Priorities(6, 8), ALL)
    own = self_level(4, 3, Scope.OWN)
    state = cluster(8, root(4, child_level=below), child("a", 4, self_level=own, strategy=Strategy.TRAVERSE))
    big = submit(state, "big", "a", (1, 2000), priority=2)
    submit(state, "other", "r", (1, 1000), priority=5)
    plan(state, 0)
    submit(state, "top", "r", (1, 2000), now_ms=1, priority=8)
    small = submit(state, "small", "a", (1, 1000), now_ms=1, priority=8)
    mid = submit(state, "mid", "a", (1, 1000), now_ms=1, priority=7)
    made = plan(state, 1)
    assert started_and_taken(made) == set()
    assert (small.phase, mid.phase, big.phase) == (Phase.RUNNING, Phase.WAITING, Phase.RUNNING)
    assert plan(state, 1).decisions == ()


def test_a_hold_is_not_finished_only_to_be_taken_when_somebody_loses_his_idle_room() -> None:
    """S8: `hopeful` could run idle, until `elsewhere` starts on that device; then it takes from its own quota (P4)."""
    own = self_level(6, 5, Scope.OWN)
    state = cluster(4, root(4), child("a", 1, self_level=own), child("b", 3))
    for name, quota in (("a0", "a"), ("b0", "b"), ("b1", "b"), ("b2", "b")):
        submit(state, name, quota, (1, 1000), priority=9)
    plan(state, 0)
    for name in ("a0", "b0"):
        apply(state, ev.JobCancelled(JobId(name)), 1)
    held = submit(state, "held", "a", (1, 1000), now_ms=1, priority=4)
    elsewhere = submit(state, "elsewhere", "b", (1, 1000), now_ms=1, priority=3)
    plan(state, 1)
    assert held.hold is not None
    assert elsewhere.hold is not None
    (leaver,) = held.hold.waiting_on
    apply(state, ev.JobLeft(leaver), 2)
    apply(state, ev.JobEnded(JobId("b2")), 2)
    hopeful = submit(state, "hopeful", "a", (1, 1000), now_ms=2, priority=6, idle=Idle.ALLOW)
    made = plan(state, 2)
    assert started_and_taken(made) == set()
    assert (hopeful.phase, held.phase, elsewhere.phase) == (Phase.RUNNING, Phase.WAITING, Phase.RUNNING)


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


def test_surplus_stays_within_the_amount_limits_w3() -> None:
    world = World()
    world.root(8)
    world.event(ev.LimitsSet("r", (AmountLimit("r", "user:ann", 1, 9, 4000),)))
    job = world.submit("service", "r", 1, 8, module=Module.EAS, subjects=("user:ann",))
    world.plan()
    assert len(job.core_indexes) + len(job.extras) == 4


def test_a_guarded_job_is_not_started_idle_only_to_be_taken_when_its_guard_ends_s8() -> None:
    state = State(Settings(starvation_guard_ms=600_000))
    for name in ("n0", "n1"):
        apply(state, ev.NodeJoined(NodeSpec(name, gpus=2)), 0)
    for spec in (root(4), child("a", 2)):
        apply(state, ev.QuotaCreated(spec), 0)
    submit(state, "top", "r", (1, 2000))
    submit(state, "below", "a", (1, 2000))
    plan(state, 0)
    guarded = submit(state, "guarded", "a", (1, 2000), now_ms=1, idle=Idle.ALLOW)
    plan(state, 1)
    plan(state, 700_000)
    assert state.roots[0].tree.guard == guarded.id
    submit(state, "other", "r", (1, 2000), now_ms=700_001)
    plan(state, 700_001)
    apply(state, ev.JobEnded(JobId("top")), 700_002)
    made = plan(state, 700_002)
    assert started_and_taken(made) == set()
    assert guarded.phase is Phase.WAITING
    assert plan(state, 700_002).decisions == ()


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
