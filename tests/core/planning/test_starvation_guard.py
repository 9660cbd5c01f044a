"""The longest-waiting head gets what becomes free, on nodes that can still hold it (S10)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Phase
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.policy import Scope, Strategy
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.plan import plan
from tests.core.building import MINUTE, World, cluster, root, self_level, submit


def test_a_guarded_job_is_tried_even_behind_a_later_head_s10() -> None:
    world = World()
    world.root(8, strategy=Strategy.FIFO)
    running = world.run("running", "r", 8)
    world.submit("gang", "r", 8)
    world.plan(0)
    assert world.plan(61 * MINUTE) == [("Hold", "gang")]
    world.submit("head", "r", 1, priority=9)
    world.plan()
    world.event(ev.JobEnded(running.id))
    assert world.plan() == [("Start", "gang")]


def test_a_guard_keeps_other_nodes_when_one_is_cordoned_s10() -> None:
    world = World(nodes=3)
    world.root(24, strategy=Strategy.TRAVERSE)
    for number in range(24):
        world.run(f"small-{number}", "r", 1)
    world.submit("big", "r", 8)
    world.plan(0)
    world.plan(61 * MINUTE)
    assert world.state.trees[0].guard_nodes == {0}
    world.event(ev.NodeChanged("n0", NodeState.CORDONED))
    world.plan()
    assert world.state.trees[0].guard_nodes == {1}


def test_a_head_whose_nodes_are_lost_blocks_nobody_and_gets_no_guard() -> None:
    world = World()
    world.event(ev.NodeJoined(NodeSpec("small", gpus=4)))
    world.root(12, strategy=Strategy.FIFO)
    world.submit("big", "r", 8)
    world.event(ev.NodeChanged("n0", NodeState.LOST))
    world.submit("one", "r", 1)
    assert world.plan(1) == [("Start", "one")]
    assert world.plan(61 * MINUTE) == []
    world.event(ev.NodeChanged("n0", NodeState.READY))
    assert world.plan() == [("Start", "big")]


def test_what_a_guard_keeps_is_released_when_the_job_cannot_start_any_more_s10() -> None:
    world = World()
    world.event(ev.NodeJoined(NodeSpec("small", gpus=4)))
    world.root(12, strategy=Strategy.FIFO)
    world.run("running", "r", 8)
    world.submit("big", "r", 8)
    world.plan(0)
    assert world.plan(61 * MINUTE) == [("Hold", "big")]
    world.event(ev.NodeChanged("n0", NodeState.LOST))
    world.submit("one", "r", 1)
    assert world.plan() == [("Release", "big"), ("Start", "one")]


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


def test_a_guarded_job_keeps_its_place_in_the_queue_s6() -> None:
    """Behind jobs of lower priority, its turn among quotas would depend on whether these are known to fail (A8)."""
    world = World()
    world.root(8, strategy=Strategy.TRAVERSE)
    running = world.run("running", "r", 8)
    world.submit("guarded", "r", 8, priority=5)
    world.plan(0)
    assert world.plan(61 * MINUTE) == [("Hold", "guarded")]
    world.event(ev.JobEnded(running.id))
    world.submit("lower", "r", 1, priority=1)
    world.submit("higher", "r", 1, priority=6)
    state = world.state
    ready = Ordering(state, world.now_ms, tuple(state.trees)).ready(state.roots[0])
    assert [job.id for _, job in ready] == ["higher", "guarded", "lower"]
