"""Who may stay where it is: what cannot be is found out without changing anything (P8)."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.policy import ChildLevel, Priorities, Scope
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, because
from tests.core.building import ALL, World, self_level


def place(node: int, device: int) -> tuple[Placed, ...]:
    return (Placed(0, node, (device,), Shape(1000, 0, 0)),)


@pytest.mark.parametrize(("wanted", "stays"), [(2, False), (1, True)])
def test_a_victim_is_put_back_only_if_its_preemptor_has_another_place(
    monkeypatch: pytest.MonkeyPatch, wanted: int, stays: bool
) -> None:
    """`victim` finds room on the other node by taking `low`. There is room for one replica of one GPU, not of two."""
    put_back: list[str] = []
    keep = effects.keep

    def noted(state: object, job: object, *rest: object) -> None:
        put_back.append(job.id)  # type: ignore[attr-defined]
        keep(state, job, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(effects, "keep", noted)
    world = World(nodes=2, gpus=2)
    world.root(4, child_level=ChildLevel(Priorities(5, 5), ALL))
    world.quota("a", 4, self_level=self_level(5, 1, Scope.OWN))
    world.run("victim", "a", 1, priority=5, places=place(0, 0))
    if wanted == 2:
        world.run("beside it", "a", 1, priority=5, places=place(0, 1))
    else:
        world.run("beside it", "a", 1, priority=9, places=place(0, 1))
    world.run("low", "a", 1, priority=1, places=place(1, 0))
    world.run("high", "a", 1, priority=9, places=place(1, 1))
    world.submit("top", "r", wanted)
    made = world.plan()
    assert (("Evict", "victim") not in made) is stays
    assert ("Evict", "low") in made
    assert put_back == (["victim"] if stays else [])


def test_a_record_tells_the_highest_priority_of_those_who_go_and_not_of_who_stays_p13() -> None:
    """`top` would take `victim`, of priority 5, and `victim` would move by taking `low`: in the end only `low` goes."""
    world = World(nodes=2, gpus=2)
    world.root(4, child_level=ChildLevel(Priorities(5, 5), ALL))
    world.quota("a", 4, self_level=self_level(5, 3, Scope.OWN))
    world.run("victim", "a", 1, priority=5, places=place(0, 0))
    world.run("beside it", "a", 1, priority=9, places=place(0, 1))
    world.run("low", "a", 1, priority=3, places=place(1, 0))
    world.run("high", "a", 1, priority=9, places=place(1, 1))
    world.submit("top", "r", 1)
    (held,) = (d for d in plan(world.state, 0).decisions if isinstance(d, say.Hold))
    assert held.preemption is not None
    assert [v.job for v in held.preemption.victims] == ["low"]
    assert held.preemption.kept == ("victim",)
    assert held.preemption.highest_priority == 3
    assert dict(held.reason.facts)["highest"] == "3"


def test_a_victim_is_told_the_rule_of_the_job_that_it_goes_for_p13() -> None:
    """`victim` stays. It would have taken `below` by the policy of its own quota; `top` takes it by that of the root."""
    world = World(nodes=2, gpus=1)
    world.root(2, child_level=ChildLevel(Priorities(1, 5), ALL))
    world.quota("a", 2, child_level=ChildLevel(Priorities(1, 5), ALL))
    world.quota("a.x", 1, parent="a")
    world.run("victim", "a", 1, priority=1, places=place(0, 0))
    world.run("below", "a.x", 1, priority=3, places=place(1, 0))
    world.submit("top", "r", 1)
    (gone,) = (d for d in plan(world.state, 0).decisions if isinstance(d, say.Evict))
    assert (gone.job, gone.preemptor) == ("below", "top")
    assert gone.reason == because(Code.ChildLevel, preemptor="top", quota="r")


def test_a_victim_that_only_who_stays_may_take_is_told_whose_right_it_is_p13() -> None:
    """P8: `low` goes for `top`, which has no right to it; `victim`, which stays in its place, has."""
    world = World(nodes=2, gpus=1)
    world.root(2, child_level=ChildLevel(Priorities(5, 5), ALL))
    world.quota("a", 2, self_level=self_level(5, 3, Scope.OWN))
    world.run("victim", "a", 1, priority=5, places=place(0, 0))
    world.run("low", "a", 1, priority=3, places=place(1, 0))
    world.submit("top", "r", 1)
    (gone,) = (d for d in plan(world.state, 0).decisions if isinstance(d, say.Evict))
    assert (gone.job, gone.preemptor) == ("low", "top")
    assert gone.reason == because(
        Code.TakenInTurn, preemptor="top", stays="victim", rule=Code.SelfLevelOwn.name, quota="a"
    )


def test_who_stays_is_told_by_the_job_that_was_to_take_it_p8_p13() -> None:
    world = World(nodes=2, gpus=1)
    world.root(2, child_level=ChildLevel(Priorities(5, 5), ALL))
    world.quota("a", 2, self_level=self_level(5, 3, Scope.OWN))
    world.run("victim", "a", 1, priority=5, places=place(0, 0))
    world.run("low", "a", 1, priority=3, places=place(1, 0))
    world.submit("top", "r", 1)
    (held,) = (d for d in plan(world.state, 0).decisions if isinstance(d, say.Hold))
    assert held.preemption is not None
    assert held.preemption.kept == ("victim",)
    assert [victim.job for victim in held.preemption.victims] == ["low"]
    assert held.reason.text == (
        "evicts 1 unit(s), so that victim keeps running, which it could take by descendants; highest priority touched 3, "
        "cost 160 GPU-s"
    )
