"""What happens to jobs: a stop, an end in the grace, and the name that is free afterwards (P9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import Claim, Idle, JobId, Phase, Placed, ReplicaGroup, Shape
from quotatree.core.model.policy import ChildLevel, Module, Priorities
from quotatree.core.planning.plan import plan
from tests.core.building import World, child, cluster, root, submit

ONE_GPU = Shape(1000, 0, 0)


def test_a_job_stopped_while_idle_waits_as_regular_when_resubmitted() -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 1000), idle=Idle.ONLY)
    plan(state, 0)
    apply(state, ev.JobEnded(job.id, Phase.STOPPED), 1)
    apply(state, ev.JobResubmitted(job.id), 2)
    assert job.claim is Claim.REGULAR


def test_a_victim_that_ends_during_its_grace_does_not_run_again() -> None:
    below = ChildLevel(Priorities(1, 3), frozenset(Module))
    state = cluster(8, root(8, child_level=below), child("r.a", 8))
    submit(state, "victim", "r.a", (1, 8000))
    plan(state, 0)
    submit(state, "boss", "r", (1, 8000))
    made = plan(state, 1_000)
    assert [d.job for d in made.decisions if isinstance(d, say.Evict)] == ["victim"]
    apply(state, ev.JobEnded(JobId("victim")), 2_000)
    assert state.jobs[JobId("victim")].phase is Phase.SUCCEEDED
    made = plan(state, 2_000)
    assert [d.job for d in made.decisions if isinstance(d, say.Start)] == ["boss"]
    apply(state, ev.JobEnded(JobId("boss")), 3_000)
    assert not plan(state, 3_000).decisions
    apply(state, ev.JobForgotten(JobId("victim")), 3_000)
    assert JobId("victim") not in state.jobs


def test_a_name_is_free_again_when_its_job_has_left_p9() -> None:
    world = World()
    world.root(8)
    job = world.run("job", "r", 8)
    world.event(ev.JobCancelled(job.id))
    with pytest.raises(Refused, match="still leaving"):
        world.submit("job", "r", 8)
    world.event(ev.JobLeft(job.id))
    world.submit("job", "r", 8)
    assert world.plan() == [("Start", "job")]


def test_a_replica_that_is_said_to_have_left_twice_has_left_once_p9() -> None:
    world = World()
    world.root(8)
    gang = world.run("gang", "r", 2, 2)
    world.event(ev.JobCancelled(gang.id))
    world.event(ev.JobLeft(gang.id, (0, 0, 7)))
    assert sorted(gang.leaving) == [1]
    assert sum(world.state.nodes[0].leaving) == 2000
    world.event(ev.JobLeft(gang.id, (1, 0, 1)))
    assert not gang.leaving
    assert sum(world.state.nodes[0].leaving) == 0


@pytest.mark.parametrize(
    ("places", "why"),
    [
        ((Placed(0, 7, (0,), ONE_GPU),), "no such node"),
        ((Placed(0, -1, (0,), ONE_GPU),), "no such node"),
        ((Placed(1, 0, (0,), ONE_GPU),), "a place for each"),
        ((Placed(0, 0, (0,), ONE_GPU), Placed(5, 0, (1,), ONE_GPU)), "has 1 replicas"),
        ((Placed(0, 0, (0,), Shape(500, 0, 0)),), "another size"),
        ((Placed(0, 0, (0, 0), ONE_GPU),), "wrong number of devices"),
    ],
)
def test_a_running_job_on_places_it_cannot_have_is_refused_r3(places: tuple[Placed, ...], why: str) -> None:
    world = World()
    world.root(8)
    with pytest.raises(Refused, match=why):
        world.run("job", "r", 1, places=places)
    assert not world.state.jobs


def test_a_running_job_is_refused_where_the_cpu_is_taken_r3() -> None:
    world = World()
    world.root(8)
    world.run("first", "r", 1, cpus=127)
    with pytest.raises(Refused, match="CPU or memory"):
        world.run("second", "r", 1, cpus=2, places=(Placed(0, 0, (7,), Shape(1000, 2000, 0)),))


def test_a_job_is_not_adopted_with_more_replicas_than_it_has_p12() -> None:
    world = World()
    world.root(8)
    spec = replace(world.spec("gang", "r", 1), groups=(ReplicaGroup(1, ONE_GPU), ReplicaGroup(1, ONE_GPU)))
    world.event(ev.JobAdopted(spec, 0, replicas=9))
    assert world.state.jobs[JobId("gang")].core_indexes == (0, 1)


@pytest.mark.parametrize(
    ("said_ms", "lost_s"),
    [(None, 0), (90_000, 10), (500_000, 0), (60_000, 40), (59_999, 40), (-1, 40)],
    ids=["just now", "a while ago", "in the future", "at the start of the run", "before it", "long before"],
)
def test_a_checkpoint_is_believed_within_its_run_and_never_from_the_future_p6(
    said_ms: int | None, lost_s: int
) -> None:
    state = cluster(8)
    job = submit(state, "train", "r", (1, 1000))
    plan(state, 0)
    apply(state, ev.JobStarted(job.id, job.run), 60_000)
    apply(state, ev.JobCheckpointed(job.id, said_ms), 100_000)
    assert job.core is not None
    assert job.core.lost_work(160_000) == (40 + 60 + lost_s) * 1000 * 1000
