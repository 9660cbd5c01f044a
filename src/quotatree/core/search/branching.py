"""The cheapest set of a node's units where they are no simple items of a knapsack: branch and bound (P5).

CPU or memory may be short, protections may bind, a service may have core and surplus side by side. Sets are tried with the
cheapest units first. What a search may try is counted: beyond that the best set found so far is returned, at least what
taking the cheapest first and giving back what is superfluous finds.

Where CPU or memory is short too, more must go than the devices alone ask for. Every set that is enough has one of some beginnings in it:
units whose leaving gives the replica its devices. With the devices settled, the others are chosen by what they cost and bring alone,
and what a set costs at least is known before any was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from quotatree.core.model.effort import BEGINNINGS
from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node, Share
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, eviction_cost
from quotatree.core.search.fit import Tally, brought_by, most_brought
from quotatree.core.search.trial import Proposal, Trial, implied, let_stay, propose, with_companions

Complete = Callable[[Proposal], Proposal | None]
"""Adds units elsewhere that must go for the quota to a node's victims: the same object if none, None if it cannot."""


def cheapest_subset(
    trial: Trial,
    node: Node,
    shape: Shape,
    shares: list[Share],
    begin: Iterable[Beginning],
    complete: Complete | None,
    known: Proposal | None = None,
) -> Proposal | None:
    """Return the cheapest lawful set found of these units without which the shape fits; None if there is none, or none better
    than `known`.

    `begin`: where to begin, by what it costs at least. A core takes its surplus along. Exact unless the effort of the search is
    used up; of what a node has, the first beginning is always looked at.
    """
    units = sorted((s.unit for s in shares), key=lambda u: (trial.cost_of(u), -u.started_ms, u.name))
    best, branches = known, trial.request.exact
    for number, beginning in enumerate(begin):
        if best is not None and beginning.least > best.cost:
            break
        if number:  # all units are looked at once more before the first set is tried
            if branches.left <= 0:
                break
            branches.left -= len(units)
        best = Branching(trial, node, shape, units, beginning.units, complete=complete, best=best).best()
    return None if best is known else best


