"""The planner played forward: who may take, takes, and what was evicted goes on later."""

from __future__ import annotations

from quotatree.core.model.policy import Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.sim.forward import Forward
from tests.sim.waiting import HOUR_MS, submit, world


def test_a_preemptor_starts_when_its_victim_has_left_and_the_victim_when_there_is_room_again():
    """P9: the very planner decides: who may take, takes."""
    policy = SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), frozenset(Module), Scope.OWN))
    state = world(policy)
    low = submit(state, "low", 8, priority=1, grace_ms=10_000)
    high = submit(state, "high", 8, now_ms=HOUR_MS, priority=9)
    assert Forward(state, high, HOUR_MS, lambda job, ran: 2 * HOUR_MS).play().start_ms == HOUR_MS + 10_000
    again = world(policy)
    submit(again, "low", 8, priority=1, grace_ms=10_000)
    submit(again, "high", 8, now_ms=HOUR_MS, priority=9)
    assert Forward(again, low, HOUR_MS, lambda job, ran: 2 * HOUR_MS).play().start_ms == 3 * HOUR_MS + 10_000
