"""Who is tried next: who passes a blocked head, and what is remembered of the order (S3, S6, A4)."""

from __future__ import annotations

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Phase
from quotatree.core.model.policy import Strategy
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import cluster, root, submit


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


def test_what_is_released_in_a_tree_counts_there_whoever_released_it() -> None:
    """A4: who is next is remembered per tree, until something is released in it."""
    state = cluster(2)
    apply(state, ev.DeviceChanged("n0", 1, False), 0)
    submit(state, "runs", "r", (1, 1000))
    waits = submit(state, "waits", "r", (1, 1000), now_ms=1)
    plan(state, 1)
    ordering = Ordering(state, 1, state.roots[0].tree.together)
    assert ordering.best() is None
    state.bump(state.roots[0])
    found = ordering.best()
    assert found is not None
    assert found.job is waits
