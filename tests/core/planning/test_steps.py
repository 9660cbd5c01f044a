"""Which rights a job has in each step, and what they give together where no loan is allowed (P3, P4, Q5, Q8)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.policy import ChildLevel, Priorities, Scope
from quotatree.core.model.resources import Resources
from quotatree.core.planning.plan import plan
from tests.core.building import ALL, World, bounds, self_level


def reserving(nodes: int = 1, gpus: int = 4) -> World:
    """`a`, of three GPUs, keeps one free for a child, so that it may not borrow (Q8); `b` uses two, one of them on loan."""
    world = World(nodes, gpus)
    world.root(4)
    world.quota("a", 3, self_level=self_level(9, 5))
    world.quota("a.x", 1, parent="a", reserved=Resources(1000))
    world.quota("b", 1)
    return world


def on(node: int, device: int, replica: int = 0) -> tuple[Placed, ...]:
    return (Placed(replica, node, (device,), Shape(1000, 0, 0)),)


def test_own_victims_and_those_beside_go_together_where_no_loan_is_allowed_p4() -> None:
    """`top` wants two: one too many for `a`, which `own` frees, and two too many for the root, of which `own` frees one."""
    world = reserving()
    world.run("own", "a", 1)
    world.run("beside", "b", 1)
    world.run("another", "b", 1, priority=2)
    world.submit("top", "a", 2, priority=9)
    assert world.plan() == [("Evict", "beside"), ("Evict", "own"), ("Hold", "top")]


def test_own_victims_and_those_beside_go_together_for_a_node_p4() -> None:
    """`own` frees the quota, but stands on two nodes; the second GPU of one of them is `beside`'s."""
    world = reserving(nodes=2, gpus=2)
    world.run("own", "a", 1, 2, places=(*on(0, 0), *on(1, 0, replica=1)))
    world.run("beside", "b", 1, places=on(1, 1))
    world.run("high", "b", 1, priority=9, places=on(0, 1))
    world.submit("top", "a", 2, priority=9)
    assert world.plan() == [("Evict", "beside"), ("Evict", "own"), ("Hold", "top")]


def test_descendants_and_those_beside_go_together_while_a_quota_shrinks_p4() -> None:
    """Q5: no loan is allowed until `a` has come down to two. What is below must all go for that, and `beside` for a node."""
    world = World(nodes=3, gpus=2)
    world.root(6)
    child = ChildLevel(Priorities(1, 1), ALL)
    world.quota("a", 4, self_level=self_level(9, 5, Scope.SIBLINGS), child_level=child)
    world.quota("a.x", 3, parent="a")
    world.quota("b", 1)
    for number in range(3):
        world.run(f"below {number}", "a.x", 1, places=on(number, 0))
    world.run("beside", "b", 1, places=on(2, 1))
    for number in range(2):
        world.run(f"above {number}", "r", 1, priority=9, places=on(number, 1))
    for name in ("a.x", "a"):
        world.event(ev.QuotaScaled(name, bounds(2), mode=ev.ScaleMode.LAZY))
    world.submit("top", "a", 2, priority=9)
    taken = ("below 0", "below 1", "below 2", "beside")
    moved = ("Hold", "beside")
    assert world.plan() == [*(("Evict", name) for name in taken), ("Hold", "top"), moved]


def test_nobody_goes_beside_where_the_own_quota_cannot_be_freed_p7() -> None:
    world = reserving()
    world.run("own", "a", 1, priority=9)
    world.run("beside", "b", 1)
    world.run("another", "b", 1)
    world.submit("top", "a", 2, priority=9)
    assert world.plan() == []


def test_of_both_the_lowest_highest_priority_decides_then_the_cost_p5() -> None:
    """Two of the own quota do without anybody beside, but that is the step before (P4); they are of a higher priority."""
    world = reserving(gpus=6)
    world.event(ev.QuotaScaled("r", bounds(6)))
    world.event(ev.QuotaScaled("a", bounds(5)))
    world.run("own, high", "a", 2, priority=5)
    world.run("own, low", "a", 1, priority=1)
    world.run("beside, low", "b", 1, priority=1)
    world.run("beside, high", "b", 1, priority=3)
    world.submit("top", "a", 2, priority=9)
    (held,) = (d for d in plan(world.state, 0).decisions if isinstance(d, say.Hold))
    assert held.preemption is not None
    assert [v.job for v in held.preemption.victims] == ["own, high"], "an own job goes before one beside (P4)"
