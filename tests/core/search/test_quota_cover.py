"""The cheapest units that free an amount of quota, none too many (P5, P7, Q8)."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, Strategy
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.resources import Bounds, Resources
from quotatree.core.planning.plan import plan
from quotatree.core.search import quota_cover, solvers
from quotatree.core.search.gang import cheapest_for_gang
from quotatree.core.search.knapsack import Item, cover
from quotatree.core.search.trial import Proposal, Trial
from tests.core.building import ALL, MINUTE, World, child, cluster, root, self_level, submit


def test_victims_may_be_needed_for_one_resource_more_than_for_another_p7() -> None:
    world = World(nodes=4)
    world.root(16, 200)
    world.quota("a", 8, 64, self_level=self_level(9, 1, Scope.OWN))
    for number in range(8):
        world.run(f"v{number}", "a", 1, cpus=8)
    world.submit("big", "a", 1, cpus=24, priority=9)
    assert [d for d in world.plan() if d[0] == "Evict"] == [("Evict", f"v{n}") for n in range(3)]


@pytest.mark.parametrize("reserved", [0, 1])
def test_a_reserved_part_elsewhere_makes_no_victim_dearer_p5(reserved: int) -> None:
    world = World(nodes=4)
    world.root(32)
    world.quota("a", 10, self_level=self_level(9, 1, Scope.OWN))
    world.quota("elsewhere", 8, reserved=Resources(reserved * 1000))
    for name, gpus, age in (("x", 3, 10_000), ("y", 4, 20_000), ("z", 3, 10_000)):
        world.now_ms = 100 * MINUTE - age
        world.run(name, "a", gpus)
    world.now_ms = 100 * MINUTE
    world.submit("big", "a", 4, priority=9)
    assert world.plan() == [("Evict", "y"), ("Start", "big")]


def test_a_whole_service_goes_where_it_is_cheaper_than_a_replica_of_it_and_another_job_p5() -> None:
    """P12: the core takes the other replica along, so it frees both GPUs that are short; each of them is of priority 9."""
    world = World(gpus=9)
    world.root(5, child_level=ChildLevel(Priorities(6, 9), ALL))
    world.quota("a", 2)
    world.quota("b", 3)
    world.run("top", "r", 2)
    world.run("service", "a", 1, 2, priority=9, module=Module.EAS)
    world.run("train", "b", 1, priority=8)
    world.now_ms = 180 * MINUTE
    world.submit("new", "r", 2)
    assert world.plan() == [("Evict", "service"), ("Start", "new")]


def test_a_cover_leaves_out_who_may_not_go_and_is_still_the_cheapest() -> None:
    """P5, Q8: the cheapest, `guarded`, is protected by what its quota has reserved; then two small ones beat a large one."""
    below = ChildLevel(Priorities(1, 9), ALL)
    reserved = Resources(2000)
    state = cluster(16, root(10, child_level=below), child("a", 4), child("b", 6, reserved=reserved), nodes=1)
    submit(state, "guarded", "b", (1, 2000), priority=1)
    submit(state, "other", "r", (1, 5000), priority=9)
    submit(state, "small, old", "a", (1, 500), priority=9)
    plan(state, 0)
    submit(state, "small, new", "a", (1, 500), now_ms=160_000, priority=8)
    submit(state, "large, new", "a", (1, 2000), now_ms=160_000, priority=9)
    plan(state, 160_000)
    submit(state, "top", "r", (1, 1000), now_ms=200_000, priority=9)
    taken = {d.job for d in plan(state, 200_000).decisions if isinstance(d, say.Evict)}
    assert taken == {"small, old", "small, new"}


def test_too_little_once_is_not_too_little_for_who_asks_for_less_p7() -> None:
    """P11: `new` is protected. Four GPUs cannot be freed, and that is noted; `two` wants less, `later` comes in time."""
    world = World(nodes=1)
    world.root(8)
    own = self_level(6, 1, Scope.OWN)
    world.quota("a", 4, self_level=own, min_runtime_ms=60 * MINUTE, strategy=Strategy.TRAVERSE)
    world.run("old", "a", 2)
    world.now_ms = 30 * MINUTE
    world.run("new", "a", 2)
    world.now_ms = 60 * MINUTE
    world.submit("four", "a", 4, priority=7)
    world.submit("two", "a", 2, priority=6)
    assert world.plan() == [("Evict", "old"), ("Start", "two")]
    world.submit("later", "a", 2, priority=6)
    assert world.plan(80 * MINUTE) == []
    assert world.plan(90 * MINUTE) == [("Evict", "new"), ("Start", "later")]


def test_of_units_of_one_size_only_as_many_as_would_do_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """P5: four are wanted. The newest four are in one quota; of each other quota and priority one unit shows that they are dearer."""
    compared: list[int] = []
    choose = quota_cover._prefixes

    def counted(trial: Trial, left: Resources, main: int) -> list[Item]:
        found = choose(trial, left, main)
        compared.append(len(found))
        return found

    monkeypatch.setattr(quota_cover, "_prefixes", counted)
    world = World(nodes=6)
    world.root(32, child_level=ChildLevel(Priorities(1, 9), ALL))
    for name in "abcd":
        world.quota(name, 8)
    for minute, quota, priority in (
        (9, "a", 1),
        (5, "b", 1),
        (7, "c", 1),
        (3, "d", 1),
        (8, "b", 2),
        (9, "c", 2),
    ):
        world.now_ms = minute * MINUTE
        for number in range(4):
            world.run(f"{quota}{priority}-{number}", quota, 1, priority=priority)
    world.run("boss", "r", 8, priority=9)
    world.now_ms = 10 * MINUTE
    world.submit("waits", "r", 4)
    assert [who for what, who in world.plan() if what == "Evict"] == [f"a1-{n}" for n in range(4)]
    assert set(compared) == {4}


def test_no_table_is_made_of_those_who_may_not_go_q8(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may not go alone may not go with others: what a quota has reserved is left out before any set is sought."""
    asked: list[int] = []

    def counted(items: list[Item], *rest: Any) -> Proposal | None:
        asked.append(len(items))
        return cover(items, *rest)

    monkeypatch.setattr(quota_cover, "cover", counted)
    below = ChildLevel(Priorities(1, 9), ALL)
    top = root(8, child_level=below, strategy=Strategy.TRAVERSE)
    specs = top, child("a", 4, reserved=Resources(4000)), child("b", 4)
    state = cluster(16, *specs, nodes=1)
    for number in range(4):
        submit(state, f"kept-{number}", "a", (1, 1000), priority=1)
        submit(state, f"free-{number}", "b", (1, 1000), priority=1)
    plan(state, 0)
    submit(state, "too large", "r", (1, 5000), now_ms=1, priority=9)
    assert not [d for d in plan(state, 1).decisions if isinstance(d, say.Evict)]
    assert not asked
    submit(state, "top", "r", (1, 3000), now_ms=2, priority=9)
    taken = {d.job for d in plan(state, 2).decisions if isinstance(d, say.Evict)}
    assert len(taken) == 3
    assert all(name.startswith("free") for name in taken)
    assert set(asked) == {4}


