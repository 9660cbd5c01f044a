"""When a plan has nothing to decide, and when a blocked queue must be looked at again (S1, S4, S10, A8)."""

from __future__ import annotations

import pytest

from quotatree.core import events as ev
from quotatree.core.model.job import Idle, JobId
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import AmountLimit, QuotaId
from quotatree.core.planning import ready_jobs, strategies
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.plan import at_rest
from tests.core.building import MINUTE, World, bounds

BLOCKS = [(Strategy.FIFO, 5), (Strategy.INTELLIGENT, 8)]


@pytest.fixture(params=BLOCKS, ids=["fifo", "intelligent"])
def blocked(request: pytest.FixtureRequest) -> World:
    """r 16 on two nodes ── q 8, in which `head` (two replicas of 4 GPUs) stops `small`, and o 8, where something just ended."""
    strategy, priority = request.param
    world = World(nodes=2)
    world.root(16)
    world.quota("q", 8, strategy=strategy)
    world.quota("o", 8)
    world.run("busy", "q", 1)
    world.run("other", "o", 1)
    world.run("another", "o", 1)
    world.submit("head", "q", 4, 2, priority=priority)
    world.submit("small", "q", 1)
    assert world.plan(1) == []
    world.event(ev.JobEnded(JobId("other")))
    assert world.plan(2) == []
    return world


def looks(monkeypatch: pytest.MonkeyPatch) -> list[QuotaId]:
    """The quotas whose queues are looked through from now on."""
    found: list[QuotaId] = []
    really = strategies.tryable

    def tryable(state, quota, *rest):
        found.append(quota.id)
        return really(state, quota, *rest)

    monkeypatch.setattr(ready_jobs, "tryable", tryable)
    return found


def test_a_release_elsewhere_does_not_let_a_blocked_queue_be_looked_through_a4(
    blocked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = looks(monkeypatch)
    blocked.event(ev.JobEnded(JobId("another")))
    assert blocked.plan(3) == []
    assert found == []
    blocked.event(ev.JobEnded(JobId("busy")))
    assert blocked.plan(4) == [("Start", "head")]
    assert "q" in found


def test_a_head_that_became_larger_than_its_quota_blocks_nobody_any_more_s11(blocked: World) -> None:
    blocked.event(ev.QuotaScaled("q", bounds(7)))
    assert blocked.plan(3) == [("Start", "small")]


def test_a_head_that_the_ready_nodes_cannot_hold_blocks_nobody_any_more_r5(blocked: World) -> None:
    blocked.event(ev.JobEnded(JobId("another")))
    empty = next(n for n in blocked.state.nodes if not n.units)
    blocked.event(ev.NodeChanged(empty.spec.name, NodeState.CORDONED))
    for device in range(2, 8):
        crowded = next(n for n in blocked.state.nodes if n.units)
        blocked.event(ev.DeviceChanged(crowded.spec.name, device, False))
    assert blocked.plan(3) == [("Start", "small")]


def test_a_head_that_comes_to_stand_over_an_amount_limit_blocks_nobody_any_more_w4() -> None:
    world = World(nodes=2)
    world.root(16)
    for name in ("q", "o"):
        world.quota(name, 8, strategy=Strategy.FIFO)
    limit = AmountLimit("q", "user:ann", 1, 9, 8000)
    world.event(ev.LimitsSet("q", (limit,)))
    world.run("busy", "q", 1)
    world.run("other", "o", 1)
    world.submit("head", "q", 8, priority=9, subjects=("user:ann",))
    world.submit("small", "q", 1)
    assert world.plan(1) == []
    world.event(ev.JobEnded(JobId("other")))
    assert world.plan(2) == []
    world.run("hers", "q", 1, subjects=("user:ann",))
    assert world.plan(3) == [("Start", "small")]


def test_nothing_is_decided_while_those_who_may_borrow_find_no_idle_capacity_i1() -> None:
    world = World(gpus=4)
    world.root(4)
    world.quota("q", 2)
    world.quota("o", 2)
    world.run("busy", "q", 2)
    world.run("other", "o", 2)
    world.submit("waits", "q", 2, idle=Idle.ALLOW)
    assert world.plan(1) == []
    assert at_rest(world.state, Ordering(world.state, 2, world.state.roots[0].tree.together), 2)
    world.event(ev.JobEnded(JobId("other")))
    assert not at_rest(world.state, Ordering(world.state, 2, world.state.roots[0].tree.together), 2)
    assert world.plan(2) == [("Start", "waits")]


def test_a_plan_is_made_when_a_job_has_waited_long_enough_to_be_guarded_s10() -> None:
    world = World(gpus=4)
    world.root(4)
    world.run("busy", "r", 2)
    world.submit("waits", "r", 4)
    world.submit("runs-idle", "r", 2, idle=Idle.ONLY)
    assert world.plan(1) == [("Start", "runs-idle")]
    trees = world.state.roots[0].tree.together
    assert at_rest(world.state, Ordering(world.state, 59 * MINUTE, trees), 59 * MINUTE)
    assert not at_rest(world.state, Ordering(world.state, 60 * MINUTE, trees), 60 * MINUTE)
    assert world.plan(60 * MINUTE) == [("Hold", "waits")]
