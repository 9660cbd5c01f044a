"""What nobody's leaving could make fit is refused at the door (S11), and a grace that is too long (P14)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.state import Settings, State
from tests.core.building import World, cluster, root, submit


def test_a_gang_that_no_nodes_hold_at_once_is_refused_s11() -> None:
    world = World(nodes=2)
    world.root(16)
    with pytest.raises(Refused, match="hold 2 replicas"):
        world.submit("gang", "r", 5, 3)


def refusal(world: World, shape: Shape) -> tuple[str, object, str]:
    """Field, value and message of the refusal of a job of one replica of this shape."""
    with pytest.raises(Refused) as refused:
        world.event(ev.JobSubmitted(JobSpec(JobId("job"), "r", (ReplicaGroup(1, shape),), 0)))
    assert refused.value.rule == "S11"
    return refused.value.field, refused.value.value, refused.value.message


def three_nodes() -> World:
    """small: 8 GPU and 512 GiB; large: 4 GPU and 2 TiB; both in rack x. other: as small, with much CPU, in rack y."""
    world = World(nodes=0)
    world.event(ev.PoolDeclared("default", mixed=True))
    for name, model, gpus, cpu, gib, rack in (
        ("small", "A", 8, 64, 512, "x"), ("large", "A", 4, 64, 2048, "x"), ("other", "B", 8, 256, 512, "y"),
    ):  # fmt: skip
        spec = NodeSpec(name, model=model, gpus=gpus, cpu_milli=cpu * 1000, memory_mib=gib * 1024)
        world.event(ev.NodeJoined(replace(spec, labels=(("rack", rack),))))
    world.root(20)
    return world


@pytest.mark.parametrize(
    ("shape", "field", "value", "said"),
    [
        (Shape(8000, 0, 600 * 1024), "memory", "600 GiB", "other comes nearest, with 512 GiB"),
        (Shape(9000, 0, 0), "gpu", "9 GPU", "other comes nearest, with 8 GPU"),
        (Shape(1000, 300_000, 0), "cpu", "300 CPU", "other comes nearest, with 256 CPU"),
        (Shape(1000, 300_000, 0, ("A",)), "cpu", "300 CPU", "large comes nearest, with 64 CPU"),
        (Shape(9000, 300_000, 0, ("B",)), "gpu", "9 GPU and 300 CPU", "other comes nearest, with 8 GPU and 256 CPU"),
        (Shape(1000, 0, 0, ("C",)), "models", ["C"], "the tree of r has only A, B"),
        (Shape(1000, 0, 0, ("A",), (("rack", "y"),)), "labels", {"rack": "y"}, "no node of the tree of r has this; rack is x"),
        (Shape(1000, 0, 0, (), (("zone", "1"),)), "labels", {"zone": "1"}, "none has the label zone"),
    ],
)  # fmt: skip
def test_a_refusal_names_what_binds_and_the_node_that_comes_nearest_s11(
    shape: Shape, field: str, value: object, said: str
) -> None:
    found = refusal(three_nodes(), shape)
    assert found[:2] == (field, value)
    assert said in found[2]


def test_no_job_is_adopted_on_a_device_that_a_replica_is_still_leaving_r3() -> None:
    world = World(gpus=2)
    world.root(2)
    world.submit("old", "r", 1)
    world.plan()
    world.event(ev.JobCancelled(JobId("old")))
    there = Placed(0, 0, (0,), Shape(1000, 0, 0))
    with pytest.raises(Refused, match="taken already"):
        world.run("new", "r", 1, places=(there,))
    world.event(ev.JobLeft(JobId("old")))
    assert world.run("new", "r", 1, places=(there,)).running


def test_a_grace_that_would_keep_others_waiting_for_too_long_is_refused_p14() -> None:
    state = State(Settings(longest_grace_ms=3_600_000))
    apply(state, ev.NodeJoined(NodeSpec("n0", gpus=8)), 0)
    apply(state, ev.QuotaCreated(root(8)), 0)
    submit(state, "patient", "r", (1, 1000), grace_ms=3_600_000)
    with pytest.raises(Refused, match="at most 3600 s") as refused:
        submit(state, "stubborn", "r", (1, 1000), grace_ms=3_600_001)
    assert (refused.value.field, refused.value.rule) == ("grace", "P14")
    waiting = submit(state, "waiting", "r", (8, 1000))
    with pytest.raises(Refused, match="longest_grace"):
        apply(state, ev.JobAltered(replace(waiting.spec, grace_ms=10**12)), 0)
    assert waiting.spec.grace_ms == 30_000


def test_any_grace_is_taken_where_none_is_the_longest_p14() -> None:
    assert submit(cluster(8), "stubborn", "r", (1, 1000), grace_ms=10**12).spec.grace_ms == 10**12
