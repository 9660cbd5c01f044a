"""Victims of a job with groups of several shapes, which are sought one after the other (P4, P7)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import cluster, root, self_level, submit


def test_a_smaller_group_that_only_one_node_suits_is_placed_before_a_larger_one() -> None:
    """I3: on the free node the larger group would stand in the way of the smaller one; the idle borrower's node does for it."""
    state = cluster(4, nodes=2, labels=((), (("rack", "x"),)))
    run(state, "idle", 1, Placed(0, 0, (0, 1, 2, 3), Shape(4000, 0, 0)), idle=Idle.ONLY)
    groups = (ReplicaGroup(1, Shape(4000, 0, 0)), ReplicaGroup(1, Shape(1000, 0, 0, (), (("rack", "x"),))))
    apply(state, ev.JobSubmitted(JobSpec(JobId("waits"), "r", groups, 1)), 1)
    assert taken(plan(state, 1)) == ["idle"]
    assert not plan(state, 1).decisions


def test_a_core_whose_other_replica_is_gone_already_frees_less_than_both() -> None:
    """P7: a replica of `elastic` goes for a place. Its core frees one GPU more then, not two: `other` must go as well."""
    state = cluster(4, root(9, self_level=self_level(6, 5)), nodes=3)
    one = Shape(1000, 0, 0)
    run(state, "elastic", 1, Placed(0, 1, (0,), one), Placed(1, 0, (0,), one), min_replicas=1)
    run(state, "other", 5, Placed(0, 1, (1,), one))
    submit(state, "waits", "r", (2, 4000), (1, 500), now_ms=1, priority=9)
    assert sorted(taken(plan(state, 1))) == ["elastic", "other"]
    assert not plan(state, 1).decisions


def test_a_lower_priority_is_enough_where_shapes_are_packed_without_it() -> None:
    """P5, P7, ADR 0046: without `low` all fit, if one of the large replicas stands where it fits less well. Filled in order they do
    not, with whatever victims."""
    state = State()
    for name, gpus, cpus in (("n0", 4, 128), ("n1", 4, 128), ("n2", 6, 128), ("n3", 5, 8)):
        apply(state, ev.NodeJoined(NodeSpec(name, gpus=gpus, cpu_milli=cpus * 1000)), 0)
    apply(state, ev.QuotaCreated(root(19, self_level=self_level(8, 4))), 0)
    run(state, "own", 9, Placed(0, 2, (0,), Shape(1000, 0, 0)))
    run(state, "three", 2, Placed(0, 2, (1, 2, 3), Shape(3000, 0, 0)))
    run(state, "two", 2, Placed(0, 2, (4, 5), Shape(2000, 0, 0)))
    run(state, "low", 1, Placed(0, 0, (0, 1, 2, 3), Shape(4000, 0, 0)))
    groups = (ReplicaGroup(2, Shape(4000, 0, 0)), ReplicaGroup(3, Shape(700, 3000, 0)))
    apply(state, ev.JobSubmitted(JobSpec(JobId("gang"), "r", groups, 1, priority=8)), 1)
    assert taken(plan(state, 1)) == ["low"]


def run(state: State, name: str, priority: int, *places: Placed, **fields: object) -> None:
    """A job that runs on these places, all of one shape."""
    groups = (ReplicaGroup(len(places), places[0].shape),)
    spec = JobSpec(JobId(name), "r", groups, 0, priority=priority, **fields)  # type: ignore[arg-type]
    apply(state, ev.JobAdopted(spec, 0, places=places, idle=spec.idle is Idle.ONLY), 0)


def taken(made: say.Plan) -> list[JobId]:
    return [d.job for d in made.decisions if isinstance(d, say.Evict)]
