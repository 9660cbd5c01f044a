"""A new index looks at few nodes, and finds what one that looks at all of them would find (A4, R3)."""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.planning.plan import plan
from quotatree.core.search.free_index import free_index, room_of
from quotatree.core.state import State
from tests.core.building import cluster, root, submit
from tests.property.walk import begin, step

POOLS = frozenset({"default"})


def test_every_node_with_room_is_found_whatever_has_happened() -> None:
    """Along random walks: as many replicas fit by the index as fit on the nodes, one by one."""
    for seed in range(12):
        random = Random(seed)
        walk = begin(random)
        for _ in range(8):
            step(random, walk, check=False)
            for top in walk.state.roots:
                compare(walk.state, top.id, some_shape(random))


def some_shape(random: Random) -> Shape:
    gpu_milli = random.choice([0, 250, 500, 999, 1000, 2000, 4000])
    return Shape(gpu_milli, random.choice([0, 1, 4000, 64_000]), random.choice([0, 1, 65_536]))


def compare(state: State, name: str, shape: Shape) -> None:
    top = state.quotas[name]  # type: ignore[index]  # a QuotaId, read back from the state
    pools = {pool for pool, _ in top.spec.draws}
    for now in (True, False):
        fits = [n.slots(shape, now) if n.spec.pool in pools and n.suits(shape) else 0 for n in state.nodes]
        assert free_index(state, shape, top, now).slots == fits


def test_nodes_that_are_full_are_not_looked_at() -> None:
    state = cluster(2, root(6), nodes=3)
    submit(state, "first", "r", (1, 2000))
    plan(state, 0)
    assert [node.index for node in room_of(state, POOLS).nodes_for(Shape(1000, 0, 0))] == [1, 2]


@pytest.mark.parametrize(
    ("shape", "looked_at"),
    [
        (Shape(1000, 4000, 0), 2),
        (Shape(2000, 4000, 0), 1),
        (Shape(2000, 9000, 0), 0),  # nine CPUs are free only beside a single GPU
        (Shape(1000, 9000, 0), 1),
        (Shape(500, 9001, 0), 0),
        (Shape(3000, 0, 0), 0),
    ],
)
def test_no_node_is_looked_at_for_more_than_any_has(shape: Shape, looked_at: int) -> None:
    state = State()
    apply(state, ev.NodeJoined(NodeSpec("wide", gpus=2, cpu_milli=4000)), 0)
    apply(state, ev.NodeJoined(NodeSpec("tall", gpus=1, cpu_milli=9000)), 0)
    assert len(room_of(state, POOLS).nodes_for(shape)) == looked_at


def test_what_comes_free_is_found_by_who_did_not_fit_before() -> None:
    state = cluster(2)
    group = ReplicaGroup(1, Shape(1000, 127_000, 0))
    apply(state, ev.JobSubmitted(JobSpec(JobId("thirsty"), "r", (group,), 0)), 0)
    plan(state, 0)
    shape = Shape(1000, 2000, 0)
    top = state.roots[0]
    assert free_index(state, shape, top, False).total == 0
    apply(state, ev.JobEnded(JobId("thirsty")), 1)
    assert free_index(state, shape, top, False).total == 2
