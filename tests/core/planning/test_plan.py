"""What a plan remembers must not outlive its reason, and what it started it does not take again (S8, P10, A3).

Each is the smallest story of something that wide random walks found.
"""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import Idle, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.policy import ChildLevel, Priorities, Scope, Strategy
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds, Resources
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import ALL, child, cluster, root, self_level, submit

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
    assert len(state.jobs[JobId("elastic")].surplus) == 2
    assert plan(state, 1).decisions == ()


def test_what_is_released_in_a_tree_counts_there_whoever_released_it() -> None:
    """A4: who is next is remembered per tree, until something is released in it."""
    state = cluster(2)
    apply(state, ev.DeviceChanged("n0", 1, False), 0)
    submit(state, "runs", "r", (1, 1000))
    waits = submit(state, "waits", "r", (1, 1000), now_ms=1)
    plan(state, 1)
    ordering = Ordering(state, 1)
    assert ordering.best() is None
    state.bump(state.roots[0])
    found = ordering.best()
    assert found is not None
    assert found.job is waits


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


def test_groups_of_several_sizes_together_leave_a_sibling_its_min() -> None:
    """P15: `b` is above its min by two GPUs; the larger group takes them, and the smaller one may not go on."""
    state = cluster(2, root(4), child("a", 3), child("b", 1, self_level=BORROWS), nodes=2)
    submit(state, "other", "r", (1, 1000), priority=9)
    submit(state, "b1", "b", (1, 1000), priority=4)
    plan(state, 0)
    b2 = submit(state, "b2", "b", (1, 2000), now_ms=1, priority=4)
    plan(state, 1)
    assert b2.phase is Phase.RUNNING
    waits = submit(state, "waits", "a", (1, 2000), (1, 1000), now_ms=2, priority=9)
    assert not any(isinstance(d, say.Evict) for d in plan(state, 2).decisions)
    assert waits.phase is Phase.WAITING


def test_a_cover_leaves_out_who_may_not_go_and_is_still_the_cheapest() -> None:
    """P5, Q8: the cheapest, `guarded`, is protected by what its quota has reserved; then two small ones beat a large one."""
    below = ChildLevel(Priorities(1, 9), ALL)
    reserved = Resources(2000)
    state = cluster(16, root(10, child_level=below), child("a", 4), child("b", 6, reserved=reserved), nodes=1)
    submit(state, "guarded", "b", (1, 2000), priority=1)
    submit(state, "other", "r", (1, 5000), priority=9)
    submit(state, "small, old", "a", (1, 500), priority=9)
    plan(state, 0)
    submit(state, "small, new", "a", (1, 500), now_ms=160_000, priority=8)
    submit(state, "large, new", "a", (1, 2000), now_ms=160_000, priority=9)
    plan(state, 160_000)
    submit(state, "top", "r", (1, 1000), now_ms=200_000, priority=9)
    taken = {d.job for d in plan(state, 200_000).decisions if isinstance(d, say.Evict)}
    assert taken == {"small, old", "small, new"}


def test_room_is_counted_again_when_more_of_it_is_asked_for() -> None:
    """S0: a small gang has seen part of the nodes; a larger one of the same shape may still be head."""
    state = cluster(1, root(4), nodes=4)
    for name, replicas in (("two", 2), ("four", 4), ("five", 5)):
        job = JobSpec(JobId(name), "r", (ReplicaGroup(replicas, Shape(1000, 0, 0)),), 0)
        if name == "five":
            with pytest.raises(Refused):
                apply(state, ev.JobSubmitted(job), 0)
            continue
        apply(state, ev.JobSubmitted(job), 0)
        plan(state, 0)
        assert state.jobs[job.id].phase is Phase.RUNNING
        apply(state, ev.JobEnded(job.id), 0)
    apply(state, ev.NodeChanged("n3", NodeState.CORDONED), 1)
    again = submit(state, "four again", "r", (4, 1000), now_ms=1)
    small = submit(state, "small", "r", (3, 1000), now_ms=2)
    plan(state, 2)
    assert (again.phase, small.phase) == (Phase.WAITING, Phase.RUNNING)


def test_who_may_evict_the_guarded_job_since_its_priority_fell_passes_it_at_once() -> None:
    """S10: what is kept for a job of priority 4 is out of reach of one that may take priority 1 only."""
    policy = self_level(5, 1, Scope.OWN)
    state = cluster(2, root(2, self_level=policy, strategy=Strategy.TRAVERSE))
    submit(state, "runs", "r", (1, 1000), priority=9)
    kept_for = submit(state, "kept for", "r", (1, 2000), priority=4)
    plan(state, 3_600_000)
    passes = submit(state, "passes", "r", (1, 1000), now_ms=3_600_001, priority=6)
    plan(state, 3_600_001)
    apply(state, ev.JobPriorityChanged(kept_for.id, 1), 3_600_002)
    plan(state, 3_600_002)
    assert passes.phase is Phase.RUNNING
