"""Idle capacity divided by share: whose turn it is, and who takes from whom (I4)."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.hard_searches import borrowers_of_whole_nodes
from benchmarks.hard_worlds import LATER
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.explanation import explain
from quotatree.core.model.job import Claim, Idle, JobId
from quotatree.core.model.policy import Scope
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.resources import Bounds
from quotatree.core.planning import fair_take
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, Reason, Step
from quotatree.core.search.placement import find_places
from tests.core.building import World, self_level


def shared(fair: bool = True, weight: Bounds | None = None) -> World:
    """Eight GPUs; a and b have a min of 2 each and share what is idle."""
    world = World()
    world.root(8, fair_idle=fair)
    world.quota("a", 2, weight=weight)
    world.quota("b", 2)
    return world


def borrow(world: World, quota: str, number: int, gpus: float = 1) -> None:
    """So many jobs that run on idle capacity, each of so many GPUs."""
    for index in range(number):
        world.submit(f"{quota}{index}", quota, gpus, idle=Idle.ONLY)
    world.plan()


def test_a_waiting_borrower_takes_from_whom_has_more_than_its_share_i4() -> None:
    world = shared()
    borrow(world, "a", 8)
    world.submit("late", "b", 2, idle=Idle.ONLY)
    assert [kind for kind, _ in world.plan()] == ["Evict", "Evict"]
    assert [r.code for r in explain(world.state, JobId("late"), 0).reasons] == [Code.FairTurn]
    for job in list(world.state.leaving_jobs):
        world.event(ev.JobLeft(job))
    assert world.plan() == [("Start", "late")]
    assert world.state.jobs[JobId("late")].claim is Claim.IDLE


def test_without_the_switch_nobody_takes_i4() -> None:
    world = shared(fair=False)
    borrow(world, "a", 8)
    world.submit("late", "b", 2, idle=Idle.ONLY)
    assert world.plan() == []


def test_taking_ends_when_shares_are_equal_i4() -> None:
    """4 and 4: with one more each would have more than what is left of the other."""
    world = shared()
    borrow(world, "a", 8)
    for number in range(8):
        world.submit(f"b{number}", "b", 1, idle=Idle.ONLY)
    for _ in range(12):
        world.plan()
        for job in list(world.state.leaving_jobs):
            world.event(ev.JobLeft(job))
    assert [world.state.quotas[QuotaId(name)].idle[0] for name in ("a", "b")] == [4000, 4000]


def test_weights_say_what_is_fair_i4() -> None:
    """6 of 6 and 2 of 2 GPUs: both shares are 1."""
    world = shared(weight=Bounds(6000))
    borrow(world, "a", 8)
    for number in range(8):
        world.submit(f"b{number}", "b", 1, idle=Idle.ONLY)
    for _ in range(12):
        world.plan()
        for job in list(world.state.leaving_jobs):
            world.event(ev.JobLeft(job))
    assert [world.state.quotas[QuotaId(name)].idle[0] for name in ("a", "b")] == [6000, 2000]


def test_no_more_is_taken_than_makes_room_with_what_is_free_i4_p8() -> None:
    """One GPU is free, and a borrower of one GPU makes room for two."""
    world = shared()
    borrow(world, "a", 7)
    world.submit("late", "b", 2, idle=Idle.ONLY)
    assert [kind for kind, _ in world.plan()] == ["Evict"]


def test_two_small_borrowers_go_where_one_large_one_would_be_too_much_i4() -> None:
    """Without the one of 5 GPUs, 2 would be left of a, which is less than b then has; 5 are left without two small ones."""
    world = shared()
    borrow(world, "a", 3)
    world.submit("large", "a", 5, idle=Idle.ONLY)
    world.plan()
    world.submit("late", "b", 3, idle=Idle.ONLY)
    assert sorted(world.plan()) == [("Evict", "a0"), ("Evict", "a1"), ("Evict", "a2")]


def test_the_smallest_go_where_the_cheapest_would_be_too_much_i4() -> None:
    """Those of 2 GPUs have just begun and cost least, but 4 of 8 would be less of a's weight than 3 are of b's; 5 are as much."""
    world = World()
    world.root(8, fair_idle=True)
    world.quota("a", 1, weight=Bounds(5000))
    world.quota("b", 1, weight=Bounds(3000))
    borrow(world, "a", 4)
    world.now_ms = 3_600_000
    for name in ("young-1", "young-2"):
        world.submit(name, "a", 2, idle=Idle.ONLY)
    world.plan()
    world.submit("late", "b", 3, idle=Idle.ONLY)
    taken = [job for _, job in world.plan()]
    assert len(taken) == 3
    assert set(taken) < {"a0", "a1", "a2", "a3"}


def test_only_jobs_that_are_nothing_but_idle_are_taken_i4() -> None:
    world = shared()
    for index in range(8):
        world.submit(f"a{index}", "a", 1, idle=Idle.ALLOW)
    world.plan()
    world.submit("late", "b", 1, idle=Idle.ONLY)
    assert world.plan() == []


def test_a_weight_of_nothing_never_takes_and_is_taken_from_first_i4() -> None:
    world = World()
    world.root(8, fair_idle=True)
    world.quota("a", 2)
    world.quota("b", 2)
    world.quota("c", 0)
    borrow(world, "a", 4)
    borrow(world, "c", 4)
    world.submit("more-of-c", "c", 1, idle=Idle.ONLY)
    assert world.plan() == []
    world.submit("late", "b", 1, idle=Idle.ONLY)
    ((kind, job),) = world.plan()
    assert (kind, job[0]) == ("Evict", "c")


def test_the_round_goes_by_the_share_after_the_start_i4() -> None:
    """Priorities order the round elsewhere; here b, which has less, is served before a's p9."""
    world = shared()
    borrow(world, "a", 6)
    world.submit("a-high", "a", 2, priority=9, idle=Idle.ONLY)
    world.submit("b-low", "b", 2, priority=1, idle=Idle.ONLY)
    assert world.plan() == [("Start", "b-low")]


