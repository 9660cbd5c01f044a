"""A policy that would help is named as narrow as it may be, and the change is that of the words (X1)."""

from __future__ import annotations

import pytest

from quotatree.core import events as ev
from quotatree.core import wider_policy
from quotatree.core.explanation import explain
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels, Strategy
from quotatree.core.supposed_policy import Help
from tests.core.building import World

USUAL = frozenset({Module.DLC, Module.DSW})


def company(child_level: ChildLevel | None = None, sixes: Module = Module.EAS) -> World:
    """A root of 8 GPUs, which work below it fills: half of priority 4, half of priority 6."""
    world = World()
    world.root(8, child_level=child_level, strategy=Strategy.TRAVERSE)
    world.quota("team", 8)
    for number in range(4):
        world.run(f"four-{number}", "team", 1, priority=4)
        world.run(f"six-{number}", "team", 1, priority=6, module=sixes)
    return world


def policies(world: World, job: str) -> list[Help]:
    return [one for one in explain(world.state, JobId(job), 0).helps if one.change == "policies"]


def test_a_child_level_policy_is_widened_up_to_the_victims_and_no_further_x1() -> None:
    world = company(ChildLevel(Priorities(2, 3), USUAL))
    world.submit("waits", "r", 2)
    world.plan()
    (one,) = policies(world, "waits")
    assert one.text.startswith("the child-level policy of r made wider (priorities 2-4, DLC+DSW): 2 unit(s)")
    assert one.spec is not None
    assert one.spec.child_level == ChildLevel(Priorities(2, 4), USUAL), "the change is that of the words"
    world.event(ev.QuotaUpdated(one.spec))
    assert [decision for decision, _ in world.plan()] == ["Evict", "Evict", "Hold"]


def test_a_policy_reaches_all_it_must_x1() -> None:
    """Six GPUs: the work of priority 4 is not enough."""
    world = company()
    world.submit("waits", "r", 6)
    world.plan()
    (one,) = policies(world, "waits")
    assert one.text.startswith("a child-level policy on r (priorities 1-6, DLC+EAS): 6 unit(s)")


def test_a_switched_off_policy_keeps_its_settings_x1() -> None:
    world = company(ChildLevel(Priorities(1, 9), USUAL, off=True))
    world.submit("waits", "r", 2)
    world.plan()
    (one,) = policies(world, "waits")
    assert one.text.startswith("the child-level policy of r switched on (priorities 1-9, DLC+DSW)")


def test_a_self_level_policy_keeps_what_it_reaches_already_x1() -> None:
    world = World()
    world.root(
        8,
        strategy=Strategy.TRAVERSE,
        self_level=SelfLevels.of(SelfLevel(Priorities(7, 9), Priorities(1, 2), USUAL, Scope.OWN)),
    )
    for number in range(8):
        world.run(f"run-{number}", "r", 1, priority=3 + number % 2)
    world.submit("waits", "r", 2, priority=7)
    world.plan()
    (one,) = policies(world, "waits")
    assert "made wider (high 7-9, low 1-3, DLC+DSW, scope own): 2 unit(s)" in one.text


def test_work_that_another_policy_takes_does_not_widen_this_one_x1_p1() -> None:
    """Priority 4 goes by the first policy; the second, from priority 3 on, may never name it."""
    first = SelfLevel(Priorities(5, 9), Priorities(1, 4), frozenset({Module.DLC}), Scope.OWN)
    second = SelfLevel(Priorities(3, 9), Priorities(1, 2), frozenset({Module.DSW}), Scope.OWN)
    world = World()
    world.root(8, strategy=Strategy.TRAVERSE, self_level=SelfLevels.of(second, first))
    for number in range(4):
        world.run(f"four-{number}", "r", 1, priority=4)
        world.run(f"two-{number}", "r", 1, priority=2, module=Module.EAS)
    world.submit("waits", "r", 6, priority=7)
    world.plan()
    assert any(
        "made wider (high 3-9, low 1-2, DSW+EAS, scope own)" in one.text for one in policies(world, "waits")
    )


def test_a_policy_that_cannot_be_asked_about_any_more_is_named_as_it_was_found_x1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Attempts are counted: without any left, a narrower policy that reaches less of what runs is not known to help."""
    monkeypatch.setattr(wider_policy, "NARROWINGS", -wider_policy.ATTEMPTS)
    world = company(sixes=Module.DSW)
    world.submit("waits", "r", 2)
    world.plan()
    (one,) = policies(world, "waits")
    assert "(priorities 1-9, DLC+DSW)" in one.text
