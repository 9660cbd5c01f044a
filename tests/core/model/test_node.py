"""What is free on a device, now and by plan: nothing is given twice (P9)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.model.job import JobId, Phase, Placed, Shape
from quotatree.core.model.policy import Scope
from tests.core.building import World, self_level


def test_no_fraction_of_a_device_is_given_twice_p9() -> None:
    world = World(gpus=2)
    world.root(2, self_level=self_level(9, 1, Scope.OWN))
    half, whole = Shape(500, 0, 0), Shape(1000, 0, 0)
    world.run("half", "r", 0.5, places=(Placed(0, 0, (0,), half),))
    goes = world.run("goes", "r", 1, places=(Placed(0, 0, (1,), whole),))
    world.event(ev.JobCancelled(goes.id))
    gang = world.submit("gang", "r", 0.5, 3, priority=5)
    world.plan()
    world.submit("new", "r", 0.5, priority=9)
    world.plan()
    world.event(ev.JobLeft(goes.id))
    world.plan()
    node = world.state.nodes[0]
    for device in range(2):
        assert node.free[device] + node.held[device] - node.leaving[device] >= 0
    assert gang.phase is Phase.HELD
    world.event(ev.JobLeft(JobId("half")))
    assert world.plan() == [("Start", "gang")]
