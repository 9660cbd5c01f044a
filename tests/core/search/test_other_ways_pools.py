"""A root that draws on several pools keeps to its part of those it shares; who stands there gives way like anybody (Q1, I3)."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, JobId, JobSpec, Phase, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Module, Scope
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import bounds, self_level, submit


def two_pools(**fields: object) -> State:
    """`r` may take 2 GPUs of pool a and 2 of pool b; of the latter `s` has the other two."""
    state = State()
    for name, pool, gpus in (("a0", "a", 2), ("b0", "b", 2), ("b1", "b", 2)):
        apply(state, ev.NodeJoined(NodeSpec(name, pool, gpus=gpus)), 0)
    draws = (("a", Bounds(2000)), ("b", Bounds(2000)))
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=draws, **fields)), 0)  # type: ignore[arg-type]
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("s"), draws=(("b", Bounds(2000)),))), 0)
    return state


def run(
    state: State, name: str, node: int, devices: tuple[int, ...], priority: int = 5, **fields: object
) -> None:
    shape = Shape(1000 * len(devices), 0, 0)
    idle = fields.get("idle") is Idle.ONLY
    spec = JobSpec(JobId(name), "r", (ReplicaGroup(1, shape),), 0, Module.DLC, priority, **fields)  # type: ignore[arg-type]
    apply(state, ev.JobAdopted(spec, 0, places=(Placed(0, node, devices, shape),), idle=idle), 0)


def test_idle_work_on_the_own_part_of_a_pool_gives_way_though_other_devices_there_are_free() -> None:
    """I3: `b1` is empty, but what `r` may take of pool b its own idle job has."""
    state = two_pools()
    run(state, "regular", 0, (0, 1))
    run(state, "idle", 1, (0, 1), idle=Idle.ONLY)
    waits = submit(state, "waits", "r", (1, 2000), now_ms=1)
    made = plan(state, 1)
    assert [d.job for d in made.decisions if isinstance(d, say.Evict)] == ["idle"]
    assert (waits.phase, made.decisions[-1].job) == (Phase.RUNNING, "waits")


def test_nobody_goes_whom_the_part_that_others_leave_makes_superfluous() -> None:
    """P8: for a place on `a0` both must go; but once `spans` has left its part of pool b there is a place there."""
    policy = self_level(6, 5, Scope.OWN)
    state = two_pools(self_level=policy)
    run(state, "small", 0, (0,), priority=1)
    one = Shape(1000, 0, 0)
    spec = JobSpec(JobId("spans"), "r", (ReplicaGroup(2, one),), 0, priority=1)
    apply(state, ev.JobAdopted(spec, 0, places=(Placed(0, 0, (1,), one), Placed(1, 1, (0,), one))), 0)
    waits = submit(state, "waits", "r", (1, 2000), now_ms=1, priority=9)
    made = plan(state, 1)
    assert [d.job for d in made.decisions if isinstance(d, say.Evict)] == ["spans"]
    assert waits.phase is Phase.RUNNING


@pytest.mark.parametrize("free", [True, False])
def test_the_part_of_a_pool_is_never_exceeded(free: bool) -> None:
    """Q1: free devices of pool b beyond the part of `r` are no place for it, with or without anybody to take."""
    state = two_pools()
    run(state, "regular", 0, (0, 1))
    run(state, "part", 1, (0,) if free else (0, 1))
    waits = submit(state, "waits", "r", (1, 2000), now_ms=1, priority=9)
    plan(state, 1)
    assert waits.phase is Phase.WAITING


def test_a_tree_of_two_pools_takes_idle_borrowers_where_it_may_stand_q1() -> None:
    state = State()
    for pool, gpus in (("a", 4), ("b", 8)):
        apply(state, ev.NodeJoined(NodeSpec(pool, pool=pool, gpus=gpus)), 0)
    for name in ("one", "two"):
        draws = (("a", bounds(2)), ("b", bounds(4)))
        apply(state, ev.QuotaCreated(QuotaSpec(QuotaId(name), draws=draws)), 0)

    def stand(name: str, quota: str, node: int, devices: tuple[int, ...], idle: bool) -> None:
        shape = Shape(len(devices) * 1000, 0, 0)
        spec = JobSpec(JobId(name), quota, (ReplicaGroup(1, shape),), 0)
        places = (Placed(0, node, devices, shape),)
        apply(state, ev.JobAdopted(spec, 0, places=places, idle=idle), 0)

    stand("own", "one", 0, (0, 1), idle=False)
    stand("cheap", "two", 0, (2, 3), idle=True)
    stand("dear", "two", 1, (0, 1, 2, 3), idle=True)
    stand("regular", "two", 1, (4, 5, 6, 7), idle=False)
    waiting = JobSpec(JobId("waiting"), "one", (ReplicaGroup(1, Shape(2000, 0, 0)),), 0)
    apply(state, ev.JobSubmitted(waiting), 0)
    made = plan(state, 0).decisions
    assert [d.job for d in made if isinstance(d, say.Evict | say.Hold)] == ["dear", "waiting"]