def test_a_job_that_allows_idle_takes_its_share_before_regular_victims_p4() -> None:
    world = World()
    world.root(8, fair_idle=True)
    world.quota("a", 2)
    world.quota("b", 2, self_level=self_level(6, 1, Scope.OWN))
    world.run("own", "b", 2)
    borrow(world, "a", 6)
    world.submit("late", "b", 1, priority=9, idle=Idle.ALLOW)
    made = plan(world.state, 0)
    (evicted,) = [d for d in made.decisions if isinstance(d, say.Evict)]
    assert (evicted.job[0], evicted.reason.code, evicted.counts) == ("a", Code.FairShare, False)


@pytest.mark.parametrize(("x", "y", "largest"), [(1, 3, "x"), (3, 1, "y")])
def test_the_largest_share_goes_first_at_every_level_i4(x: int, y: int, largest: str) -> None:
    """Below a, x and y have borrowed the same; who has the smaller min has the larger share of it."""
    world = World()
    world.root(8, fair_idle=True)
    world.quota("a", 4)
    world.quota("x", x, parent="a")
    world.quota("y", y, parent="a")
    world.quota("b", 2)
    borrow(world, "x", 4)
    borrow(world, "y", 4)
    world.submit("late", "b", 1, idle=Idle.ONLY)
    assert [(kind, job[0]) for kind, job in world.plan()] == [("Evict", largest)]


def test_a_regular_job_takes_back_from_the_largest_share_first_i3() -> None:
    """Both have borrowed as much; b has the smaller min, though a's borrowers are cheaper to stop."""
    world = World()
    world.root(8, fair_idle=True)
    world.quota("a", 4)
    world.quota("b", 2)
    borrow(world, "b", 4)
    world.now_ms = 60_000
    borrow(world, "a", 4)
    world.now_ms = 120_000
    world.submit("regular", "a", 1)
    assert [(kind, job[0]) for kind, job in world.plan()] == [("Evict", "b"), ("Hold", "r")]


def test_a_regular_job_takes_from_several_where_one_has_too_little_i3() -> None:
    world = World()
    world.root(8, fair_idle=True)
    world.quota("a", 4)
    world.quota("b", 2)
    borrow(world, "a", 4)
    borrow(world, "b", 4)
    world.submit("regular", "r", 6)
    taken = [job[0] for kind, job in world.plan() if kind == "Evict"]
    assert len(taken) == 6, "no more than it needs, chosen by P5 among the two"
    assert set(taken) == {"a", "b"}


def test_borrowers_who_take_in_vain_look_for_places_a_few_times_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """A4: each put one unit after the other aside, and asked for places after each."""
    asked = 0

    def counted(*args: Any, **rest: Any) -> Any:
        nonlocal asked
        asked += 1
        return find_places(*args, **rest)

    state = borrowers_of_whole_nodes(20)
    monkeypatch.setattr(fair_take, "find_places", counted)
    made = plan(state, LATER)
    assert all(isinstance(d, say.Wait) for d in made.decisions)
    assert asked <= 3 * 20


def told(world: World, job: str) -> dict[Step, Reason]:
    """What was tried for a waiting job and why it was not enough, by step."""
    return {one.step: one.reason for one in explain(world.state, JobId(job), world.now_ms).tried}


def test_a_borrower_that_has_its_share_is_told_both_shares_x1_i4() -> None:
    """b has 2 of 8 and wants 3 more: with them it would have 5 of its 2, and a would keep 3."""
    world = shared()
    borrow(world, "a", 6)
    borrow(world, "b", 2)
    world.submit("late", "b", 3, idle=Idle.ONLY)
    assert world.plan() == []
    tried = told(world, "late")
    assert tried[Step.FREE].code is Code.IdleRoomShort
    assert tried[Step.IDLE].code is Code.FairShareReached
    assert dict(tried[Step.IDLE].facts) == {"quota": "b", "share": "250 %", "beside": "a", "left": "150 %"}
    assert explain(world.state, JobId("late"), 0).reasons == tuple(tried.values())


def test_a_share_is_never_told_to_be_below_nothing_x1_i4() -> None:
    """b wants all five GPUs, and a has borrowed four of them: it would keep nothing, and not less than that."""
    world = World(gpus=5)
    world.root(5, fair_idle=True)
    world.quota("a", 1)
    world.quota("b", 1)
    borrow(world, "a", 1, gpus=4)
    world.submit("late", "b", 5, idle=Idle.ONLY)
    assert world.plan() == []
    assert dict(told(world, "late")[Step.IDLE].facts)["left"] == "0 %"


def test_a_borrower_without_weight_is_told_so_x1_i4() -> None:
    world = shared(weight=Bounds(0))
    borrow(world, "b", 8)
    world.submit("late", "a", 1, idle=Idle.ONLY)
    assert world.plan() == []
    assert told(world, "late")[Step.IDLE].code is Code.FairNoWeight


def test_a_borrower_that_could_take_nobody_is_told_so_x1_i4() -> None:
    world = shared()
    world.run("regular", "r", 8)
    world.submit("late", "b", 1, idle=Idle.ONLY)
    assert world.plan() == []
    assert told(world, "late")[Step.IDLE].code is Code.NoEligibleVictims


def test_where_nothing_is_shared_no_turn_is_told_x1_i4() -> None:
    world = shared(fair=False)
    borrow(world, "a", 8)
    world.submit("late", "b", 2, idle=Idle.ONLY)
    world.plan()
    assert list(told(world, "late")) == [Step.FREE]
