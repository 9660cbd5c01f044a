"""What stops a job that neither ended nor was cancelled: a lost run (R5, A7)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.job import Phase
from quotatree.core.model.policy import Module
from tests.core.building import World


def test_a_replica_that_is_lost_twice_is_lost_once_a7() -> None:
    world = World()
    world.root(8)
    service = world.run("service", "r", 1, 4, module=Module.EAS, min_replicas=1)
    found = world.event(ev.JobLost(service.id, (3, 3, 9)))
    assert [(d.job, d.replicas) for d in found if isinstance(d, say.Evict)] == [("service", (3,))]
    assert sorted(service.extras) == [1, 2]
    assert not service.leaving
    world.event(ev.JobCancelled(service.id))
    world.event(ev.JobLost(service.id, (0, 0, 1)))
    assert (service.phase, sorted(service.leaving)) == (Phase.CANCELLED, [2])
