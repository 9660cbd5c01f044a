"""Among victims of equal cost the newest goes, then the first by name, wherever it stands and whoever asked before (P5, A3)."""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.explanation import explain, preview
from quotatree.core.model.job import Idle, JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.policy import Module, Scope
from quotatree.core.planning.plan import plan
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import MINUTE, World, cluster, root, self_level

NODES = 6
POLICY = self_level(6, 5, Scope.OWN)


def service(state: State, name: str, node: int, device: int, started_ms: int, gpus: int = 1) -> None:
    """What a service costs does not depend on how long it has run."""
    shape = Shape(gpus * 1000, 0, 0)
    spec = JobSpec(JobId(name), "r", (ReplicaGroup(1, shape),), started_ms, Module.EAS)
    place = Placed(0, node, tuple(range(device, device + gpus)), shape)
    apply(state, ev.JobAdopted(spec, started_ms, places=(place,)), started_ms)


def taker(gpus: int, now_ms: int) -> ev.JobSubmitted:
    group = ReplicaGroup(1, Shape(gpus * 1000, 0, 0))
    return ev.JobSubmitted(JobSpec(JobId("taker"), "r", (group,), now_ms, priority=9))


def victims(state: State, gpus: int, now_ms: int) -> list[str]:
    apply(state, taker(gpus, now_ms), now_ms)
    return sorted(d.job for d in plan(state, now_ms).decisions if isinstance(d, say.Evict))


@pytest.mark.parametrize("newest", range(NODES))
def test_the_newest_of_equal_cost_goes_wherever_it_stands(newest: int) -> None:
    state = cluster(1, root(NODES, self_level=POLICY), nodes=NODES)
    for node in range(NODES):
        service(state, f"s{node}", node, 0, 500 if node == newest else 10 * node)
    assert victims(state, 1, 1000) == [f"s{newest}"]


def test_of_equal_age_the_first_by_name_goes() -> None:
    state = cluster(1, root(NODES, self_level=POLICY), nodes=NODES)
    for node in range(NODES):
        service(state, f"s{NODES - node}", node, 0, 100)
    assert victims(state, 1, 1000) == ["s1"]


def test_of_equal_cost_fewer_jobs_go() -> None:
    state = cluster(2, root(4, self_level=POLICY), nodes=2)
    service(state, "a0", 0, 0, 900)
    service(state, "a1", 0, 1, 900)
    service(state, "whole", 1, 0, 100, gpus=2)
    assert victims(state, 2, 1000) == ["whole"]


@pytest.mark.parametrize("seed", range(30))
def test_who_goes_does_not_depend_on_what_was_asked_before(seed: int) -> None:
    """A3: indexes that were built, outdated and caught up, built now, or built by a restart: one answer."""
    random = Random(seed)
    lived = cluster(4, root(4 * NODES, self_level=POLICY), nodes=NODES)
    spots = [(node, device) for node in range(NODES) for device in range(4)]
    random.shuffle(spots)
    now_ms = 0
    for number, (node, device) in enumerate(spots):
        now_ms += random.choice((0, 0, 50))
        service(lived, f"s{random.randrange(100):02}-{number}", node, device, now_ms)
        if random.random() < 0.3:
            preview(lived, [taker(random.choice((1, 2, 4)), now_ms)], now_ms)
    gone = [job_id for job_id in list(lived.jobs) if random.random() < 0.3]
    for job_id in gone:
        spec, place = lived.jobs[job_id].spec, lived.jobs[job_id].core.places[0]  # type: ignore[union-attr]
        apply(lived, ev.JobEnded(job_id), now_ms)
        preview(lived, [taker(1, now_ms)], now_ms)
        service(lived, spec.id, place.node, place.devices[0], now_ms)
        explain(lived, job_id, now_ms)
    now_ms += 1000
    fresh = restore(snapshot(lived))
    gpus = random.choice((1, 2, 4))
    preview(lived, [taker(gpus, now_ms)], now_ms)
    found = victims(lived, gpus, now_ms)
    assert found == victims(fresh, gpus, now_ms)
    assert len(found) == gpus
    if gpus == 1:
        units = [job.core for job in lived.jobs.values() if job.core is not None]
        left = [JobId(found[0]), *(u.job.id for u in units)]
        assert found[0] == min(left, key=lambda name: (-lived.jobs[name].spec.submitted_ms, name))


def test_nobody_goes_beside_a_core_whose_surplus_is_enough_p8() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(9, 4, Scope.OWN))
    world.run("elastic", "a", 1, 5, min_replicas=3, priority=2)
    world.run("allow", "a", 1, idle=Idle.ALLOW)
    world.run("kept", "a", 2, priority=8)
    world.submit("big", "a", 4, priority=9)
    assert world.plan() == [("Evict", "elastic"), ("Start", "big")]


def test_who_was_protected_is_found_once_the_clock_allows_it() -> None:
    """P11: while `runs` is protected no eviction helps `thirsty`, and no node is looked at; an hour later one is."""
    world = World(nodes=2, gpus=1)
    world.root(2, min_runtime_ms=60 * MINUTE, self_level=self_level(6, 5, Scope.OWN))
    for name in ("runs", "other"):
        world.run(name, "r", 1, cpus=100, priority=1)
    world.submit("thirsty", "r", 1, cpus=64, priority=6)
    assert world.plan(MINUTE) == []
    assert world.plan(60 * MINUTE) == [("Evict", "other"), ("Hold", "thirsty")]


def test_what_no_node_could_hold_is_looked_for_again_after_a_change() -> None:
    """P7: the p9 leaves, and only then an eviction gives so much CPU to who asks for it."""
    world = World(nodes=1, gpus=3)
    world.root(3, self_level=self_level(6, 5, Scope.OWN))
    world.run("high", "r", 1, cpus=100, priority=9)
    world.run("low", "r", 1, cpus=20, priority=1)
    world.submit("thirsty", "r", 1, cpus=120, priority=6)
    assert world.plan() == []
    world.event(ev.JobEnded(JobId("high")))
    world.event(ev.JobCancelled(JobId("thirsty")))
    world.submit("as-thirsty", "r", 1, cpus=121, priority=6)
    assert world.plan() == [("Evict", "low"), ("Hold", "as-thirsty")]
