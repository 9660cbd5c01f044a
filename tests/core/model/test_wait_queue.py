"""S0: the order of a queue is one order, however it is asked for (S4, S5)."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota, QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.state import State
from tests.core.building import MINUTE, World

AGING_MS = 600_000
NOW_MS = 6 * AGING_MS


def waiting(jobs: int, sizes: int, seed: int) -> tuple[State, Quota]:
    """A quota before anybody is planned, with jobs of all priorities and so many sizes; some came in the same moment."""
    state, chance = State(), random.Random(seed)
    apply(state, ev.NodeJoined(NodeSpec("n")), 0)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("q"), draws=(("default", Bounds()),))), 0)
    for number in range(jobs):
        shape = Shape(0, 1 + chance.randrange(sizes), 0)
        submitted_ms = chance.randrange(12) * AGING_MS // 2
        spec = JobSpec(
            JobId(f"j{number:03}"),
            "q",
            (ReplicaGroup(1, shape),),
            submitted_ms,
            priority=chance.randint(1, 9),
        )
        apply(state, ev.JobSubmitted(spec), NOW_MS)
    return state, state.quotas[QuotaId("q")]


@pytest.mark.parametrize("strategy", [Strategy.INTELLIGENT, Strategy.FIFO])
@pytest.mark.parametrize(("jobs", "sizes"), [(200, 1), (200, 300), (1, 1)])
def test_places_are_those_of_the_whole_order(strategy: Strategy, jobs: int, sizes: int) -> None:
    state, quota = waiting(jobs, sizes, seed=jobs + sizes)

    def by_the_book(job: JobId) -> tuple[int, int, JobId]:
        cls, submitted_ms = quota.queue.of_job[job], state.jobs[job].spec.submitted_ms
        ages = strategy is Strategy.INTELLIGENT
        return -cls.queue_priority(submitted_ms, NOW_MS, AGING_MS, ages), submitted_ms, job

    wanted = sorted(state.jobs, key=by_the_book)
    order = quota.queue.jobs_in_order(NOW_MS, AGING_MS, strategy)
    assert [job for _, job in order] == wanted
    first = quota.queue.jobs_in_order(NOW_MS, AGING_MS, strategy)
    assert [job for _, job in islice(first, 3)] == wanted[:3]
    places = {job: place for place, job in enumerate(wanted, 1)}
    everybody = quota.queue.positions_of(state.jobs.values(), NOW_MS, AGING_MS, strategy)
    assert everybody == places
    for job in state.jobs.values():
        assert quota.queue.positions_of([job], NOW_MS, AGING_MS, strategy) == {job.id: places[job.id]}


def test_a_job_that_comes_back_to_an_empty_queue_has_not_stood_there_s3() -> None:
    world = World(nodes=2)
    world.root(16, strategy=Strategy.BALANCE)
    world.run("half", "r", 4, places=(Placed(0, 1, (0, 1, 2, 3), Shape(4000, 0, 0)),))
    first = world.run("first", "r", 8, places=(Placed(0, 0, tuple(range(8)), Shape(8000, 0, 0)),))
    world.submit("big", "r", 8)
    world.plan(0)
    world.event(ev.JobEnded(first.id))
    world.plan(MINUTE)
    world.now_ms = 20 * MINUTE
    world.event(ev.NodeChanged("n0", NodeState.DRAINING))
    world.event(ev.JobLeft(JobId("big")))
    world.event(ev.NodeChanged("n0", NodeState.READY))
    world.run("late", "r", 6, places=(Placed(0, 0, (0, 1, 2, 3, 4, 5), Shape(6000, 0, 0)),))
    world.submit("small", "r", 1)
    assert world.plan() == []
    assert world.plan(26 * MINUTE) == [("Start", "small")]
