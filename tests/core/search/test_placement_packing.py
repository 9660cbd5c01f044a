"""Replicas of several shapes find places whenever there are any, and nobody is evicted for them then (P4, P7)."""

from __future__ import annotations

from itertools import product
from random import Random

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import JobId, JobSpec, Phase, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Scope
from quotatree.core.search.placement import find_places
from quotatree.core.state import State
from tests.core.building import World, root, self_level
from tests.profiles import by_profile

CLUSTERS = by_profile(quick=100, deep=600, long=20_000)
ENOUGH = 20


def test_a_gang_of_two_shapes_that_fits_on_free_nodes_evicts_nobody_p4() -> None:
    """Filled best first, the large replicas take the nodes that only they fit on exactly, and the small ones want more CPU
    than the node has that is left: one of the large ones must stand where it fits less well."""
    world = World(nodes=0)
    for name, gpus, cpu_milli in (
        ("n0", 4, 128_000),
        ("n1", 4, 128_000),
        ("n2", 6, 128_000),
        ("n3", 5, 8_000),
    ):
        world.event(ev.NodeJoined(NodeSpec(name, gpus=gpus, cpu_milli=cpu_milli)))
    world.root(17)
    world.quota("a", 12, self_level=self_level(5, 4, Scope.LEVEL))
    world.quota("b", 5)
    world.run("own", "a", 1, priority=9, places=(Placed(0, 2, (0,), Shape(1000, 0, 0)),))
    world.run("three", "b", 3, priority=2, places=(Placed(0, 2, (1, 2, 3), Shape(3000, 0, 0)),))
    world.run("two", "b", 2, priority=1, places=(Placed(0, 2, (4, 5), Shape(2000, 0, 0)),))
    groups = (ReplicaGroup(2, Shape(4000, 0, 0)), ReplicaGroup(3, Shape(700, 3000, 0)))
    world.event(ev.JobSubmitted(JobSpec(JobId("gang"), "a", groups, 1, priority=8)))
    assert world.plan() == [("Start", "gang")]
    assert world.state.jobs[JobId("two")].phase is Phase.RUNNING


def test_places_are_found_whenever_there_are_any() -> None:
    """P7: beside every assignment of replicas to nodes, tried one by one."""
    found = missed = 0
    for seed in range(CLUSTERS):
        random = Random(f"packing {seed}")
        state = State()
        for number in range(random.randint(2, 3)):
            size = NodeSpec(f"n{number}", gpus=random.randint(1, 4), cpu_milli=random.randint(1, 9) * 1000)
            apply(state, ev.NodeJoined(size), 0)
        apply(state, ev.QuotaCreated(root(sum(node.spec.gpus for node in state.nodes))), 0)
        shapes = [
            Shape(random.choice((0, 300, 500, 700, 1000, 2000, 3000)), random.randint(1, 4) * 1000, 0)
            for _ in range(2)
        ]
        wanted = [(i, random.choice(shapes)) for i in range(random.randint(2, 5))]
        places = find_places(state, state.roots[0], wanted, now=True)
        if places is None:
            missed += 1
            assert not _any_assignment(state, wanted), seed
        else:
            found += 1
            assert sorted((place.replica, place.shape) for place in places) == sorted(wanted)
    assert min(found, missed) >= ENOUGH


def test_what_is_looked_at_is_counted() -> None:
    """A4: a gang for which each shape alone has room, but not both, ends in a bounded search on many nodes."""
    state = State()
    for number in range(40):
        apply(state, ev.NodeJoined(NodeSpec(f"n{number}", gpus=3, cpu_milli=1000 * (number + 10))), 0)
    apply(state, ev.QuotaCreated(root(120)), 0)
    fits = [(i, Shape(3000, 0, 0)) for i in range(16)] + [(i, Shape(2000, 0, 0)) for i in range(16, 32)]
    assert find_places(state, state.roots[0], fits, now=True) is not None
    too_many = [(i, Shape(3000, 0, 0)) for i in range(16)] + [(i, Shape(2000, 0, 0)) for i in range(16, 41)]
    assert find_places(state, state.roots[0], too_many, now=True) is None
    late = [(i, Shape(3000, 20_000, 0)) for i in range(16)] + [
        (i, Shape(2000, 34_500, 0)) for i in range(16, 32)
    ]
    assert find_places(state, state.roots[0], late, now=True) is None


def _any_assignment(state: State, wanted: list[tuple[int, Shape]]) -> bool:
    """Return whether some assignment of replicas to nodes, and of fractions to devices, gives each what it wants."""
    for chosen in product(state.nodes, repeat=len(wanted)):
        by_node = {
            node: [shape for on, (_, shape) in zip(chosen, wanted, strict=True) if on is node]
            for node in chosen
        }
        if all(
            sum(shape.cpu_milli for shape in shapes) <= node.spec.cpu_milli
            and _devices_hold([shape.gpu_milli for shape in shapes], [1000] * node.spec.gpus)
            for node, shapes in by_node.items()
        ):
            return True
    return False


def _devices_hold(sizes: list[int], devices: list[int]) -> bool:
    """Return whether devices with this much free hold replicas of these sizes, in milli-GPU; which whole ones does not matter."""
    if not sizes:
        return True
    size, *rest = sorted(sizes, reverse=True)
    if size >= 1000:
        free = [device for device in devices if device == 1000]
        taken = size // 1000
        return len(free) >= taken and _devices_hold(rest, [*free[taken:], *(d for d in devices if d < 1000)])
    if not size:
        return True
    return any(
        _devices_hold(rest, [*devices[:i], device - size, *devices[i + 1 :]])
        for i, device in enumerate(devices)
        if device >= size
    )
