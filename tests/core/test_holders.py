"""Who holds the capacity: running and held jobs, and figures that agree (X1, P9)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.explanation import explain
from quotatree.core.holders import Holder
from quotatree.core.model.job import Claim, Idle, JobId
from quotatree.core.model.policy import Module, Strategy
from tests.core.building import World, self_level

REGULAR, IDLE = Claim.REGULAR, Claim.IDLE


def held_by(world: World, job: str) -> tuple[Holder, ...]:
    return explain(world.state, JobId(job), world.now_ms).holders


def test_a_held_job_is_among_those_who_hold_the_capacity_x1_p9() -> None:
    world = World()
    world.root(8, self_level=self_level(6, 5), strategy=Strategy.TRAVERSE)
    world.run("low", "r", 8)
    world.submit("high", "r", 8, priority=7)
    world.submit("later", "r", 8, priority=2)
    assert world.plan() == [("Evict", "low"), ("Hold", "high")]
    assert held_by(world, "later") == (Holder("r", REGULAR, 1, 1, 8000, 7, 7),)


def test_jobs_and_gpus_of_holders_agree_x1() -> None:
    """Four jobs of two GPUs fill the quota: three run, and one has a hold for what the fourth leaves."""
    world = World()
    world.root(8, self_level=self_level(6, 5), strategy=Strategy.TRAVERSE)
    for number in range(4):
        world.run(f"low-{number}", "r", 2, priority=3)
    world.submit("high", "r", 2, priority=7)
    world.submit("later", "r", 2, priority=2)
    world.plan()
    assert held_by(world, "later") == (Holder("r", REGULAR, 4, 1, 8000, 3, 7),)


def test_a_quota_with_nothing_but_holds_is_named_beside_its_siblings_x1() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(6, 5), strategy=Strategy.TRAVERSE)
    world.quota("b", 8)
    world.run("beside", "b", 8, priority=7)
    world.run("low", "a", 8)
    world.submit("high", "a", 8, priority=9)
    world.submit("later", "a", 8, priority=3)
    world.plan()
    assert held_by(world, "later") == (
        Holder("a", REGULAR, 1, 1, 8000, 9, 9),
        Holder("b", REGULAR, 1, 0, 8000, 7, 7),
    )


def test_a_service_with_a_hold_for_more_replicas_is_one_holder_that_runs_x1() -> None:
    """P12: one replica runs, and two are promised on what `low` leaves."""
    world = World()
    world.root(6, self_level=self_level(6, 5), strategy=Strategy.TRAVERSE)
    world.run("low", "r", 4)
    world.run("service", "r", 2, priority=7, module=Module.EAS)
    world.event(ev.JobResized(JobId("service"), replicas=3))
    assert world.plan() == [("Evict", "low"), ("Hold", "service")]
    world.submit("later", "r", 2, priority=2)
    world.plan()
    (holder,) = held_by(world, "later")
    assert (holder.jobs, holder.held, holder.gpu_milli) == (1, 0, 6000)


def test_idle_work_does_not_hold_regular_capacity_x1() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, strategy=Strategy.TRAVERSE)
    world.run("full", "a", 4, priority=5)
    world.submit("idle", "a", 2, idle=Idle.ONLY)
    world.submit("later", "a", 2, priority=2)
    world.plan()
    assert held_by(world, "later") == (Holder("a", REGULAR, 1, 0, 4000, 5, 5),)


def test_what_an_idle_job_waits_for_is_held_by_regular_work_and_by_other_borrowers_x1_i2() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4)
    world.quota("b", 4)
    world.run("regular", "a", 4, priority=5)
    world.submit("borrows", "b", 2, 2, idle=Idle.ONLY, priority=2)
    world.plan()
    world.submit("waits", "b", 2, idle=Idle.ONLY)
    world.plan()
    assert held_by(world, "waits") == (
        Holder("a", REGULAR, 1, 0, 4000, 5, 5),
        Holder("b", IDLE, 1, 0, 4000, 2, 2),
    )


def test_what_an_idle_limit_keeps_from_a_job_is_held_by_the_quotas_own_borrowers_x1_i2() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, idle_limit_milli=2000)
    world.run("regular", "a", 1)
    world.submit("borrows", "a", 2, idle=Idle.ONLY)
    world.submit("waits", "a", 2, idle=Idle.ONLY)
    world.plan()
    assert held_by(world, "waits") == (Holder("a", IDLE, 1, 0, 2000, 1, 1),)
