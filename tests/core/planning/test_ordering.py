"""Who is tried next: who passes a blocked head, and what is remembered of the order (S3, S6, A4)."""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, JobId
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import AmountLimit
from quotatree.core.planning.contest import Candidate, Contest
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.plan import plan
from tests.core.building import World, bounds, cluster, root, submit


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


def test_an_idle_job_without_gpus_does_not_wait_for_idle_gpus_i2() -> None:
    """The tree's idle work and regular work together are above its min, which says nothing about CPU."""
    world = World(gpus=4)
    world.root(2)
    world.submit("idle", "r", 1, idle=Idle.ONLY)
    world.plan()
    world.submit("regular", "r", 2)
    world.plan()
    world.submit("cpu", "r", 0, cpus=1, idle=Idle.ONLY)
    assert world.plan() == [("Start", "cpu")]


def test_an_idle_limit_of_gpus_does_not_bind_who_asks_for_none_i2() -> None:
    world = World(gpus=4)
    world.root(4, idle_limit_milli=2000)
    world.submit("idle", "r", 2, idle=Idle.ONLY)
    world.plan()
    world.event(ev.QuotaUpdated(root(4, idle_limit_milli=1000)))
    world.submit("cpu", "r", 0, cpus=1, idle=Idle.ONLY)
    assert world.plan() == [("Start", "cpu")]


def test_an_amount_limit_counts_once_what_runs_idle_and_is_to_be_promoted_w3() -> None:
    """Ann may use 2 GPUs, and her job has them; promoted it has no more."""
    world = World()
    world.root(8)
    world.quota("q", 2)
    world.event(ev.LimitsSet("q", (AmountLimit("q", "user:ann", 1, 9, 2000),)))
    world.submit("first", "q", 2)
    world.plan()
    world.submit("idle", "q", 2, idle=Idle.ALLOW, subjects=("user:ann",))
    assert world.plan(1) == [("Start", "idle")]
    world.event(ev.JobEnded(JobId("first")))
    assert world.plan(2) == [("Promote", "idle")]


@pytest.mark.parametrize("seed", range(20))
def test_siblings_are_ordered_as_by_a_contest_s6(seed: int) -> None:
    random = Random(seed)
    world = World(nodes=2)
    world.root(16)
    candidates: list[Candidate] = []
    for number in range(5):
        world.quota(f"t{number}", 3, weight=random.choice([None, bounds(0), bounds(6)]))
        world.run(f"runs-{number}", f"t{number}", random.randrange(1, 4))
        world.now_ms = random.randrange(3)
        job = world.submit(
            f"waits-{random.randrange(100)}-{number}", f"t{number}", 1, priority=random.choice([7, 8])
        )
        candidates.append(Candidate(job.quota, job.quota.queue.of_job[job.id], job))
    ordering = Ordering(world.state, world.now_ms, candidates[0].quota.tree.together)
    contest = Contest()
    for candidate in candidates:
        contest.put(candidate.quota, (candidate.job.priority, candidate))
    assert ordering.first_of(candidates) == contest.winner()


def test_somebody_is_ready_until_all_have_failed() -> None:
    world = World()
    world.root(8)
    world.run("runs", "r", 8)
    waits = world.submit("waits", "r", 1)
    cls = waits.quota.queue.of_job[waits.id]
    ordering = Ordering(world.state, world.now_ms, waits.quota.tree.together)
    assert ordering.anybody_ready()
    world.plan()
    ordering = Ordering(world.state, world.now_ms, waits.quota.tree.together)
    assert not ordering.anybody_ready()
    assert not ordering.anybody_ready()
    world.state.remember(cls, None)
    ordering.touch(waits.quota)
    assert ordering.anybody_ready(), "its queue has changed"
    ordering.drop(cls)
    assert not ordering.anybody_ready()
    world.event(ev.JobEnded(JobId("runs")))
    assert ordering.anybody_ready(), "there is room"


def test_an_empty_queue_forgets_who_stood_where_in_the_next_plan_whatever_else_it_looks_at_s3() -> None:
    world = World(gpus=2)
    world.root(2)
    world.quota("q", 1, strategy=Strategy.BALANCE)
    world.run("busy", "q", 1)
    waits = world.submit("waits", "q", 1)
    world.plan(1)
    assert [job for job, _ in waits.quota.queue.stood] == ["waits"]
    world.event(ev.JobCancelled(JobId("waits")))
    world.plan(2)
    assert not waits.quota.queue.stood
