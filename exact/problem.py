"""What exactly is being optimised? One preemption as plain integers: free capacity, what may be evicted, what must fit.

The question (rules P5 and P7): which set of units, of the least total cost, has to leave so that every replica of
every group stands on real nodes and devices, and the quotas on the preemptor's path have room? Who may be evicted
at all is decided before: a unit that is here may go, work that may not go is simply capacity that is not free.

`places_fit` checks a proposed answer in integer arithmetic and shares no code with the solver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Final

WHOLE_GPU: Final = 1000
"""Milli-GPU of one device."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a unit occupies on one node. All of it becomes free when the unit is evicted."""

    node: int
    devices: tuple[tuple[int, int], ...]
    """Pairs of device index and milli-GPU, each device once."""
    cpu_milli: int = 0
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that can be evicted, but only as a whole."""

    id: str
    cost: int
    priority: int
    places: tuple[Place, ...]
    frees_own: int = 0
    """Milli-GPU by which its eviction reduces the deficit of the preemptor's own quota."""
    frees_all: int = 0
    """Milli-GPU by which its eviction reduces the deficit of the quotas above."""
    started_at: int = 0
    """Not used by the optimum; rules that prefer the newest need it."""


@dataclass(frozen=True, slots=True)
class NodeFree:
    """What is free on a node before any eviction: milli-GPU of each device, CPU, memory."""

    devices: tuple[int, ...]
    cpu_milli: int = 0
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Equal replicas of the preemptor. Each stands on one node: on whole devices, on part of one device, or on none."""

    replicas: int
    gpu_milli: int
    cpu_milli: int = 0
    memory_mib: int = 0

    @property
    def is_fraction(self) -> bool:
        return 0 < self.gpu_milli < WHOLE_GPU

    @property
    def gpus(self) -> int:
        """Whole devices of one replica; 0 for a fraction and for a replica without GPUs."""
        return self.gpu_milli // WHOLE_GPU


@dataclass(frozen=True, slots=True)
class Problem:
    """One preemption. `deficit_own` and `deficit_all` are the milli-GPU by which the quotas are short (rule Q3)."""

    nodes: tuple[NodeFree, ...]
    units: tuple[Unit, ...]
    groups: tuple[Group, ...]
    deficit_own: int = 0
    deficit_all: int = 0


@dataclass(frozen=True, slots=True)
class Hosted:
    """Replicas of one group on one node. `device` is set for fractions only: the device they stand on."""

    group: int
    node: int
    replicas: int
    device: int | None = None


class Cluster:
    """The problem indexed by nodes and devices."""

    __slots__ = ("cpu_milli", "memory_mib", "occupants", "on_node", "problem")

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        # [node][device]: (unit, milli-GPU) of each unit on the device
        self.occupants: list[list[list[tuple[int, int]]]] = [
            [[] for _ in node.devices] for node in problem.nodes
        ]
        self.on_node: list[list[tuple[int, Place]]] = [[] for _ in problem.nodes]
        # what a node would have if all its units were evicted
        self.cpu_milli = [node.cpu_milli for node in problem.nodes]
        self.memory_mib = [node.memory_mib for node in problem.nodes]
        for index, unit in enumerate(problem.units):
            for place in unit.places:
                self.on_node[place.node].append((index, place))
                self.cpu_milli[place.node] += place.cpu_milli
                self.memory_mib[place.node] += place.memory_mib
                for device, milli in place.devices:
                    self.occupants[place.node][device].append((index, milli))

    def clearable(self, node: int, leave_out: Container[int] = ()) -> Counter[tuple[int, ...]]:
        """By set of units: how many devices of the node become entirely free when exactly these are evicted.

        The empty tuple counts devices that are free already. Devices in `leave_out` are not counted.
        """
        free = self.problem.nodes[node].devices
        found: Counter[tuple[int, ...]] = Counter()
        for device, (milli, occupants) in enumerate(zip(free, self.occupants[node], strict=True)):
            if device not in leave_out and milli + sum(amount for _, amount in occupants) == WHOLE_GPU:
                found[tuple(unit for unit, _ in occupants)] += 1
        return found

    def most(self, node: int, group: Group) -> int:
        """Replicas that CPU and memory of the node would allow if all its units were evicted, at most the group's."""
        most = group.replicas
        if group.cpu_milli:
            most = min(most, self.cpu_milli[node] // group.cpu_milli)
        if group.memory_mib:
            most = min(most, self.memory_mib[node] // group.memory_mib)
        return most


def validate(problem: Problem) -> None:
    """Raise ValueError, naming what is wrong, if the problem does not describe a cluster."""
    for number, group in enumerate(problem.groups):
        if group.gpu_milli > WHOLE_GPU and group.gpu_milli % WHOLE_GPU:
            raise ValueError(
                f"group {number}: gpu_milli {group.gpu_milli} is neither a fraction nor whole GPUs"
            )
        if min(group.replicas, group.gpu_milli, group.cpu_milli, group.memory_mib) < 0:
            raise ValueError(f"group {number}: negative amount in {group}")
    for number, node in enumerate(problem.nodes):
        if min(node.cpu_milli, node.memory_mib, *node.devices) < 0:
            raise ValueError(f"node {number}: negative free amount in {node}")
    seen: set[str] = set()
    used = [list(node.devices) for node in problem.nodes]
    for unit in problem.units:
        if unit.id in seen:
            raise ValueError(f"unit {unit.id!r} appears twice")
        seen.add(unit.id)
        if min(unit.cost, unit.frees_own, unit.frees_all) < 0:
            raise ValueError(f"unit {unit.id!r}: negative cost or freed quota")
        nodes = [place.node for place in unit.places]
        if len(set(nodes)) < len(nodes) or any(not 0 <= node < len(used) for node in nodes):
            raise ValueError(f"unit {unit.id!r}: nodes {nodes} repeat or do not exist")
        for place in unit.places:
            _occupy(unit.id, place, used[place.node])


def places_fit(problem: Problem, evicted: Iterable[int], hosted: Iterable[Hosted]) -> bool:
    """True if without the `evicted` units all replicas fit where `hosted` says and both deficits are covered."""
    gone = [problem.units[index] for index in evicted]
    if sum(unit.frees_own for unit in gone) < problem.deficit_own:
        return False
    if sum(unit.frees_all for unit in gone) < problem.deficit_all:
        return False
    missing = [group.replicas for group in problem.groups]
    by_node: dict[int, list[Hosted]] = {}
    for stand in hosted:
        missing[stand.group] -= stand.replicas
        by_node.setdefault(stand.node, []).append(stand)
    if any(missing):
        return False
    freed: dict[int, list[Place]] = {}
    for unit in gone:
        for place in unit.places:
            freed.setdefault(place.node, []).append(place)
    return all(
        _node_carries(problem, problem.nodes[node], freed.get(node, []), stands)
        for node, stands in by_node.items()
    )


def _node_carries(problem: Problem, node: NodeFree, freed: list[Place], stands: list[Hosted]) -> bool:
    milli = list(node.devices)
    for place in freed:
        for device, amount in place.devices:
            milli[device] += amount
    whole_wanted = 0
    cpu_milli = node.cpu_milli + sum(place.cpu_milli for place in freed)
    memory_mib = node.memory_mib + sum(place.memory_mib for place in freed)
    for stand in stands:
        group = problem.groups[stand.group]
        cpu_milli -= stand.replicas * group.cpu_milli
        memory_mib -= stand.replicas * group.memory_mib
        if stand.replicas < 0 or (stand.device is None) == group.is_fraction:
            return False
        if stand.device is None:
            whole_wanted += stand.replicas * group.gpus
        else:
            milli[stand.device] -= stand.replicas * group.gpu_milli
    # A device that carries a fraction is no longer whole, so it cannot be counted twice.
    return min(cpu_milli, memory_mib, *milli) >= 0 and milli.count(WHOLE_GPU) >= whole_wanted


def _occupy(unit_id: str, place: Place, devices: list[int]) -> None:
    indexes = [device for device, _ in place.devices]
    if len(set(indexes)) < len(indexes) or any(not 0 <= index < len(devices) for index in indexes):
        raise ValueError(f"unit {unit_id!r}: devices {indexes} of node {place.node} repeat or do not exist")
    for device, milli in place.devices:
        devices[device] += milli
        if milli <= 0 or devices[device] > WHOLE_GPU:
            raise ValueError(
                f"unit {unit_id!r}: device {device} of node {place.node} would hold over {WHOLE_GPU}"
            )