class Branching:
    """One search. The units of the beginning are taken; each other one, in order, is taken or left. `_now` is what is free
    without those taken, `_could` also without those not decided yet. `best`: a set that is known already."""

    def __init__(
        self,
        trial: Trial,
        node: Node,
        shape: Shape,
        units: list[Unit],
        begin: tuple[Unit, ...],
        complete: Complete | None,
        best: Proposal | None,
    ) -> None:
        self._trial, self._node, self._shape, self._complete = trial, node, shape, complete
        self._begin = begin
        if begin:
            units = [unit for unit in units if unit not in begin]
        self._units = units
        self._costs = [trial.cost_of(u) for u in units]
        self._sums = list(accumulate(self._costs, initial=0))
        self._brought = [brought_by(node, unit) for unit in units]
        self._most = most_brought(self._brought)
        self._chosen = list(begin)
        self._best = best
        self._now, self._could = Tally(node), Tally(node)
        for unit in begin:
            self._now.add(brought_by(node, unit))
            self._could.add(brought_by(node, unit))
        for shares in self._brought:
            self._could.add(shares)

    def best(self) -> Proposal | None:
        """Try sets until all have been tried or the effort is used up; return the best, or the one known before."""
        if not self._could.fits(self._shape):
            return self._best
        self._offer(*self._cheapest_first())
        branches, effort = self._trial.request.exact, self._trial.request.effort
        effort.spend(1 + len(self._units) // 2)
        decided: list[bool] = []  # whether each unit, up to the one looked at, was taken
        cost = sum(self._trial.cost_of(u) for u in self._begin)
        deeper = True
        while branches.left > 0:
            if deeper:
                branches.left -= 1
                effort.spend(1)
                deeper = self._promising(len(decided), cost)
            if deeper:
                position = len(decided)
                takes = not implied(self._units[position], self._chosen)
                cost += self._decide(position, takes)
                decided.append(takes)
                continue
            while decided and not decided[-1]:
                self._could.add(self._brought[len(decided) - 1])
                decided.pop()
            if not decided:
                break
            position = len(decided) - 1
            self._chosen.pop()
            self._now.remove(self._brought[position])
            cost -= self._costs[position]
            decided[-1] = False
            self._decide(position, False)
            deeper = True
        return self._best

    def _promising(self, position: int, cost: int) -> bool:
        """Return whether to go on from here: not if it is or must become too dear, is enough, or can never be enough.

        The units still to be decided come cheapest first: so many as are missing at least cost what the next ones do.
        """
        best = self._best
        if best is not None and cost > best.cost:
            return False
        if self._now.fits(self._shape):
            if best is None or (cost, len(self._chosen)) <= (best.cost, best.jobs):
                self._trial.request.exact.left -= len(self._chosen)  # a set is made as long as it is
                self._offer(list(self._chosen), cost)
            return False
        if position >= len(self._units):
            return False
        if best is not None:
            end = position + self._now.units_missing(self._shape, self._most)
            if end > len(self._units) or cost + self._sums[end] - self._sums[position] > best.cost:
                return False
        return self._could.fits(self._shape)

    def _decide(self, position: int, takes: bool) -> int:
        """Take or leave a unit; return what that costs."""
        if not takes:
            self._could.remove(self._brought[position])
            return 0
        self._chosen.append(self._units[position])
        self._now.add(self._brought[position])
        return self._costs[position]

    def _offer(self, chosen: list[Unit], cost: int) -> None:
        """Keep a set that is enough, if it is lawful, can be completed and is better than the best."""
        protections = self._trial.protections
        if protections is not None and not protections.allow(with_companions(chosen)):
            return
        found: Proposal | None = propose(chosen, cost)
        if self._complete is not None and found is not None:
            found = self._complete(found)
        if found is not None and (self._best is None or found < self._best):
            self._best = found
            self._trial.request.effort.found()

    def _cheapest_first(self) -> tuple[list[Unit], int]:
        """Return the cheapest units that are enough together, without those that are superfluous, and their cost."""
        node, shape = self._node, self._shape
        tally = Tally(node)
        chosen: dict[Unit, list[Share]] = {}
        for unit in self._begin:
            chosen[unit] = brought_by(node, unit)
            tally.add(chosen[unit])
        for unit, shares in zip(self._units, self._brought, strict=True):
            if tally.fits(shape):
                break
            if not implied(unit, chosen):
                chosen[unit] = shares
                tally.add(shares)

        def spare(unit: Unit) -> bool:
            tally.remove(chosen[unit])
            if tally.fits(shape):
                del chosen[unit]
                return True
            tally.add(chosen[unit])
            return False

        let_stay(list(chosen), self._trial.cost_of, spare)
        return list(chosen), sum(self._trial.cost_of(u) for u in chosen)


class Beginning(NamedTuple):
    """Units to begin with, and the least that any set with them costs."""

    least: int
    units: tuple[Unit, ...]


ANYWHERE: Final = (Beginning(0, ()),)
"""Begin with nothing; nothing is known of the cost."""

_Item = tuple[int, list[Share]]
"""Devices that become free without these shares."""


def beginnings(node: Node, shape: Shape, shares: list[Share], now_ms: int) -> tuple[Beginning, ...]:
    """Return where a search among these shares may begin, the one whose sets may be cheapest first; none: there is no set.

    Each share must be alone in its unit's job, and have entire devices or a part of one, not both.
    """
    costs = {share.unit: eviction_cost(share.unit, now_ms) for share in shares}
    missing = _Missing(node, shape, shares, costs)
    need = shape.whole_gpus - node.whole_free
    if need <= 0:
        least = missing.least(())
        return () if least is None else (Beginning(least, ()),)
    items = [(share.whole, [share]) for share in shares if share.whole] + _shared_devices(node, shares)
    items.sort(key=lambda item: -item[0])
    found: list[Beginning] = []
    for number, chosen in enumerate(_just_enough(items, need)):
        if number == BEGINNINGS:
            return ANYWHERE
        least = missing.least(chosen)
        if least is not None:
            found.append(Beginning(least, tuple(share.unit for share in chosen)))
    found.sort(key=lambda beginning: (beginning.least, [unit.name for unit in beginning.units]))
    return tuple(found)


def _shared_devices(node: Node, shares: list[Share]) -> list[_Item]:
    """Return the shared devices that are free without all their sharers among these."""
    sharers: dict[int, list[Share]] = {}
    for share in shares:
        for device, _ in share.fractions:
            sharers.setdefault(device, []).append(share)
    return [
        (1, some)
        for device, some in sharers.items()
        if node.free[device] + sum(share.fractions[0][1] for share in some) == WHOLE_GPU
    ]


def _just_enough(items: list[_Item], need: int) -> Iterator[list[Share]]:
    """Yield the shares of every choice of items, largest first, that have `need` devices together but not without any one."""
    left_from = [0] * (len(items) + 1)  # devices of all items from a position on
    for position in reversed(range(len(items))):
        left_from[position] = left_from[position + 1] + items[position][0]
    chosen: list[int] = []
    position = 0
    while True:
        if need > 0 and left_from[position] >= need:
            chosen.append(position)
            need -= items[position][0]
            position += 1
            continue
        if need <= 0:
            yield [share for k in chosen for share in items[k][1]]
        if not chosen:
            return
        position = chosen.pop()
        need += items[position][0]
        position += 1


class _Missing:
    """What is missing of CPU and memory, and what it costs at least to get it from these shares."""

    __slots__ = ("_amounts", "_by_cost", "_costs", "_most")

    def __init__(self, node: Node, shape: Shape, shares: list[Share], costs: dict[Unit, int]) -> None:
        self._costs = costs
        self._by_cost = sorted((cost, unit.name, unit) for unit, cost in costs.items())
        self._amounts = (shape.cpu_milli - node.free_cpu, shape.memory_mib - node.free_memory)
        self._most = (
            max((share.cpu_milli for share in shares), default=0),
            max((share.memory_mib for share in shares), default=0),
        )

    def least(self, chosen: list[Share] | tuple[()]) -> int | None:
        """Return what the chosen shares and as many others as must go with them at least cost; None if all are not enough."""
        cpu, memory = self._amounts
        cost = 0
        gone: set[Unit] = set()
        for share in chosen:
            cpu -= share.cpu_milli
            memory -= share.memory_mib
            cost += self._costs[share.unit]
            gone.add(share.unit)
        more = 0
        for amount, most in zip((cpu, memory), self._most, strict=True):
            if amount > 0:
                if not most:
                    return None
                more = max(more, -(-amount // most))
        for others, _, unit in self._by_cost:
            if not more:
                break
            if unit not in gone:
                cost += others
                more -= 1
        return None if more else cost