def test_too_little_is_enough_once_less_is_reserved_q8() -> None:
    """All work of `b` is reserved, so `waits` has nobody to take, which is noted. A change that is taken back changes nothing."""
    world = World(nodes=2, gpus=4)
    world.root(8)
    world.quota("a", 4, self_level=self_level(6, 5, Scope.SIBLINGS), strategy=Strategy.TRAVERSE)
    world.quota("b", 4, reserved=Resources(4000))
    for number in range(4):
        world.run(f"b-{number}", "b", 1, priority=3)
    world.run("old", "a", 4, priority=9)
    world.submit("waits", "a", 2, priority=7)
    assert world.plan() == []
    less = ev.QuotaUpdated(child("b", 4, reserved=Resources(2000)))
    world.state.begin()
    world.event(less)
    world.state.rollback()
    world.submit("waits too", "a", 2, priority=8)
    assert world.plan() == []
    world.event(less)
    assert world.plan() == [("Evict", "b-0"), ("Evict", "b-1"), ("Hold", "waits too")]


def test_a_sibling_lends_once_its_min_is_lower_p15() -> None:
    """One GPU of `c` may be claimed and none of `b`, who is at its min, until that is lower."""
    world = World(nodes=2, gpus=4)
    world.root(8)
    for name, least in (("a", 3), ("b", 3), ("c", 1)):
        world.quota(name, least, self_level=self_level(9, 1, Scope.SIBLINGS), strategy=Strategy.TRAVERSE)
    world.run("root", "r", 2)
    world.run("old", "a", 1, priority=9)
    for number in range(3):
        world.run(f"b-{number}", "b", 1, priority=3)
    for number in range(2):
        world.run(f"c-{number}", "c", 1, priority=3)
    world.submit("claims", "a", 2, priority=5)
    assert world.plan() == []
    lower = ev.QuotaScaled(QuotaId("b"), Bounds(2000), mode=ev.ScaleMode.LAZY)
    world.state.begin()
    world.event(lower)
    world.state.rollback()
    world.submit("claims too", "a", 2, priority=6)
    assert world.plan() == []
    world.event(lower)
    assert world.plan() == [("Evict", "b-1"), ("Evict", "c-0"), ("Hold", "claims too")]


def test_no_node_is_looked_at_where_reserved_parts_leave_too_little_together_q8(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of eight jobs may go, but only two of them: a gang of three has nobody to take. A gang of two has."""
    looked: list[object] = []

    def noted(*asked: Any) -> Any:
        looked.append(asked)
        return cheapest_for_gang(*asked)

    monkeypatch.setattr(solvers, "cheapest_for_gang", noted)
    world = World(nodes=2)
    world.root(16)
    world.quota("high", 2, self_level=self_level(6, 5, Scope.LEVEL), strategy=Strategy.TRAVERSE)
    world.quota("low", 14, reserved=Resources(6000))
    world.run("old", "high", 2, priority=9)
    world.run("full", "low", 6, priority=9)
    for number in range(8):
        world.run(f"low-{number}", "low", 1, priority=1 + number % 5)
    world.event(ev.QuotaUpdated(child("low", 14, reserved=Resources(12_000))))
    world.submit("three", "high", 1, 3, priority=7)
    assert world.plan() == []
    assert not looked
    world.submit("two", "high", 1, 2, priority=7)
    assert [name for what, name in world.plan() if what == "Hold"] == ["two"]
    assert looked
