"""When only a handful of units may be taken, look for the cheapest set of all of them: branch and bound, with a counted effort.

The search for gangs is greedy, and shapes are placed one after the other. Protections (reserved parts, loans that end at min),
units that span nodes and nodes that suit one shape better than another can lead both into a dead end, or to a set that costs
far more than it need. With few candidates there is no need to be clever: each, the dearest first, stays or goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, islice

from quotatree.core.model.effort import EXACT, FEW, ONE_ATTEMPT
from quotatree.core.model.job import Shape
from quotatree.core.model.unit import Unit
from quotatree.core.search.slot_trial import SlotTrial
from quotatree.core.search.trial import Proposal, Trial, propose, with_companions, without_implied


def cheapest_of_few(
    trial: Trial,
    shapes: dict[Shape, int],
    known: Proposal | None,
    fits: Callable[[tuple[Unit, ...]], bool] | None = None,
) -> Proposal | None:
    """Return a cheaper lawful set than `known` for so many replicas of each shape; `known` if there is none, or none was found.

    `known` is also returned if there are more than FEW candidates. `fits`: whether all replicas have places together without
    these units, where it is not enough that those of each shape have.
    """
    units = _candidates(trial)
    if not units:
        return known
    return _Few(trial, shapes, units, known, fits).best()


class _Few:
    """One search. Without the units that are left out, all others being gone, there is always enough."""

    def __init__(
        self,
        trial: Trial,
        shapes: dict[Shape, int],
        units: list[Unit],
        known: Proposal | None,
        fits: Callable[[tuple[Unit, ...]], bool] | None,
    ) -> None:
        self._trial, self._fits, self._best = trial, fits, known
        self._units = sorted(units, key=lambda u: (-trial.cost_of(u), u.started_ms, u.name))
        self._gone = [SlotTrial(trial, shape, count) for shape, count in shapes.items()]
        self._bounds = [bound for slots in self._gone if (bound := _Bound.of(slots, self._units)) is not None]
        self._cheapest = list(accumulate([trial.cost_of(u) for u in reversed(self._units)], initial=0))
        self._chosen: list[Unit] = []
        self._left = EXACT  # of work
        for slots in self._gone:
            slots.take_all(self._units)

    def best(self) -> Proposal | None:
        if self._enough() and (self._fits is None or self._fits(tuple(self._units))):
            self._decide(0, 0)
        return self._best

    def _enough(self) -> bool:
        return all(slots.enough() for slots in self._gone)

    def _decide(self, position: int, cost: int) -> None:
        """Look at all sets of the units that were chosen, which cost so much, and of those from `position` on."""
        if self._left <= 0 or not self._may_be_better(position, cost):
            return
        if position == len(self._units):
            self._offer(cost)
            return
        unit = self._units[position]
        self._left -= ONE_ATTEMPT
        self._trial.request.effort.spend(2 * len(self._gone))
        for slots in self._gone:
            slots.give_back(unit)
        if self._enough():
            self._decide(position + 1, cost)
        for slots in self._gone:
            slots.take(unit)
        self._choose(unit, 1)
        if self._trial.lawful(self._chosen):
            self._decide(position + 1, cost + self._trial.cost_of(unit))
        self._choose(unit, -1)

    def _choose(self, unit: Unit, sign: int) -> None:
        """Count a unit as chosen (sign 1), or as not chosen any more (sign -1)."""
        if sign > 0:
            self._chosen.append(unit)
        else:
            self._chosen.pop()
        for bound in self._bounds:
            bound.lacking -= sign * bound.gives[unit]

    def _may_be_better(self, position: int, cost: int) -> bool:
        """Return False if no set that has the chosen units costs less than the best one, or as much with fewer units (P5)."""
        more = max((bound.units_lacking() for bound in self._bounds), default=0)
        if more > len(self._units) - position:
            return False
        if self._best is None:
            return True
        return (cost + self._cheapest[more], len(self._chosen) + more) < (self._best.cost, self._best.jobs)

    def _offer(self, cost: int) -> None:
        """Keep the chosen units, which are enough for each shape, if all replicas fit together."""
        found = without_implied(propose(list(self._chosen), cost), self._trial.now_ms)
        if self._fits is not None:
            self._left -= 10 * ONE_ATTEMPT  # places for all replicas are looked for anew
            if not self._fits(found.units):
                return
        self._best = found
        self._trial.request.effort.found()


@dataclass(slots=True)
class _Bound:
    """How many more devices must be freed at least for a shape, and how many of them each unit frees at most."""

    lacking: int
    gives: dict[Unit, int]
    most: int

    @classmethod
    def of(cls, slots: SlotTrial, units: list[Unit]) -> _Bound | None:
        """Return the bound of a trial that has taken nothing yet; None where not only whole devices count."""
        if not slots.counts_devices:
            return None
        gives = {unit: slots.most_devices_of(unit) for unit in units}
        together = with_companions(units)
        return cls(slots.devices_lacking(together), gives, max(1, *gives.values()))

    def units_lacking(self) -> int:
        """Return how many more units must go at least."""
        return -(-self.lacking // self.most) if self.lacking > 0 else 0


def _candidates(trial: Trial) -> list[Unit] | None:
    """Return the units that may be taken up to the rung; None if there are more than FEW."""
    units = trial.signature.units_in(trial.state, trial.now_ms)
    off = trial.overlay.off
    open_ = (unit for entitled, unit in units if entitled.rung <= trial.rung and unit not in off)
    found = list(islice(open_, FEW + 1))
    return found if len(found) <= FEW else None
