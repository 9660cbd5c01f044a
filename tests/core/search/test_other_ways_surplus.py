"""Surplus beside the lowest quota that is short gives way where the quotas above lack more (P4, P5, P12)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import ChildLevel, Module, Priorities
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Step
from tests.core.building import ALL, MINUTE, World


def full(surplus: int = 1, root: int = 3) -> World:
    """r 3 ── a 3 ── a.x 1, which has borrowed 0.2. r is full, with surplus of a service of its own; a has 0.8 left."""
    world = World()
    world.root(root)
    world.quota("a", 3, child_level=ChildLevel(Priorities(1, 9), ALL))
    world.quota("a.x", 1, parent="a")
    world.run("large", "a.x", 0.7, priority=5)
    world.run("small", "a.x", 0.5, priority=5)
    world.run("own", "a", 1, priority=9)
    size = 0.8 / (1 + surplus)
    world.run("service", "r", size, 1, module=Module.EAS, max_replicas=1 + surplus)
    assert world.plan() == [("Start", "service")] * surplus
    return world


def test_one_victim_below_is_enough_if_surplus_frees_the_rest_above() -> None:
    """P5: 0.9 is wanted: a lacks 0.1, r lacks 0.9. Both of a.x went; what they left, `large` took back from the surplus."""
    world = full()
    world.submit("waits", "a", 0.9)
    made = plan(world.state, MINUTE)
    evicted = {d.job: d.kind.value for d in made.decisions if isinstance(d, say.Evict)}
    assert evicted == {"service": "surplus", "small": "core"}
    started = next(d for d in made.decisions if isinstance(d, say.Start))
    assert started.job == "waits"
    assert started.preemption is not None
    assert started.preemption.step is Step.SIBLINGS_ABOVE_MIN, "a.x is above its min, and goes no deeper (P4)"


def test_no_more_surplus_goes_than_is_needed_p8() -> None:
    """Each replica has 0.2. 0.9 is wanted, `small` frees 0.5 of it, so that two of three go."""
    world = full(surplus=3)
    world.submit("waits", "a", 0.9, priority=3)
    made = [d for d in plan(world.state, MINUTE).decisions if isinstance(d, say.Evict)]
    assert [d.job for d in made].count(JobId("service")) == 2
    assert [d.job for d in made].count(JobId("small")) == 1
    assert len(made) == 3


def test_surplus_stays_where_the_quotas_above_lack_less_p8() -> None:
    """One is wanted: a lacks 0.2, r nothing, so that whoever frees a is enough."""
    world = full(root=4)
    world.submit("waits", "a", 1)
    made = plan(world.state, MINUTE)
    assert [d.job for d in made.decisions if isinstance(d, say.Evict)] == ["small"]
