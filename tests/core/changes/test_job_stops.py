"""What stops a job that neither ended nor was cancelled: a lost run (R5, A7)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.explanation import explain
from quotatree.core.model.job import Job, Phase
from quotatree.core.model.policy import Module
from quotatree.core.planning.plan import plan
from quotatree.core.quota_figures import module_totals, quota_report
from quotatree.core.reasons import Code
from quotatree.core.snapshots import restore, snapshot
from tests.core.building import World


def test_a_replica_that_is_lost_twice_is_lost_once_a7() -> None:
    world = World()
    world.root(8)
    service = world.run("service", "r", 1, 4, module=Module.EAS, min_replicas=1)
    found = world.event(ev.JobLost(service.id, (3, 3, 9)))
    assert [(d.job, d.replicas) for d in found if isinstance(d, say.Evict)] == [("service", (3,))]
    assert sorted(service.extras) == [1, 2]
    assert not service.leaving
    world.event(ev.JobCancelled(service.id))
    world.event(ev.JobLost(service.id, (0, 0, 1)))
    assert (service.phase, sorted(service.leaving)) == (Phase.CANCELLED, [2])


def test_the_rest_of_a_gang_that_lost_a_replica_counts_until_it_has_left_p9() -> None:
    """One pod of the gang was deleted by its owner, and the other has a long grace: the quota has no room for 8 more meanwhile."""
    world = World(nodes=3)
    world.root(8)
    gang = world.run("gang", "r", 4, 2)
    world.event(ev.JobLost(gang.id, (1,)))
    assert list(gang.leaving) == list(gang.ending) == [0]
    other = world.submit("other", "r", 8, priority=9)
    world.plan()
    meanwhile = other.phase
    world.event(ev.JobLeft(gang.id))
    world.plan()
    assert (meanwhile, other.phase) == (Phase.HELD, Phase.RUNNING)


def lose(world: World, job: Job, after_ms: int = 1000) -> tuple[say.Decision, ...]:
    world.now_ms += after_ms
    return world.event(ev.JobLost(job.id, tuple(job.core_indexes)))


def test_a_job_that_is_lost_at_every_start_pauses_longer_each_time_r5() -> None:
    world = World()
    world.root(8)
    job = world.submit("j", "r", 8)
    pauses = []
    for _ in range(8):
        if not world.plan():
            world.plan(job.retry_ms)
        lose(world, job)
        pauses.append((job.retry_ms - world.now_ms) // 1000 if job.retry_ms else 0)
    assert pauses == [0, 10, 20, 40, 80, 160, 300, 300]


def test_a_job_that_pauses_neither_blocks_nor_takes_and_the_plan_knows_when_to_look_again_r5() -> None:
    world = World()
    world.root(8)
    job = world.submit("j", "r", 8, priority=9)
    for _ in range(2):
        world.plan()
        found = lose(world, job)
    assert [(type(d).__name__, d.job) for d in found] == [("Evict", "j"), ("Wait", "j")]
    other = world.submit("other", "r", 1, priority=1)
    assert plan(world.state, world.now_ms).next_wakeup_ms == job.retry_ms == world.now_ms + 10_000
    assert other.phase is Phase.RUNNING
    (reason,) = explain(world.state, job.id, world.now_ms).reasons
    assert (reason.code, dict(reason.facts)["losses"]) == (Code.LostAtStart, "2")
    assert quota_report(world.state, "r").queued_jobs == 1, "it still wants its GPUs"
    assert module_totals(world.state, {"r"})[Module.DLC].waiting_milli == 8000
    world.event(ev.JobEnded(other.id, Phase.SUCCEEDED))
    assert world.plan(job.retry_ms - 1) == []
    assert world.plan(job.retry_ms) == [("Start", "j")]


def test_a_run_that_never_began_was_lost_at_its_start_however_long_that_took_r5() -> None:
    world = World()
    world.root(8)
    job = world.submit("j", "r", 8)
    for _ in range(2):
        assert world.plan() == [("Start", "j")]
        world.now_ms += 600_000
        world.event(ev.JobLost(job.id, tuple(job.core_indexes), "no node suits it", at_start=True))
    assert (job.losses, job.retry_ms) == (2, world.now_ms + 10_000)
    (reason,) = explain(world.state, job.id, world.now_ms).reasons
    assert "(the last: no node suits it)" in reason.text


def test_a_run_that_lasted_ends_the_count_of_losses_r5() -> None:
    world = World()
    world.root(8)
    job = world.submit("j", "r", 8)
    for after_ms in (1000, 60_000, 1000):
        assert world.plan() == [("Start", "j")]
        lose(world, job, after_ms)
    assert (job.losses, job.retry_ms) == (1, 0)


def test_a_pause_can_be_cancelled_taken_back_and_stored_r5() -> None:
    world = World()
    world.root(8)
    job = world.submit("j", "r", 8)
    world.plan()
    lose(world, job)
    world.plan()
    before = snapshot(world.state)
    world.state.begin()
    lose(world, job)
    world.plan()
    world.plan(job.retry_ms)
    world.state.rollback()
    assert snapshot(world.state) == before
    lose(world, job)
    again = restore(snapshot(world.state))
    retry_ms = job.retry_ms
    assert not plan(again, retry_ms - 1).decisions
    assert [type(d).__name__ for d in plan(again, retry_ms).decisions] == ["Start"]
    world.event(ev.JobPriorityChanged(job.id, 5))
    assert world.plan() == [], "another priority does not end the pause"
    world.event(ev.JobCancelled(job.id))
    assert world.plan(retry_ms) == []
    assert plan(world.state, retry_ms).next_wakeup_ms is None
