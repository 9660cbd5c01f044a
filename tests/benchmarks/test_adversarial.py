"""Do the hard families still say what they are meant to say? Each is built and planned at a tiny size; nothing is timed."""

from __future__ import annotations

import pytest

from benchmarks import adversarial
from benchmarks.hard_families import FAMILIES, Family
from benchmarks.hard_worlds import LATER
from quotatree.core import decisions as say
from quotatree.core import plan
from quotatree.core.planning import effort

BY_NAME = {family.name: family for family in FAMILIES}
TINY = 4


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_builds_and_its_plans_leave_nothing_undone(family: Family) -> None:
    """P10: all is decided in one plan, or in those that follow at once because a plan may not spend more."""
    state = family.build(TINY)
    made = plan(state, LATER)
    assert made.decisions
    while made.next_wakeup_ms == LATER:
        made = plan(state, LATER)
    assert plan(state, LATER).decisions == ()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_grows_with_its_number(family: Family) -> None:
    assert len(family.build(TINY).jobs) < len(family.build(2 * TINY).jobs)


def test_services_get_all_their_replicas() -> None:
    """P12: the surplus round has three replicas to place for each service."""
    made = plan(BY_NAME["n services of four replicas"].build(TINY), LATER)
    assert sum(len(d.replicas) for d in made.decisions if isinstance(d, say.Start)) == 4 * TINY


@pytest.mark.parametrize("name", ["n protected shapes", "n waiting shapes"])
def test_nobody_who_asks_for_another_shape_can_be_helped(name: str) -> None:
    """P11, R3: every attempt fails, each with an index of its own."""
    made = plan(BY_NAME[name].build(TINY), LATER)
    assert [type(d) for d in made.decisions] == [say.Wait] * TINY


def test_what_is_timed_is_the_plan_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(adversarial, "process_time", lambda: next(clock))
    assert adversarial.seconds(FAMILIES[0], 1) == 2.5


def test_plans_are_timed_until_one_asks_for_no_other_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(adversarial, "process_time", lambda: float(next(clock)))
    monkeypatch.setattr(effort, "PLAN_AT_MOST", 1)
    took = adversarial.seconds_until_decided(BY_NAME["n siblings over any lower"], TINY)
    assert len(took) > 2
    assert set(took) == {1.0}
