"""What would most other schedulers evict? Their common rule, on the same problem as the exact oracle.

Candidates in order of priority, the newest first (or, informed, those that lose least first); remove one after another until the preemptor fits; then, in the
reverse order, put back each one that turns out not to be needed. No look at which node becomes free. It is the rule
reduced to its essence, not a port of any one scheduler; the tables compare against it. Informed, it knows what we know:
what is left of a difference then is owed to the search.
"""

from __future__ import annotations

from collections.abc import Sequence

from exact.problem import WHOLE_GPU, Group, Problem, Unit


def evict(problem: Problem, room: Room | None = None, *, informed: bool = False) -> tuple[Unit, ...] | None:
    """The units that this rule evicts, in the order it found them; None if evicting all would not be enough.

    A `Room` may be built beforehand, to time the search alone. It is left unchanged. `informed`: of equal priorities those
    go first that lose least, and not the newest.
    """
    room = room or Room(problem)
    removed: list[Unit] = []
    first = _loses_least if informed else _newest
    candidates = iter(sorted(problem.units, key=lambda unit: (unit.priority, first(unit), unit.id)))
    while not room.fits():
        unit = next(candidates, None)
        if unit is None:
            for gone in removed:
                room.put_back(gone)
            return None
        room.remove(unit)
        removed.append(unit)
    needed: list[Unit] = []
    for unit in reversed(removed):
        room.put_back(unit)
        if not room.fits():
            room.remove(unit)
            needed.append(unit)
    for unit in needed:
        room.put_back(unit)
    return tuple(reversed(needed))


def _newest(unit: Unit) -> int:
    return -unit.started_at


def _loses_least(unit: Unit) -> int:
    """Of one priority, costs are in the order of lost work."""
    return unit.cost


class Room:
    """What is free while units are removed and put back, and how many replicas of each group every node could take.

    A change takes time only for the nodes it touches. If there are several groups, `_pack` places them together by a
    heuristic, as peers do, once each of them alone would fit.
    """

    def __init__(self, problem: Problem) -> None:
        self.groups = sorted(
            (group for group in problem.groups if group.replicas),
            key=lambda group: (-group.gpu_milli, -group.cpu_milli, -group.memory_mib),
        )
        self.milli = [list(node.devices) for node in problem.nodes]
        self.cpu_milli = [node.cpu_milli for node in problem.nodes]
        self.memory_mib = [node.memory_mib for node in problem.nodes]
        self.deficit_own = problem.deficit_own
        self.deficit_all = problem.deficit_all
        self.slots = [
            [self._slots(node, group) for node in range(len(problem.nodes))] for group in self.groups
        ]
        self.totals = [sum(slots) for slots in self.slots]

    def remove(self, unit: Unit) -> None:
        self._change(unit, 1)

    def put_back(self, unit: Unit) -> None:
        self._change(unit, -1)

    def fits(self) -> bool:
        """True if quotas and nodes have room for the whole preemptor."""
        if self.deficit_own > 0 or self.deficit_all > 0:
            return False
        if any(total < group.replicas for total, group in zip(self.totals, self.groups, strict=True)):
            return False
        return len(self.groups) <= 1 or self._pack()

    def _change(self, unit: Unit, sign: int) -> None:
        self.deficit_own -= sign * unit.frees_own
        self.deficit_all -= sign * unit.frees_all
        for place in unit.places:
            node = place.node
            self.cpu_milli[node] += sign * place.cpu_milli
            self.memory_mib[node] += sign * place.memory_mib
            milli = self.milli[node]
            for device, amount in place.devices:
                milli[device] += sign * amount
            for number, group in enumerate(self.groups):
                slots = self._slots(node, group)
                self.totals[number] += slots - self.slots[number][node]
                self.slots[number][node] = slots

    def _slots(self, node: int, group: Group) -> int:
        """How many replicas of the group the node could take now if no other group used it."""
        return min(
            _on_devices(self.milli[node], group),
            self.cpu_milli[node] // group.cpu_milli if group.cpu_milli else group.replicas,
            self.memory_mib[node] // group.memory_mib if group.memory_mib else group.replicas,
        )

    def _pack(self) -> bool:
        """True if all groups fit together, by first fit: large replicas first, fractions on the fullest device."""
        touched: dict[int, tuple[list[int], int, int]] = {}
        for number, group in enumerate(self.groups):
            missing = group.replicas
            for node, slots in enumerate(self.slots[number]):
                if slots <= 0:
                    continue
                milli, cpu_milli, memory_mib = touched.get(node) or (
                    list(self.milli[node]),
                    self.cpu_milli[node],
                    self.memory_mib[node],
                )
                while missing and cpu_milli >= group.cpu_milli and memory_mib >= group.memory_mib:
                    if not _place(milli, group):
                        break
                    cpu_milli -= group.cpu_milli
                    memory_mib -= group.memory_mib
                    missing -= 1
                touched[node] = milli, cpu_milli, memory_mib
                if not missing:
                    break
            if missing:
                return False
        return True


def _on_devices(milli: Sequence[int], group: Group) -> int:
    if group.gpus:
        return milli.count(WHOLE_GPU) // group.gpus
    if group.is_fraction:
        return sum(free // group.gpu_milli for free in milli)
    return group.replicas


def _place(milli: list[int], group: Group) -> bool:
    """Put one replica on the devices of a node; False if they have no room for it."""
    if group.gpus:
        whole = [device for device, free in enumerate(milli) if free == WHOLE_GPU][: group.gpus]
        for device in whole if len(whole) == group.gpus else ():
            milli[device] = 0
        return len(whole) == group.gpus
    if group.is_fraction:
        free, device = min(
            ((free, d) for d, free in enumerate(milli) if free >= group.gpu_milli), default=(0, -1)
        )
        if device < 0:
            return False
        milli[device] = free - group.gpu_milli
    return True
