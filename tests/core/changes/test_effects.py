"""Holds: who waits for whom to leave, and where it starts then (P9)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.model.job import JobId, Phase
from quotatree.core.model.policy import Module, Scope
from tests.core.building import World, self_level


def test_a_replica_that_is_evicted_later_delays_only_its_own_preemptor_p9() -> None:
    world = World()
    world.root(8)
    job = world.submit("service", "r", 1, 2, module=Module.EAS, min_replicas=2, max_replicas=8)
    world.plan()
    world.submit("first", "r", 1, priority=5)
    world.plan()
    (replica,) = job.leaving
    world.now_ms = 10_000
    world.submit("second", "r", 1, priority=5)
    world.plan()
    world.event(ev.JobLeft(job.id, (replica,)))
    assert world.plan() == [("Start", "first")]


def test_a_gang_starts_on_promised_and_other_free_places_together_p9() -> None:
    world = World(nodes=3)
    world.root(24, self_level=self_level(9, 1, Scope.OWN))
    for name in ("v0", "v1"):
        world.run(name, "r", 8)
    other = world.run("other", "r", 8, priority=5)
    gang = world.submit("gang", "r", 8, 2, priority=9)
    world.plan()
    world.event(ev.JobLeft(JobId("v0")))
    world.event(ev.JobEnded(other.id))
    world.plan()
    assert gang.phase is Phase.RUNNING
