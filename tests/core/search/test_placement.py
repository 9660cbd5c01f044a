"""Groups of several shapes find their places, and room is counted again when more is asked for (R3, P7)."""

from __future__ import annotations

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.node import NodeState
from quotatree.core.planning.plan import plan
from tests.core.building import cluster, root, submit


def test_a_second_group_may_stand_beside_the_first() -> None:
    state = cluster(2, nodes=2)
    job = submit(state, "j", "r", (1, 2000), (1, 1000))
    plan(state, 0)
    assert job.phase is Phase.RUNNING


def test_the_smaller_group_is_placed_first_where_only_that_fits() -> None:
    racks = ((("rack", "x"),), (("rack", "y"),))
    state = cluster(2, nodes=2, labels=racks)
    bound = Shape(1000, 0, 0, (), (("rack", "x"),))
    groups = (ReplicaGroup(1, Shape(2000, 0, 0)), ReplicaGroup(1, bound))
    apply(state, ev.JobSubmitted(JobSpec(JobId("j"), "r", groups, 0)), 0)
    plan(state, 0)
    assert state.jobs[JobId("j")].phase is Phase.RUNNING


def test_room_is_counted_again_when_more_of_it_is_asked_for() -> None:
    """S0: a small gang has seen part of the nodes; a larger one of the same shape may still be head."""
    state = cluster(1, root(4), nodes=4)
    for name, replicas in (("two", 2), ("four", 4), ("five", 5)):
        job = JobSpec(JobId(name), "r", (ReplicaGroup(replicas, Shape(1000, 0, 0)),), 0)
        if name == "five":
            with pytest.raises(Refused):
                apply(state, ev.JobSubmitted(job), 0)
            continue
        apply(state, ev.JobSubmitted(job), 0)
        plan(state, 0)
        assert state.jobs[job.id].phase is Phase.RUNNING
        apply(state, ev.JobEnded(job.id), 0)
    apply(state, ev.NodeChanged("n3", NodeState.CORDONED), 1)
    again = submit(state, "four again", "r", (4, 1000), now_ms=1)
    small = submit(state, "small", "r", (3, 1000), now_ms=2)
    plan(state, 2)
    assert (again.phase, small.phase) == (Phase.WAITING, Phase.RUNNING)
