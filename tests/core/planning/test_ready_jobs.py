"""What is known of the jobs that may be tried, kept up to date as they start, is what a fresh look finds (S2, S4, W4, A4)."""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Job, JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import AmountLimit
from quotatree.core.planning import ready_jobs, strategies
from quotatree.core.planning.ordering import Ordering, ReadyQuotas
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import World, cluster, root, self_level
from tests.core.planning.crowds import crowded

HOUR = 3_600_000


@pytest.mark.parametrize("seed", range(30))
def test_a_queue_that_one_job_has_left_is_known_as_by_a_fresh_look(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    updated = Ordering.left
    compared = 0

    def left(ordering: Ordering, job: Job) -> None:
        nonlocal compared
        updated(ordering, job)
        state = ordering._state
        fresh = Ordering(state, ordering._now_ms, ordering.trees)
        for quota in state.waiting_quotas.values():
            known = [entry for entry in ordering.ready(quota) if not ordering.fails(entry[0])]
            assert known == fresh.ready(quota)
            assert set(ordering.ready_priorities(quota)) == {cls.priority for cls, _ in ordering.ready(quota)}
            compared += bool(known)

    monkeypatch.setattr(Ordering, "left", left)
    chance = Random(seed)
    strategy = chance.choice([Strategy.TRAVERSE, Strategy.INTELLIGENT, Strategy.FIFO])
    state = cluster(8, root(16, strategy=strategy), nodes=2)
    if chance.random() < 0.3:
        apply(state, ev.LimitsSet("r", (AmountLimit("r", "user:ann", 1, 9, 3000),)), 0)
    for number in range(20):
        shape = Shape(chance.choice([1000, 1000, 2000]), chance.choice([0, 1]), 0)
        name, submitted = JobId(f"j{number:02}"), chance.randrange(HOUR)
        who = ("user:ann",) if chance.random() < 0.5 else ()
        priority = chance.randrange(1, 7 if seed % 2 else 9)
        spec = JobSpec(name, "r", (ReplicaGroup(1, shape),), submitted, priority=priority, subjects=who)
        apply(state, ev.JobSubmitted(spec), submitted)
    plan(state, HOUR)
    plan(crowded(seed), HOUR)
    assert compared


def test_a_start_does_not_make_everybody_who_waits_be_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A4: two hundred jobs that each ask for something else start one after the other; the queue is looked through only once."""
    looks = 0
    look = strategies.tryable

    def counted(*args: object) -> object:
        nonlocal looks
        looks += 1
        return look(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(ready_jobs, "tryable", counted)
    state = many_shapes(200)
    assert len(plan(state, 0).decisions) == 200
    assert looks <= 2


def many_shapes(count: int) -> State:
    world = World(nodes=count // 8)
    world.root(count, self_level=self_level(6, 5))
    for number in range(count):
        spec = JobSpec(JobId(f"j{number:03}"), "r", (ReplicaGroup(1, Shape(1000, number, 0)),), 0, priority=5)
        world.event(ev.JobSubmitted(spec))
    return world.state


def test_quotas_are_found_by_the_highest_priority_that_may_be_tried_there() -> None:
    world = World()
    world.root(8)
    for name in ("a", "b"):
        world.quota(name, 2)
    top = world.state.roots[0]
    a, b = top.children
    known = ReadyQuotas()
    known.put(a, [3, 5])
    known.put(b, [4])
    assert known.above(top, 3) == [b, a]
    assert known.above(top, 4) == [a]
    known.put(a, [3])
    assert known.above(top, 3) == [b]
    known.put(b, [])
    assert known.above(top, 1) == [a]
