"""Who may be tried inside one quota: who passes a blocked head (S1-S4)."""

from __future__ import annotations

import pytest

from quotatree.core import events as ev
from quotatree.core.model.job import Idle, JobId, Phase
from quotatree.core.model.policy import Strategy
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import World, bounds, cluster, root, submit


@pytest.mark.parametrize(
    ("strategy", "started"),
    [
        (Strategy.FIFO, set()),
        (Strategy.TRAVERSE, {"b", "c"}),
        (Strategy.INTELLIGENT, {"b", "c"}),
        (Strategy.BALANCE, set()),
    ],
)
def test_who_passes_a_blocked_head(strategy: Strategy, started: set[str]) -> None:
    state = queue_behind_a_blocked_head(strategy)
    plan(state, 1000)
    assert running(state) == {"busy"} | started


def test_balance_lets_two_and_then_three_be_tried() -> None:
    state = queue_behind_a_blocked_head(Strategy.BALANCE, second_gpus=3)
    plan(state, 1000)
    submit(state, "newer", "r", (1, 3000), now_ms=200_000, priority=5)
    plan(state, 200_000)
    plan(state, 301_000)
    assert running(state) == {"busy"}, "the head has stood for five minutes, the second has not"
    plan(state, 500_000)
    assert running(state) == {"busy", "c"}


def queue_behind_a_blocked_head(strategy: Strategy, second_gpus: int = 1) -> State:
    state = cluster(4, root(4, strategy=strategy))
    submit(state, "busy", "r", (1, 2000), priority=6)
    plan(state, 0)
    submit(state, "a", "r", (1, 4000), now_ms=1, priority=5)
    submit(state, "b", "r", (1, second_gpus * 1000), now_ms=2, priority=4)
    submit(state, "c", "r", (1, 1000), now_ms=3, priority=3)
    return state


def running(state: State) -> set[str]:
    return {job.id for job in state.jobs.values() if job.phase is Phase.RUNNING}


@pytest.mark.parametrize("strategy", [Strategy.FIFO, Strategy.BALANCE])
def test_who_runs_idle_and_is_too_large_to_be_promoted_blocks_nobody_s1(strategy: Strategy) -> None:
    """I1: promotion takes all that runs; `large` has more than the min of its quota, so it is never head."""
    world = World()
    world.root(8)
    world.quota("q", 2, strategy=strategy)
    world.submit("first", "q", 2)
    world.plan()
    world.submit("large", "q", 2, idle=Idle.ALLOW)
    assert world.plan(1) == [("Start", "large")]
    world.event(ev.JobEnded(JobId("first")))
    world.event(ev.QuotaScaled("q", bounds(1)))
    world.submit("small", "q", 1)
    assert world.plan(2) == [("Start", "small")]
    world.event(ev.QuotaScaled("q", bounds(3)))
    assert world.plan(3) == [("Promote", "large")]


def test_intelligent_orders_all_classes_as_their_priorities_and_ages_say_s4() -> None:
    """Urgent ones first, in no case overtaken by who has waited long; the others by what ageing made of them."""
    world = World(gpus=1)
    world.root(1)
    world.run("busy", "r", 1, priority=9)
    for name, priority, submitted_ms in (
        ("old", 2, 0),
        ("fresh", 6, 50),
        ("late", 7, 50),
        ("top", 9, 50),
        ("early", 7, 9),
    ):
        world.now_ms = submitted_ms * 60_000
        world.submit(name, "r", 1, priority=priority)
    queue = world.state.roots[0].queue
    order = queue.in_order(50 * 60_000, 600_000, Strategy.INTELLIGENT)
    assert [cls.members[0][1] for cls in order] == ["top", "early", "old", "fresh"]
