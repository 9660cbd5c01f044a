"""The oracle against brute force: every subset of the units, every way to place the replicas."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from benchmarks.instances import instance, to_problem
from benchmarks.peers import Room, evict
from exact.problem import (
    WHOLE_GPU,
    Group,
    NodeFree,
    Place,
    Problem,
    Unit,
    places_fit,
    validate,
)
from exact.solve import Solution, SolverMissing, Status, solve
from tests.profiles import by_profile

pytest.importorskip("highspy", reason="the exact optimum needs HiGHS: the extra quotatree[dev]")

SEEDS = range(by_profile(quick=270, deep=1200, long=12_000))


@pytest.mark.parametrize("chunk", range(8))
def test_the_cost_is_that_of_the_cheapest_of_all_subsets(chunk: int) -> None:
    for seed in SEEDS[chunk::8]:
        problem = tiny_problem(seed)
        for extra_spots in (0, 100):  # the first solve sees as little as possible, or everything
            solution = solve(problem, extra_spots=extra_spots)
            assert_same(problem, solution, cheapest_subset(problem, problem.units), f"seed {seed}")


@pytest.mark.parametrize("chunk", range(4))
def test_the_ladder_never_climbs_while_lower_priorities_suffice(chunk: int) -> None:
    for seed in SEEDS[chunk::4]:
        problem = tiny_problem(seed)
        found = None
        for top in range(6):
            found = cheapest_subset(problem, tuple(u for u in problem.units if u.priority <= top))
            if found is not None:
                break
        assert_same(problem, solve(problem, ladder=True), found, f"seed {seed}")


def test_the_random_problems_cover_what_they_should() -> None:
    problems = [tiny_problem(seed) for seed in SEEDS]
    costs = [cheapest_subset(problem, problem.units) for problem in problems]
    assert 0.15 < sum(cost is None for cost in costs) / len(SEEDS) < 0.6
    assert sum(cost is not None and cost > 0 for cost in costs) > 0.3 * len(SEEDS)
    assert any(len(unit.places) > 1 for p in problems for unit in p.units)
    assert any(
        milli < WHOLE_GPU for p in problems for u in p.units for pl in u.places for _, milli in pl.devices
    )
    shapes = [(sum(g.is_fraction for g in p.groups), sum(g.gpus > 0 for g in p.groups)) for p in problems]
    assert {(1, 0), (0, 1), (1, 1), (0, 2), (2, 0)} <= set(shapes)


def test_prices_that_leave_spots_out_do_not_change_the_optimum() -> None:
    for seed in range(12):
        problem = to_problem(instance(seed, gpus=256))
        for ladder in (False, True):
            few, everything = (solve(problem, ladder=ladder, extra_spots=extra) for extra in (0, 10_000))
            assert (few.status, few.cost) == (everything.status, everything.cost), f"seed {seed}"


def test_a_unit_on_several_shared_devices_of_a_node_is_paid_once() -> None:
    shared = Unit("shared", 10, 1, (Place(0, ((0, 500), (1, 500))),))
    beside = tuple(Unit(f"beside-{device}", 1, 1, (Place(0, ((device, 500),)),)) for device in range(2))
    alone = Unit("alone", 15, 1, (Place(1, ((0, 1000), (1, 1000))),))
    problem = Problem((NodeFree((0, 0)), NodeFree((0, 0))), (shared, *beside, alone), (Group(1, 2000),))
    for extra_spots in (0, 1):
        assert solve(problem, extra_spots=extra_spots).units == ("shared", "beside-0", "beside-1")


def test_huge_costs_that_differ_in_the_last_digit_are_told_apart() -> None:
    for seed in range(60):
        random = Random(seed)
        problem = tiny_problem(seed)
        units = tuple(replace(unit, cost=10**10 + random.randint(0, 9)) for unit in problem.units)
        problem = replace(problem, units=units)
        solution = solve(problem)
        assert solution.resolution == 0
        assert_same(problem, solution, cheapest_subset(problem, units), f"seed {seed}")


def test_costs_beyond_the_tolerance_say_so() -> None:
    units = tuple(Unit(f"u{d}", 10**15 + d, 1, (Place(0, ((d, 1000),)),)) for d in range(2))
    solution = solve(Problem((NodeFree((0, 0)),), units, (Group(1, 1000),)))
    assert 0 < solution.resolution <= 10**15 // 10**10
    assert abs(solution.cost - 10**15) <= solution.resolution


def test_nothing_is_evicted_when_no_eviction_helps() -> None:
    # Eight GPUs could be free, four on each node: not a place for one replica of eight.
    units = tuple(Unit(f"u{n}", 1, 1, (Place(n, tuple((d, 1000) for d in range(4))),)) for n in range(2))
    stuck = NodeFree((0,) * 8)
    for groups in ((Group(1, 8000),), (Group(2, 4000), Group(1, 500)), (Group(3, 4000),)):
        assert solve(Problem((stuck, stuck), units, groups)) == Solution(Status.INFEASIBLE, 0, ())
    short_of_quota = Problem((stuck, stuck), units, (Group(1, 4000),), deficit_own=1)
    assert solve(short_of_quota).status is Status.INFEASIBLE
    assert solve(short_of_quota, ladder=True).status is Status.INFEASIBLE


def test_nothing_is_evicted_when_it_fits_already() -> None:
    unit = Unit("u", 0, 1, (Place(0, ((0, 1000),)),))
    problem = Problem((NodeFree((0, 1000)),), (unit,), (Group(1, 1000),))
    for ladder in (False, True):
        solution = solve(problem, ladder=ladder)
        assert (solution.status, solution.cost, solution.units) == (Status.OPTIMAL, 0, ())


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (Problem((NodeFree((0,)),), (), (Group(1, 1500),)), "gpu_milli 1500"),
        (Problem((NodeFree((500,)),), (Unit("a", 1, 1, (Place(0, ((0, 600),)),)),), ()), "over 1000"),
        (Problem((), (Unit("a", 1, 1, ()), Unit("a", 1, 1, ())), ()), "'a' appears twice"),
        (Problem((), (Unit("a", 1, 1, (Place(0, ()),)),), ()), "do not exist"),
        (Problem((NodeFree((-1,)),), (), ()), "node 0: negative"),
    ],
)
def test_a_problem_that_is_no_cluster_is_refused(problem: Problem, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve(problem)


def test_without_highs_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(SolverMissing, match=r"quotatree\[dev\]"):
        solve(Problem((NodeFree((1000,)),), (), (Group(1, 1000),)))


def test_the_peers_rule_is_lawful_and_never_cheaper() -> None:
    """Not a test of the oracle: of the rule that benchmarks compare it with, on the same problems."""
    for seed in SEEDS[::4]:
        problem = tiny_problem(seed)
        room = Room(problem)
        victims = evict(problem, room)
        assert vars(room) == vars(Room(problem)), f"seed {seed}: the room is not as it was"
        cost = cheapest_subset(problem, problem.units)
        if victims is None:
            assert cost is None or len(problem.groups) > 1, f"seed {seed}"
            continue
        assert cost is not None, f"seed {seed}"
        assert sum(unit.cost for unit in victims) >= cost, f"seed {seed}"
        assert can_stand(problem, victims), f"seed {seed}"
        if len(problem.groups) == 1:
            for victim in victims:
                assert not can_stand(problem, [unit for unit in victims if unit != victim]), f"seed {seed}"


def assert_same(problem: Problem, solution: Solution, cost: int | None, hint: str) -> None:
    if cost is None:
        assert solution == Solution(Status.INFEASIBLE, 0, ()), hint
        return
    assert (solution.status, solution.cost) == (Status.OPTIMAL, cost), hint
    chosen = [index for index, unit in enumerate(problem.units) if unit.id in solution.units]
    assert solution.units == tuple(problem.units[index].id for index in chosen), hint
    assert sum(problem.units[index].cost for index in chosen) == cost, hint
    assert places_fit(problem, chosen, solution.hosted), hint
    for index in chosen:
        assert not places_fit(problem, [i for i in chosen if i != index], solution.hosted), hint
    assert can_stand(problem, [problem.units[index] for index in chosen]), hint


def cheapest_subset(problem: Problem, units: tuple[Unit, ...]) -> int | None:
    subsets = (chosen for size in range(len(units) + 1) for chosen in combinations(units, size))
    for chosen in sorted(subsets, key=lambda units: sum(unit.cost for unit in units)):
        if can_stand(problem, chosen):
            return sum(unit.cost for unit in chosen)
    return None


def can_stand(problem: Problem, gone: tuple[Unit, ...] | list[Unit]) -> bool:
    """Whether quota, and some placement of the replicas one after another, allow the preemptor in."""
    if sum(unit.frees_own for unit in gone) < problem.deficit_own:
        return False
    if sum(unit.frees_all for unit in gone) < problem.deficit_all:
        return False
    devices = [list(node.devices) for node in problem.nodes]
    others = [[node.cpu_milli, node.memory_mib] for node in problem.nodes]
    for unit in gone:
        for place in unit.places:
            others[place.node][0] += place.cpu_milli
            others[place.node][1] += place.memory_mib
            for device, milli in place.devices:
                devices[place.node][device] += milli
    return place_all(devices, others, [group for group in problem.groups for _ in range(group.replicas)])


def place_all(devices: list[list[int]], others: list[list[int]], replicas: list[Group]) -> bool:
    if not replicas:
        return True
    group = replicas[0]
    for node, free in enumerate(devices):
        if others[node][0] < group.cpu_milli or others[node][1] < group.memory_mib:
            continue
        choices: list[tuple[int, ...]]
        if group.gpus:
            whole = [device for device, milli in enumerate(free) if milli == WHOLE_GPU]
            choices = list(combinations(whole, group.gpus))
        elif group.gpu_milli:
            choices = [(device,) for device, milli in enumerate(free) if milli >= group.gpu_milli]
        else:
            choices = [()]
        each = WHOLE_GPU if group.gpus else group.gpu_milli
        for choice in choices:
            after = [list(row) for row in devices]
            for device in choice:
                after[node][device] -= each
            left = [list(row) for row in others]
            left[node][0] -= group.cpu_milli
            left[node][1] -= group.memory_mib
            if place_all(after, left, replicas[1:]):
                return True
    return False


def tiny_problem(seed: int) -> Problem:
    """Up to three nodes of up to four devices with up to eight units, crowded enough that something must go."""
    random = Random(seed)
    free = [[WHOLE_GPU] * random.randint(1, 4) for _ in range(random.randint(1, 3))]
    cpu_and_memory_bind = random.random() < 0.4
    room = [[random.choice((0, 0, 2000)), random.choice((0, 0, 2048))] for _ in free]
    for devices in free:
        for device in range(len(devices)):
            if random.random() < 0.1:
                devices[device] -= random.choice((200, 500, 1000))  # somebody who may not be evicted
    units = []
    for number in range(random.randint(0, 8)):
        places = []
        for node in sorted(random.sample(range(len(free)), random.choice((1, 1, 1, len(free))))):
            taken = _take(random, free[node])
            cpu_milli, memory_mib = random.randint(0, 3) * 1000, random.randint(0, 3) * 1024
            if taken or cpu_and_memory_bind:
                places.append(Place(node, taken, cpu_milli, memory_mib))
        own = random.random() < 0.6
        frees = sum(milli for place in places for _, milli in place.devices)
        units.append(
            Unit(f"u{number}", random.randint(0, 30), random.randint(1, 5), tuple(places), frees * own, frees)
        )
    plenty = 0 if cpu_and_memory_bind else 10**6
    groups = []
    for _ in range(random.choice((1, 1, 2))):
        gpu_milli = random.choice((0, 200, 300, 400, 600, 1000, 1000, 2000, 3000))
        groups.append(
            Group(random.randint(1, 3), gpu_milli, random.randint(0, 2) * 1000, random.randint(0, 2) * 1024)
        )
    problem = Problem(
        nodes=tuple(
            NodeFree(tuple(d), cpu + plenty, mem + plenty) for d, (cpu, mem) in zip(free, room, strict=True)
        ),
        units=tuple(units),
        groups=tuple(groups),
        deficit_own=random.choice((0, 0, 300, 1000, 2000)),
        deficit_all=random.choice((0, 0, 1000, 2500)),
    )
    validate(problem)
    return problem


def _take(random: Random, free: list[int]) -> tuple[tuple[int, int], ...]:
    """Whole devices, or a part of one, or a bit of several; `free` shrinks accordingly."""
    kind = random.choice(("whole", "whole", "fraction", "mixed"))
    taken = []
    for device in random.sample(range(len(free)), random.randint(1, len(free))):
        milli = WHOLE_GPU if kind == "whole" else random.choice((200, 300, 400, 500, 600))
        if milli <= free[device]:
            free[device] -= milli
            taken.append((device, milli))
            if kind == "fraction":
                break
    return tuple(taken)
