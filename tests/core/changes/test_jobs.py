"""What happens to jobs: a stop, an end in the grace, and the name that is free afterwards (P9)."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import Claim, Idle, JobId, Phase
from quotatree.core.model.policy import ChildLevel, Module, Priorities
from quotatree.core.planning.plan import plan
from tests.core.building import World, child, cluster, root, submit


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
