"""Which set of units is provably the cheapest to evict? A mixed integer program, solved by HiGHS.

The model. x[u] says that unit u goes. A group of whole GPUs has y[n] replicas on node n, and takes devices that are
entirely free once everybody on them has gone; a fraction has z[n, d] replicas on device d. CPU and memory of each
node and the two quota deficits are rows over the same x. Minimise the sum of cost[u] * x[u].

How it stays small. Every spot (a node, or a device for fractions) gets a *price*: what hosting a replica there costs
at least, a unit's cost being divided among the most spots it could serve. The first solve sees the cheapest spots
only. Its cost bounds the optimum from above, the prices bound every set that uses a spot from below, and spots whose
bound is not under that cost cannot improve it. If the first solve saw all others, it is the optimum; else a second
one that sees them is.

Exactness. Answers are checked in integer arithmetic and cost is summed in integers; only "no cheaper set exists"
rests on floating point. HiGHS runs with both MIP gaps at 0 and objective coefficients of at most 10^6, so it may miss
a set only if that is cheaper by less than `TOLERANCE` of 10^6, that is 10^-11 of the dearest unit looked at.
Costs are divided by their greatest common divisor first, so the result is exact below 10^11 times that divisor;
beyond, `Solution.resolution` says how much cheaper an overlooked set could be. Among sets of equal cost any may be
returned, but without units that the replicas, placed as returned, do not need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import gcd, inf
from typing import Any, Final

from exact.problem import WHOLE_GPU, Cluster, Hosted, Problem, Unit, places_fit, validate
from exact.spots import Spot, could_ever_fit, spots_of, spots_under

EXTRA_SPOTS: Final = 24
"""How many spots the first solve sees beyond the number of replicas."""
LARGEST_COEFFICIENT: Final = 1_000_000
TOLERANCE: Final = 1e-5
"""In units of the scaled objective: ten times HiGHS's own feasibility tolerance."""


class Status(StrEnum):
    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, slots=True)
class Solution:
    """The cheapest set of units, by id in the problem's order, and where the replicas stand once they are gone."""

    status: Status
    cost: int
    units: tuple[str, ...]
    hosted: tuple[Hosted, ...] = ()
    resolution: int = 0
    """A set cheaper by up to this much could have been overlooked; 0: none."""


class SolverMissing(ImportError):
    """HiGHS, an optional dependency, is not installed."""


class SolverFailed(RuntimeError):
    """HiGHS ended without a proven answer, or with one that integer arithmetic refutes."""


def solve(problem: Problem, *, ladder: bool = False, extra_spots: int = EXTRA_SPOTS) -> Solution:
    """The cheapest set of units whose eviction lets the preemptor in.

    With `ladder`, units above the lowest sufficient priority are never evicted, whatever the cost (P5).
    `extra_spots` changes how long it takes, never the cost.
    """
    validate(problem)
    rungs: list[tuple[Unit, ...]] = [problem.units]
    if ladder:
        priorities = sorted({unit.priority for unit in problem.units})
        rungs = [(), *(tuple(u for u in problem.units if u.priority <= top) for top in priorities)]
    for units in rungs:
        solution = _optimum(replace(problem, units=units), extra_spots)
        if solution is not None:
            return solution
    return Solution(Status.INFEASIBLE, 0, ())


def _optimum(problem: Problem, extra_spots: int) -> Solution | None:
    cluster = Cluster(problem)
    spots = [spots_of(cluster, group) for group in problem.groups]
    if not could_ever_fit(problem, spots):
        return None
    widths = [group.replicas + extra_spots for group in problem.groups]
    dearest: int | None = None
    while True:
        seen = [group_spots[:width] for group_spots, width in zip(spots, widths, strict=True)]
        solution = _solve_on(cluster, seen, dearest)
        if solution is not None:
            wanted = [
                spots_under(solution.cost, group.replicas, group_spots)
                for group, group_spots in zip(problem.groups, spots, strict=True)
            ]
            if all(want <= width for want, width in zip(wanted, widths, strict=True)):
                return solution
            dearest = solution.cost
            widths = [max(sizes) for sizes in zip(widths, wanted, strict=True)]
        elif dearest is not None:
            raise SolverFailed(f"HiGHS found a set of cost {dearest}, and none when it saw more")
        elif seen == spots:
            return None
        else:
            widths = [4 * width for width in widths]


