"""How many of the replicas that a job asks for it gets: as many as can be had, in one decision (P12)."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.explanation import explain
from quotatree.core.model.job import Claim, Idle
from quotatree.core.model.policy import Module, Scope, Strategy
from quotatree.core.planning.attempt import Attempt
from quotatree.core.planning.outcome import Outcome
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from tests.core.building import MINUTE, World, bounds, self_level


def test_a_start_takes_the_core_and_as_many_more_as_fit_p12() -> None:
    world = World()
    world.root(8)
    world.run("other", "r", 1, 3)
    job = world.submit("service", "r", 1, 8, module=Module.EAS, min_replicas=2)
    assert world.plan() == [("Start", "service")]
    assert (len(job.core_indexes), job.running_replicas) == (2, 5)


def test_without_room_for_its_core_it_starts_nothing_p7() -> None:
    world = World()
    world.root(8)
    world.run("other", "r", 1, 3)
    job = world.submit("service", "r", 1, 8, module=Module.EAS, min_replicas=6)
    assert world.plan() == []
    assert job.core is None


def test_missing_replicas_take_victims_together_and_no_more_than_needed_p8() -> None:
    world = World()
    world.root(8, self_level=self_level(9, 1, Scope.OWN))
    for number in range(4):
        world.run(f"low{number}", "r", 1)
    world.run("equal", "r", 1, 3, priority=9)
    job = world.submit("service", "r", 1, 4, module=Module.EAS, priority=9, min_replicas=1)
    made = plan(world.state, 0)
    evicted = [d.job for d in made.decisions if isinstance(d, say.Evict)]
    assert len(evicted) == 3, "one device is free, so three jobs go for four replicas"
    holds = [d for d in made.decisions if isinstance(d, say.Hold)]
    assert [len(d.replicas) for d in holds] == [4], "one decision, not one for each replica"
    assert job.hold is not None


def test_two_neighbours_do_not_stop_each_others_work_once_for_every_replica_p12() -> None:
    world = World()
    world.root(8)
    for name in ("a", "b"):
        world.quota(name, 4, self_level=self_level(9, 1, Scope.LEVEL))
        for number in range(4):
            world.run(f"{name}{number}", name, 1)
    for name in ("a", "b"):
        world.submit(f"service-{name}", name, 1, 4, module=Module.EAS, priority=9, min_replicas=1)
    made = plan(world.state, 0)
    evicted = [d.job for d in made.decisions if isinstance(d, say.Evict)]
    assert len(evicted) == len(set(evicted)) == 8
    assert sum(isinstance(d, say.Hold) for d in made.decisions) == 2


def test_who_misses_replicas_blocks_nobody_p12() -> None:
    world = World()
    world.root(8, strategy=Strategy.FIFO)
    world.run("other", "r", 1, 5)
    world.submit("service", "r", 2, 3, module=Module.EAS, priority=9, min_replicas=1)
    world.submit("behind", "r", 1)
    assert world.plan() == [("Start", "service"), ("Start", "behind")]


def test_explain_says_how_many_of_how_many_run_and_why_not_more_x1() -> None:
    world = World()
    world.root(8)
    world.run("other", "r", 1, 6)
    job = world.submit("service", "r", 1, 4, module=Module.EAS, min_replicas=1, max_replicas=5)
    world.plan()
    told = explain(world.state, job.id, 0)
    assert told.reasons[0].text == "2 replica(s) run; it wants 4 and can use 5"
    assert told.reasons[1].code is Code.OwnQuotaFull


def test_more_than_the_quota_can_ever_hold_keeps_nothing_from_others_s10() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4)
    world.submit("service", "a", 1, 6, module=Module.EAS, min_replicas=1)
    assert world.plan() == [("Start", "service")]
    assert world.plan(3 * 60 * MINUTE) == [], "the other two could never be regular: no guard for them"


def test_missing_replicas_of_a_job_that_allows_idle_run_idle_until_their_turn_i1() -> None:
    world = World()
    world.root(8)
    world.quota("a", 2)
    world.quota("b", 5)
    job = world.submit("service", "a", 1, 4, module=Module.EAS, min_replicas=1, idle=Idle.ALLOW)
    world.plan()
    claims = sorted(unit.cls.claim.value for unit in job.extras.values())
    assert (job.claim, claims) == (Claim.REGULAR, ["idle", "idle", "regular"])
    world.event(ev.QuotaScaled(job.quota.id, bounds(3)))
    assert world.plan() == [("Promote", "service")]
    assert sum(unit.cls.claim is Claim.IDLE for unit in job.extras.values()) == 1


def test_surplus_gives_way_to_a_promotion_i1() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4)
    world.quota("b", 4)
    world.submit("service", "a", 1, 1, module=Module.EAS, max_replicas=4)
    world.plan()
    idle = world.submit("idle", "a", 1, 2, idle=Idle.ALLOW, priority=1)
    made = plan(world.state, 0)
    assert [type(d).__name__ for d in made.decisions][:2] == ["Evict", "Evict"]
    assert idle.claim is Claim.REGULAR


def test_a_service_asks_for_no_more_than_its_root_could_ever_give(monkeypatch: pytest.MonkeyPatch) -> None:
    """P12, A4: of 100,000 replicas that it wants, the 16 that there is room for are asked for at once."""
    asked: list[int] = []
    walked = Attempt.run

    def run(self: Attempt) -> Outcome:
        asked.append(len(self._claimant.wanted))
        return walked(self)

    monkeypatch.setattr(Attempt, "run", run)
    world = World(nodes=2)
    world.root(16)
    service = world.submit("service", "r", 1, 100_000, module=Module.EAS)
    world.plan()
    assert service.running_replicas == asked[0] == 16
