"""What would help: a wider policy is named only where it would, with its victims and their cost (X1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core import events as ev
from quotatree.core.explanation import explain
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels, Strategy
from quotatree.core.model.quota import QuotaId
from quotatree.core.planning.plan import plan
from tests.core.building import World
from tests.property.snapshot import snapshot

USUAL = frozenset({Module.DLC, Module.DSW})


def full(policy: SelfLevel | None = None, below: ChildLevel | None = None) -> World:
    """`lab` 4 and `other` 4 are full of work of priority 2; `lab` has a child `below` with 2 of its 4 GPUs."""
    world = World()
    world.root(8)
    world.quota(
        "lab",
        4,
        self_level=SelfLevels.of(*([policy] if policy else [])),
        child_level=below,
        strategy=Strategy.TRAVERSE,
    )
    world.quota("below", 2, parent="lab")
    world.quota("other", 4)
    world.run("own", "lab", 2, priority=2)
    world.run("child", "below", 2, priority=2)
    world.run("beside", "other", 4, priority=2, module=Module.EAS)
    return world


def helps(world: World, gpus: int, priority: int = 6) -> list[str]:
    """What explain says about policies for a job of `lab`."""
    world.submit("waits", "lab", gpus, priority=priority)
    world.plan()
    before = snapshot(world.state)
    told = explain(world.state, JobId("waits"), world.now_ms).helps
    assert snapshot(world.state) == before
    return [one.text for one in told if "policy" in one.text]


OWN = SelfLevel(Priorities(6, 9), Priorities(1, 1), USUAL, Scope.OWN)


@pytest.mark.parametrize(
    ("policy", "gpus", "said"),
    [
        (None, 2, "a self-level policy on lab (high 6-9, low 1-2, DLC, scope own): 1 unit(s) would be evicted, cost 160 GPU-s"),
        (OWN, 2, "the self-level policy of lab made wider (high 6-9, low 1-2, DLC+DSW, scope own)"),
        (replace(OWN, high=Priorities(7, 9), low=Priorities(1, 2)), 2, "made wider (high 6-9, low 1-2, DLC+DSW, scope own)"),
        (replace(OWN, low=Priorities(1, 5), modules=frozenset({Module.DSW})), 2, "made wider (high 6-9, low 1-5, DLC+DSW, scope own)"),
        (replace(OWN, low=Priorities(1, 5), off=True), 2, "the self-level policy of lab switched on (high 6-9, low 1-5, DLC+DSW, scope own)"),
        (OWN, 4, "one more self-level policy on lab (high 6-9, low 1-2, EAS, scope siblings): 1 unit(s)"),
        (SelfLevel.over_any_lower(USUAL, Scope.OWN), 4, "one more self-level policy on lab"),
        (replace(OWN, low=Priorities(1, 5), modules=frozenset(Module)), 4, "scope level): 1 unit(s) would be evicted, cost 29120 GPU-s"),
    ],
)  # fmt: skip
def test_the_smallest_change_of_the_self_level_policy_that_helps_is_named_x1(
    policy: SelfLevel | None, gpus: int, said: str
) -> None:
    found = [line for line in helps(full(policy), gpus) if "self-level" in line]
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("below", "said"),
    [
        (None, "a child-level policy on lab (priorities 1-2, DLC): 1 unit(s) would be evicted, cost 160 GPU-s"),
        (ChildLevel(Priorities(1, 1), USUAL), "the child-level policy of lab made wider (priorities 1-2, DLC+DSW)"),
        (ChildLevel(Priorities(1, 3), USUAL, off=True), "the child-level policy of lab switched on (priorities 1-3, DLC+DSW)"),
        (ChildLevel(Priorities(1, 9), frozenset({Module.EAS})), "made wider (priorities 1-9, DLC+EAS)"),
    ],
)  # fmt: skip
def test_the_smallest_change_of_the_child_level_policy_that_helps_is_named_x1(
    below: ChildLevel | None, said: str
) -> None:
    found = [line for line in helps(full(below=below), 2, priority=1) if "child-level" in line]
    assert len(found) == 1
    assert said in found[0]


def test_both_policies_are_named_where_neither_helps_alone_x1() -> None:
    """The root's 8 GPUs: half of its own, half of a child's."""
    world = World()
    world.root(8, strategy=Strategy.TRAVERSE)
    world.quota("below", 4)
    world.run("own", "r", 4)
    world.run("child", "below", 4)
    world.submit("waits", "r", 8, priority=6)
    world.plan()
    (line,) = [one.text for one in explain(world.state, JobId("waits"), 0).helps if "policy" in one.text]
    assert "a self-level policy on r" in line
    assert "and a child-level policy on r" in line
    assert "2 unit(s) would be evicted" in line


def test_no_policy_is_named_where_none_would_help_x1() -> None:
    assert helps(full(), 2, priority=1) == [
        "a child-level policy on lab (priorities 1-2, DLC): 1 unit(s) would be evicted, cost 160 GPU-s"
    ]
    world = World()
    world.root(8, strategy=Strategy.TRAVERSE)
    world.run("own", "r", 8, priority=9)
    world.submit("waits", "r", 8, priority=9)
    world.plan()
    told = explain(world.state, JobId("waits"), 0).helps
    assert [one.text for one in told] == ["work worth 8 GPU in r ends, or r is scaled up"]


def beside_an_empty_sibling(*policies: SelfLevel) -> World:
    """`a` 8 is full of work of priority 2, `b` 8 beside it is empty."""
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, strategy=Strategy.TRAVERSE, self_level=SelfLevels.of(*policies))
    world.quota("b", 8)
    world.run("own", "a", 8, priority=2)
    return world


def test_a_policy_that_lets_it_start_on_a_loan_helps_without_a_victim_x1() -> None:
    """P3: with scope level the job may stand on what b does not use; with scope own it would have to take `own`."""
    world = beside_an_empty_sibling()
    world.submit("waits", "a", 8, priority=8)
    world.plan()
    loan, victim = [one for one in explain(world.state, JobId("waits"), 0).helps if "policy" in one.text]
    assert loan.text.startswith("a self-level policy on a (high 8-9, ")
    assert loan.text.endswith(": it could start on a loan")
    assert "scope own): 1 unit(s) would be evicted" in victim.text
    assert loan.change == "policies"
    assert loan.spec is not None
    world.event(ev.QuotaUpdated(loan.spec))
    assert world.plan() == [("Start", "waits")], "what was said is what happens (X0)"


def test_a_loan_helps_where_no_lower_priority_runs_x1() -> None:
    world = beside_an_empty_sibling()
    world.submit("waits", "a", 8, priority=2)
    world.plan()
    (line,) = [one.text for one in explain(world.state, JobId("waits"), 0).helps if "policy" in one.text]
    assert line.endswith("(high 2-9, low 1, DLC, scope siblings): it could start on a loan")


def test_a_job_that_may_borrow_already_is_not_told_that_a_loan_would_help_x1() -> None:
    """The right is there, but b is not empty any more."""
    world = beside_an_empty_sibling(replace(OWN, scope=Scope.LEVEL))
    world.run("beside", "b", 8, priority=9)
    world.submit("waits", "a", 8, priority=8)
    world.plan()
    lines = [one.text for one in explain(world.state, JobId("waits"), 0).helps if "policy" in one.text]
    assert lines
    assert not any("loan" in line for line in lines)


def growing(*policies: SelfLevel, fills: int = 4) -> World:
    """A service of which 2 of 6 replicas run, each of 4 GPUs, in a quota that `fills` jobs of priority 2 fill."""
    world = World(nodes=3)
    world.root(8 + 4 * fills, strategy=Strategy.TRAVERSE, self_level=SelfLevels.of(*policies))
    for number in range(fills):
        world.run(f"fill-{number}", "r", 4, priority=2)
    world.run("service", "r", 4, 2, priority=7, module=Module.EAS)
    world.event(ev.JobResized(JobId("service"), replicas=6))
    assert world.plan() == []
    return world


def test_a_policy_is_named_for_a_running_service_that_misses_replicas_x1_p12() -> None:
    world = growing()
    (help_,) = [one for one in explain(world.state, JobId("service"), 0).helps if "policy" in one.text]
    assert "scope own): 4 of 4 missing replica(s) could start; 4 unit(s) would be evicted" in help_.text
    assert help_.spec is not None
    world.event(ev.QuotaUpdated(help_.spec))
    assert [decision for decision, _ in world.plan()] == ["Evict"] * 4 + ["Hold"]


def test_a_policy_that_gives_a_service_only_some_of_what_it_misses_says_how_many_x1_p12() -> None:
    world = growing(fills=3)
    (line,) = [one.text for one in explain(world.state, JobId("service"), 0).helps if "policy" in one.text]
    assert "3 of 4 missing replica(s) could start; 3 unit(s) would be evicted" in line


def test_a_service_could_grow_onto_a_loan_x1_p3() -> None:
    world = beside_an_empty_sibling()
    world.run("service", "b", 4, priority=7, module=Module.EAS)
    world.run("other", "b", 4, priority=9)
    world.event(ev.JobEnded(JobId("own")))
    world.event(ev.JobResized(JobId("service"), replicas=3))
    assert world.plan() == []
    (line,) = [one.text for one in explain(world.state, JobId("service"), 0).helps if "policy" in one.text]
    assert line.endswith("scope siblings): 2 of 2 missing replica(s) could start on a loan")


def test_what_was_supposed_is_forgotten_x1() -> None:
    """A8: rights that were only supposed are in no index that a later plan uses."""
    world = full(OWN)
    assert helps(world, 2)
    assert world.plan() == []
    wider = replace(
        world.state.quotas[QuotaId("lab")].spec, self_level=SelfLevels.of(replace(OWN, low=Priorities(1, 2)))
    )
    world.event(ev.QuotaUpdated(wider))
    made = plan(world.state, 0).decisions
    assert [d.job for d in made if type(d).__name__ in ("Evict", "Hold")] == ["own", "waits"]