def _solve_on(cluster: Cluster, spots: list[list[Spot]], dearest: int | None) -> Solution | None:
    """The optimum with replicas on these spots only and no unit dearer than `dearest`; None if there is none."""
    problem = cluster.problem
    model = _Model()
    hosted: list[tuple[int, Hosted]] = []
    on_node: dict[int, list[tuple[int, Hosted]]] = {}
    nodes = {spot.node for group_spots in spots for spot in group_spots}
    units = [i for i in _units_in_play(problem, nodes) if dearest is None or problem.units[i].cost <= dearest]
    weights, resolution = _weights([problem.units[index].cost for index in units])
    x = {index: model.column(weight) for index, weight in zip(units, weights, strict=True)}
    for number, group_spots in enumerate(spots):
        columns = []
        for spot in group_spots:
            columns.append(model.column(0, len(spot.prices)))
            stand = (columns[-1], Hosted(number, spot.node, len(spot.prices), spot.device))
            hosted.append(stand)
            on_node.setdefault(spot.node, []).append(stand)
        replicas = problem.groups[number].replicas
        model.row([(column, 1) for column in columns], at_least=replicas, at_most=replicas)
    for node, stands in sorted(on_node.items()):
        _add_node(model, cluster, node, stands, x)
    for deficit, frees in (
        (problem.deficit_own, [(x[index], problem.units[index].frees_own) for index in units]),
        (problem.deficit_all, [(x[index], problem.units[index].frees_all) for index in units]),
    ):
        if deficit > 0:
            model.row([(column, min(deficit, freed)) for column, freed in frees if freed], at_least=deficit)
    values = model.run()
    if values is None:
        return None
    chosen = [index for index in units if values[x[index]]]
    standing = [replace(stand, replicas=values[column]) for column, stand in hosted if values[column]]
    return _checked(problem, chosen, standing, resolution)


