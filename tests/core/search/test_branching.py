"""The cheapest set on one node where CPU is short or protections bind, and what is found when the effort is used up (P5)."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from quotatree.core import events as ev
from quotatree.core.model.effort import EXACT
from quotatree.core.model.job import JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.unit import eviction_cost
from quotatree.core.search import trial
from tests.core.building import MINUTE, World, self_level


def crowded(random: Random, jobs: int) -> World:
    """One node with jobs that use GPUs, shares of one and CPUs in odd amounts, and came at odd times."""
    world = World(nodes=1, gpus=4)
    world.root(4, self_level=self_level(9, 8))
    for number in range(jobs):
        world.now_ms = random.randrange(100 * MINUTE)
        gpus = random.choice([0, 0, 0.25, 0.25, 0.5])
        world.run(f"v{number:03}", "r", gpus, cpus=random.randrange(1, 120 // jobs), priority=4)
    world.now_ms = 100 * MINUTE
    return world


@pytest.mark.parametrize("seed", range(25))
def test_no_set_of_units_is_cheaper_p5(seed: int) -> None:
    random = Random(seed)
    world = crowded(random, 8)
    cpus, gpus = random.choice([96, 110, 120, 126]), random.choice([0, 0.75, 1, 3])
    node = world.state.nodes[0]
    costs = {unit: eviction_cost(unit, world.now_ms) for unit in node.units}

    def enough(units: tuple[object, ...]) -> bool:
        shares = [share for unit, share in node.units.items() if unit in units]
        free = list(node.free)
        for share in shares:
            for device, milli in share.fractions:
                free[device] += milli
        fits = free.count(1000) >= gpus if gpus >= 1 else max(free) >= gpus * 1000
        return fits and node.free_cpu + sum(share.cpu_milli for share in shares) >= cpus * 1000

    sets = [some for size in range(9) for some in combinations(costs, size) if enough(some)]
    world.submit("big", "r", gpus, cpus=cpus, priority=9)
    made = world.plan()
    taken = {job for what, job in made if what == "Evict"}
    found = sum(cost for unit, cost in costs.items() if unit.job.id in taken)
    assert found == min(sum(costs[unit] for unit in some) for some in sets)


@pytest.mark.parametrize("effort", [0, 1, 10])
def test_with_no_effort_left_the_set_is_still_minimal_p8(
    effort: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "EXACT", effort)
    world = crowded(Random(7), 12)
    need = 120_000 - world.state.nodes[0].free_cpu
    cpus = {job.id: job.core.footprint.cpu_milli for job in world.state.jobs.values() if job.core}
    world.submit("big", "r", 0, cpus=120, priority=9)
    taken = [cpus[job] for what, job in world.plan() if what == "Evict"]  # type: ignore[index]  # a JobId
    assert sum(taken) >= need
    assert all(sum(taken) - one < need for one in taken)


def test_what_may_be_tried_is_counted_over_all_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A3, P5: the effort is of the whole search, so more nodes do not mean more of it."""
    searches: list[trial.Left] = []

    class Watched(trial.Left):
        def __init__(self, left: int) -> None:
            super().__init__(left)
            searches.append(self)

    monkeypatch.setattr(trial, "Left", Watched)
    monkeypatch.setattr(trial, "EXACT", 500)
    world = World(nodes=6, gpus=4)
    world.root(24, self_level=self_level(9, 8))
    random = Random(3)
    for number in range(180):
        stands(world, number, node=number % 6, cpu_milli=random.randrange(3900, 4200))
    world.submit("big", "r", 0, cpus=100, priority=9)
    assert ("Hold", "big") in world.plan()
    assert (
        -30 <= min(effort.left for effort in searches) <= 0
    )  # the last set may be as long as a node has units


def test_few_sets_are_tried_where_devices_and_cpu_are_short_of_alike_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """P5: which device is to become free is settled first; then the cheapest others that are missing are the best ones."""
    efforts: list[trial.Left] = []

    class Watched(trial.Left):
        def __init__(self, left: int) -> None:
            super().__init__(left)
            efforts.append(self)

    monkeypatch.setattr(trial, "Left", Watched)
    world = World(nodes=3, gpus=8)
    world.root(24, self_level=self_level(9, 8))
    for number in range(96):
        shape = Shape(250, 1_000, 0)
        spec = JobSpec(JobId(f"v{number:04}"), "r", (ReplicaGroup(1, shape),), 0, priority=1 + number % 5)
        world.event(ev.JobAdopted(spec, number * 7_919 % 100_000))
    world.now_ms = 100_000
    world.submit("big", "r", 1, cpus=108, priority=9)
    taken = [job for what, job in world.plan() if what == "Evict"]
    assert len(taken) == 12
    assert sum(EXACT - effort.left for effort in efforts) < 300


def test_a_node_may_have_more_units_than_calls_may_nest() -> None:
    world = World(nodes=1, gpus=1)
    world.root(1, self_level=self_level(9, 8))
    for number in range(1_200):
        stands(world, number, node=0, cpu_milli=100)
    world.submit("big", "r", 1, cpus=120, priority=9)
    assert ("Hold", "big") in world.plan()


def stands(world: World, number: int, node: int, cpu_milli: int) -> None:
    shape = Shape(0, cpu_milli, 0)
    spec = JobSpec(JobId(f"v{number:04}"), "r", (ReplicaGroup(1, shape),), 0)
    world.event(ev.JobAdopted(spec, number, places=(Placed(0, node, (), shape),)))