def _units_in_play(problem: Problem, nodes: set[int]) -> list[int]:
    """Indexes of the units on these nodes, and of the cheapest others that could cover the deficits."""
    inside: list[int] = []
    outside: dict[tuple[int, int], list[int]] = {}
    for index, unit in enumerate(problem.units):
        frees = min(unit.frees_own, problem.deficit_own), min(unit.frees_all, problem.deficit_all)
        if any(place.node in nodes for place in unit.places):
            inside.append(index)
        elif max(frees) > 0:
            outside.setdefault(frees, []).append(index)
    for (own, above), alike in outside.items():
        short = (problem.deficit_own, own), (problem.deficit_all, above)
        enough = max(-(-deficit // each) for deficit, each in short if each > 0)
        inside += sorted(alike, key=lambda index: problem.units[index].cost)[:enough]
    return sorted(inside)


def _weights(costs: list[int]) -> tuple[list[float], int]:
    """Objective coefficients for these costs, and the `Solution.resolution` that results from them."""
    divisor = gcd(*costs) or 1
    largest = max(costs, default=0) // divisor
    if largest <= LARGEST_COEFFICIENT:
        return [float(cost // divisor) for cost in costs], 0
    factor = LARGEST_COEFFICIENT / largest
    return [cost // divisor * factor for cost in costs], int(TOLERANCE / factor) * divisor


def _add_node(
    model: _Model, cluster: Cluster, node: int, stands: list[tuple[int, Hosted]], x: dict[int, int]
) -> None:
    """Add the rows of one node: devices, CPU and memory for the replicas that might stand there."""
    groups = cluster.problem.groups
    free = cluster.problem.nodes[node]
    whole = [(column, groups[s.group].gpus, s.replicas) for column, s in stands if groups[s.group].gpus]
    fractions: dict[int, list[tuple[int, float]]] = {}
    for column, stand in stands:
        if stand.device is not None:
            fractions.setdefault(stand.device, []).append((column, groups[stand.group].gpu_milli))
    for_whole: list[tuple[int, float]] = [(column, gpus) for column, gpus, _ in whole]
    free_already = 0
    if whole:
        _add_cuts(model, cluster.clearable(node), whole, x)
        for units, devices in cluster.clearable(node, leave_out=fractions).items():
            if not units:
                free_already = devices
            elif all(unit in x for unit in units):
                for_whole.append((_all_gone(model, [x[unit] for unit in units]), -devices))
    for device, row in fractions.items():
        occupants = cluster.occupants[node][device]
        if whole:  # a device is for fractions or for a whole replica, and the latter needs all of it
            taken = model.column(0)
            for_whole.append((taken, -1))
            row.append((taken, WHOLE_GPU))
            model.rows_at_most_each(taken, [x[unit] for unit, _ in occupants if unit in x])
        row += [(x[unit], -milli) for unit, milli in occupants if unit in x]
        model.row(row, at_most=free.devices[device])
    if whole:
        model.row(for_whole, at_most=free_already)
    for limit, resource in ((free.cpu_milli, "cpu_milli"), (free.memory_mib, "memory_mib")):
        wanted = [(column, getattr(groups[stand.group], resource)) for column, stand in stands]
        if (
            sum(amount * stand.replicas for (_, amount), (_, stand) in zip(wanted, stands, strict=True))
            > limit
        ):
            freed = [
                (x[unit], -getattr(place, resource)) for unit, place in cluster.on_node[node] if unit in x
            ]
            model.row(wanted + freed, at_most=limit)


def _add_cuts(
    model: _Model, clearable: Counter[tuple[int, ...]], whole: list[tuple[int, int, int]], x: dict[int, int]
) -> None:
    """Add rows that hold for every integer solution already; they make the linear relaxation tight."""
    total = sum(clearable.values())
    stuck: Counter[int] = Counter()  # by unit: devices that no whole replica can use while it stays
    for units, devices in clearable.items():
        for unit in units:
            stuck[unit] += devices
    for column, gpus, most in whole:
        for unit, devices in stuck.items():
            without = (total - devices) // gpus
            if without < most and unit in x:
                model.row([(column, 1), (x[unit], without - most)], at_most=without)


def _all_gone(model: _Model, units: list[int]) -> int:
    """A column that can be 1 only if all these units are evicted."""
    if len(units) == 1:
        return units[0]
    gone = model.column(0, integer=False)
    model.rows_at_most_each(gone, units)
    return gone


def _checked(problem: Problem, chosen: list[int], hosted: Sequence[Hosted], resolution: int) -> Solution:
    """The answer with its cost in integers, without units that are not needed (only units of cost 0 can be).

    Raises SolverFailed if the replicas do not fit.
    """
    if not places_fit(problem, chosen, hosted):
        raise SolverFailed(f"the preemptor does not fit without {[problem.units[i].id for i in chosen]}")
    for index in sorted(chosen, key=lambda i: -problem.units[i].cost):
        rest = [other for other in chosen if other != index]
        if places_fit(problem, rest, hosted):
            chosen = rest
    units = [problem.units[index] for index in chosen]
    cost = sum(unit.cost for unit in units)
    return Solution(Status.OPTIMAL, cost, tuple(unit.id for unit in units), tuple(hosted), resolution)


class _Model:
    """A mixed integer program under construction. All columns have the lower bound 0; rows are sparse."""

    __slots__ = ("_costs", "_indexes", "_integer", "_lower", "_most", "_starts", "_upper", "_values")

    def __init__(self) -> None:
        self._costs: list[float] = []
        self._most: list[float] = []
        self._integer: list[bool] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._starts = [0]
        self._indexes: list[int] = []
        self._values: list[float] = []

    def column(self, cost: float, most: int = 1, *, integer: bool = True) -> int:
        self._costs.append(cost)
        self._most.append(most)
        self._integer.append(integer)
        return len(self._costs) - 1

    def row(
        self, entries: Sequence[tuple[int, float]], *, at_least: float = -inf, at_most: float = inf
    ) -> None:
        self._lower.append(at_least)
        self._upper.append(at_most)
        self._indexes += [column for column, _ in entries]
        self._values += [value for _, value in entries]
        self._starts.append(len(self._indexes))

    def rows_at_most_each(self, column: int, limits: Sequence[int]) -> None:
        for limit in limits:
            self.row([(column, 1), (limit, -1)], at_most=0)

    def run(self) -> list[int] | None:
        """The values of all columns at the minimum, rounded; None if the program is infeasible."""
        highspy = _highspy()
        solver = highspy.Highs()
        for option, value in _OPTIONS.items():
            solver.setOptionValue(option, value)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self._costs), len(self._lower)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = self._costs, [0.0] * len(self._costs), self._most
        lp.row_lower_, lp.row_upper_ = self._lower, self._upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = self._starts, self._indexes
        lp.a_matrix_.value_ = self._values
        kinds = highspy.HighsVarType
        lp.integrality_ = [kinds.kInteger if whole else kinds.kContinuous for whole in self._integer]
        solver.passModel(lp)
        solver.run()
        status, known = solver.getModelStatus(), highspy.HighsModelStatus
        if status in (known.kInfeasible, known.kUnboundedOrInfeasible):  # every column is bounded
            return None
        if status not in (known.kOptimal, known.kModelEmpty):
            raise SolverFailed(f"HiGHS ended with {solver.modelStatusToString(status)}")
        return [round(value) for value in solver.getSolution().col_value]


_OPTIONS: Final[dict[str, bool | int | float]] = {
    "output_flag": False,
    "threads": 1,  # the same answer every time
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
}


def _highspy() -> Any:
    """The package highspy, imported only here because it is optional. Its types are incomplete."""
    try:
        import highspy
    except ImportError as missing:
        raise SolverMissing("the exact optimum needs HiGHS: pip install 'quotatree[dev]'") from missing
    return highspy
