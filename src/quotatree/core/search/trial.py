"""What has been taken for a request so far, and is it enough, lawful and minimal?

A trial is the one place where units are taken and given back while victims are sought. It writes nothing to the state:
what has been taken is a list, a sum of freed quota and, where places matter, an overlay (overlay.py) or a count of slots
(slot_trial.py). A solver gets a trial and returns a proposal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final, NamedTuple

from quotatree.core.model.effort import EXACT, ONE_ATTEMPT, ONE_BY_ONE, Effort
from quotatree.core.model.job import Job
from quotatree.core.model.node import Node, Share
from quotatree.core.model.policy import HIGHEST_PRIORITY
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.unit import Unit, UnitClass, UnitKind, companions, eviction_cost, total_footprint
from quotatree.core.search.eligible import Signature
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import Wanted, find_places
from quotatree.core.search.protections import Protections
from quotatree.core.state import State


@dataclass(slots=True)
class Left:
    """How much more work one search may do to find the cheapest set; then the best that it has found stands. It is counted, so that the
    same question always gets the same answer (A3)."""

    left: int


@dataclass(frozen=True, slots=True)
class Request:
    """What a preemptor needs within one step of P4. `deficit` is the quota that victims must free along its path.

    Where it may take work beside its quota, but not borrow, `inside` is what must be freed in the quota or below it: work beside
    it frees only the quotas above, and these alone count in `deficit`.
    """

    state: State
    quota: Quota
    signature: Signature  # the units it may take
    deficit: Resources
    now_ms: int
    inside: Resources = ZERO
    job: Job | None = None  # None: only quota is wanted, not for a particular job (Q5)
    wanted: Wanted = field(default_factory=list)
    amount: Resources = ZERO  # what the quotas must have room for in the end
    avoid: frozenset[int] = frozenset()  # indexes of nodes that must not be used
    nodes_fit: bool = True  # all replicas have places once what is leaving has left: only quota is short
    demote_room: int = -1  # idle milli-GPU left beside the preemptor; below 0: nothing is turned idle (I1)
    loan_allowed: bool = False
    past_guard: bool = True
    gives_way: Signature | None = None  # units taken without a policy; None: `signature` has no others
    highest: int = HIGHEST_PRIORITY  # the highest rung that may be touched
    effort: Effort = field(default_factory=Effort)
    exact: Left = field(default_factory=lambda: Left(EXACT))  # of the whole search, all rungs together

    @property
    def root(self) -> Quota:
        return self.quota.path[-1]

    @property
    def short_of_quota(self) -> bool:
        """Whether victims must free any quota."""
        return any(self.deficit) or any(self.inside)

    def for_places_only(self, **changes: Any) -> Request:
        """Return this request as if no quota were short, with other changes."""
        return replace(self, deficit=ZERO, inside=ZERO, **changes)


class Proposal(NamedTuple):
    """Units to take. The better of two compares as less: lower cost, then fewer units, then newer, then names (P5).

    `jobs` is the number of units, `age` minus the sum of their start times, `names` their names in order.
    """

    cost: int
    jobs: int
    age: int
    names: tuple[tuple[str, int], ...]
    units: tuple[Unit, ...]

    def __lt__(self, other: tuple[object, ...]) -> bool:
        """Compare all but the units: a core and a hold of one job have the same name."""
        return tuple(self[:4]) < tuple(other[:4])


NOTHING: Final = Proposal(0, 0, 0, (), ())


def propose(units: list[Unit], cost: int) -> Proposal:
    """Return these units, which it sorts by name, as a proposal of this cost."""
    if len(units) == 1:
        (unit,) = units
        return Proposal(cost, 1, -unit.started_ms, (unit.name,), (unit,))
    units.sort(key=attrgetter("name"))
    age = -sum([u.started_ms for u in units])
    return Proposal(cost, len(units), age, tuple([u.name for u in units]), tuple(units))


class Trial:
    """A request, the rung of the ladder it may go up to (P5), and what has been taken for it so far.

    What has been taken is enough when the quota is free. Trials that also look for places are below and in slot_trial.py.
    """

    def __init__(self, request: Request, rung: int, overlay: Overlay, *, protected: bool = True) -> None:
        self.request, self.rung, self.overlay = request, rung, overlay
        self.state, self.signature, self.now_ms = request.state, request.signature, request.now_ms
        self.protections: Protections | None = None
        if protected and request.signature.binds():
            self.protections = Protections(request.signature, overlay)
        self._within = request.quota if any(request.inside) else None
        self.costs: dict[Unit, int] = {}
        self._alone: dict[Unit, bool] = {}
        self.looks = 0  # how often a unit was taken or given back: the effort of the search
        self.reset()

    def reset(self) -> None:
        """Forget all units taken so far, and the log."""
        self.taken: dict[Unit, None] = {}
        self.freed = [0, 0, 0]
        self.freed_inside = [0, 0, 0]
        self._log: list[tuple[Unit, bool]] = []

    def afresh(self) -> Trial:
        """Return a trial for the same request that has taken nothing, and knows who may go alone and what each costs."""
        twin = Trial(self.request, self.rung, self.overlay)
        twin.costs, twin._alone = self.costs, self._alone
        return twin

    # -- taking and giving back ----------------------------------------------------------------------------------

    def take(self, unit: Unit) -> None:
        if unit in self.taken:
            return
        self._log.append((unit, True))
        self.taken[unit] = None
        self._account(unit, 1)

    def take_all(self, units: Iterable[Unit]) -> None:
        for unit in units:
            self.take(unit)

    def give_back(self, unit: Unit) -> None:
        self._log.append((unit, False))
        del self.taken[unit]
        self._account(unit, -1)

    def mark(self) -> int:
        """Return a point in the log to which `undo_to` can return."""
        return len(self._log)

    def undo_to(self, mark: int) -> None:
        while len(self._log) > mark:
            unit, was_taken = self._log.pop()
            if was_taken:
                del self.taken[unit]
                self._account(unit, -1)
            else:
                self.taken[unit] = None
                self._account(unit, 1)

    def _account(self, unit: Unit, sign: int) -> None:
        """Book a unit and the surplus and hold that go along with it, except those that were taken themselves (P12)."""
        self.looks += 1
        if not unit.job.composite:
            self._book(unit, sign)
            return
        core = unit.job.core
        if unit is not core and core in self.taken:
            return  # booked already, along with its core
        self._book(unit, sign)
        for piece in companions(unit):
            if piece not in self.taken:
                self._book(piece, sign)

    def _book(self, unit: Unit, sign: int) -> None:
        if self.signature.frees_quota(unit.cls):
            self._free_quota(unit.footprint, sign, self.freed)
            if self._within is not None and self._within.contains(unit.cls.quota):
                self._free_quota(unit.footprint, sign, self.freed_inside)

    def _free_quota(self, amount: Resources, sign: int, freed: list[int]) -> None:
        """Count so much quota as freed (sign 1), or as not free any more (sign -1)."""
        gpu_milli, cpu_milli, memory_mib = amount
        freed[0] += sign * gpu_milli
        freed[1] += sign * cpu_milli
        freed[2] += sign * memory_mib

    # -- what that comes to ----------------------------------------------------------------------------------------

    def quota_left(self) -> Resources:
        """Return how much quota is still to be freed, inside or not."""
        deficit, freed = self.request.deficit, self.freed
        return deficit.lacking(freed)

    def inside_left(self) -> Resources:
        """Return how much is still to be freed in the taker's quota or below it, where it may not borrow."""
        return self.request.inside.lacking(self.freed_inside) if self._within is not None else ZERO

    def quota_is_free(self) -> bool:
        deficit, freed = self.request.deficit, self.freed
        if freed[0] < deficit[0] or freed[1] < deficit[1] or freed[2] < deficit[2]:
            return False
        return self._within is None or self.inside_left() == ZERO

    def enough(self) -> bool:
        """Return whether the taken units give the request all it needs."""
        return self.quota_is_free()

    def lawful(self, more: Iterable[Unit] = ()) -> bool:
        """Return whether the protections allow the taken units and `more` to be taken together (Q8, P4, P15)."""
        return self.protections is None or self.protections.allow(with_companions([*self.taken, *more]))

    def may_go_alone(self, unit: Unit) -> bool:
        """Return whether the protections allow this unit, with what goes along with it, to be taken and nobody else."""
        known = self._alone.get(unit)
        if known is None:
            allows = self.protections is None or self.protections.allow(with_companions([unit]))
            known = self._alone[unit] = allows
        return known

    def available(self, node: Node) -> list[Share]:
        """Return the shares of those units on a node that may be taken, by unit name: whichever was placed first."""
        entitled_of, rung, now_ms = self.signature.entitled, self.rung, self.now_ms
        found = []
        for share in node.units.values():
            entitled = entitled_of(share.unit.cls)
            if entitled is not None and entitled.rung <= rung and not entitled.spares(share.unit, now_ms):
                found.append(share)
        found.sort(key=attrgetter("unit.name"))
        return found

    def cost_of(self, unit: Unit) -> int:
        cost = self.costs.get(unit)
        if cost is None:
            cost = self.costs[unit] = eviction_cost(unit, self.now_ms)
        return cost

    def cost(self) -> int:
        """Return the sum of the eviction costs of all taken units."""
        return sum([self.cost_of(u) for u in self.taken])

    def proposal(self) -> Proposal:
        """Return the taken units as a proposal."""
        return propose(list(self.taken), self.cost())

    # -- minimality ------------------------------------------------------------------------------------------------

    def minimise(self, keep: Unit | None = None) -> None:
        """Give back each unit, dearest first, without which the rest is still enough (P8); never `keep`."""

        def spare(unit: Unit) -> bool:
            if unit is keep or self.clearly_needed(unit):
                return False
            self.give_back(unit)
            if self.enough():
                return True
            self.take(unit)
            return False

        let_stay(self.taken, self.cost_of, spare)

    def clearly_needed(self, unit: Unit) -> bool:
        """Return True if it is certain without trying that this unit cannot be given back; False means: try."""
        del unit
        return False


class PlaceTrial(Trial):
    """A trial that is enough when all replicas have places and the quota is free; it takes units off its own overlay.

    Replicas of several shapes are packed replica by replica for the first questions only.
    """

    def __init__(self, request: Request, rung: int, overlay: Overlay) -> None:
        super().__init__(request, rung, overlay.fork())
        self._packed_left = ONE_BY_ONE

    def _book(self, unit: Unit, sign: int) -> None:
        super()._book(unit, sign)
        if sign > 0:
            self.overlay.take(unit)
        else:
            self.overlay.give_back(unit)

    def may_go_alone(self, unit: Unit) -> bool:
        self._alone.clear()  # its overlay changes with every unit that is taken
        return super().may_go_alone(unit)

    def fits(self, wanted: Wanted | None = None) -> bool:
        """Return whether there are places for these replicas; None means all that the request wants."""
        request = self.request
        request.effort.spend(ONE_ATTEMPT + len(request.wanted))
        self._packed_left -= 1
        places = find_places(
            self.state, request.root, request.wanted if wanted is None else wanted, now=False, avoid=request.avoid,
            overlay=self.overlay, packed=self._packed_left >= 0,
        )  # fmt: skip
        return places is not None

    def enough(self) -> bool:
        return self.quota_is_free() and self.fits()


def let_stay(units: Iterable[Unit], cost_of: Callable[[Unit], int], spare: Callable[[Unit], bool]) -> None:
    """Call `spare` with each unit, dearest first; it drops the unit if the others are enough without it (P8)."""
    for unit in sorted(units, key=lambda u: (-cost_of(u), u.started_ms, u.name)):
        spare(unit)


def without_implied(found: Proposal, now_ms: int) -> Proposal:
    """Return the proposal without surplus and holds whose core is in it: the core takes them along, and its cost has theirs."""
    if all(u.cls.kind is UnitKind.CORE for u in found.units):
        return found
    kept = [u for u in found.units if not implied(u, found.units)]
    if len(kept) == len(found.units):
        return found
    return propose(kept, sum(eviction_cost(u, now_ms) for u in kept))


def implied(unit: Unit, chosen: Iterable[Unit]) -> bool:
    """Return whether this unit is not a core and the core of its job is among `chosen`, which takes it along."""
    return unit.cls.kind is not UnitKind.CORE and any(
        u.job is unit.job and u.cls.kind is UnitKind.CORE for u in chosen
    )


def with_companions(units: list[Unit]) -> list[Unit]:
    """Return the units with the surplus and holds that their cores take along, each once (P12)."""
    taken_along = [piece for unit in units if unit.job.composite for piece in companions(unit)]
    return list(dict.fromkeys([*units, *taken_along]))


def quota_freed_by(signature: Signature, units: Iterable[Unit]) -> Resources:
    """Return how much quota it frees for the taker if exactly these units leave."""
    of_class: defaultdict[UnitClass, list[Unit]] = defaultdict(list)
    for unit in units:
        of_class[unit.cls].append(unit)
    free_quota = [unit for cls, alike in of_class.items() if signature.frees_quota(cls) for unit in alike]
    return total_footprint(free_quota)


def left_after(request: Request, units: Iterable[Unit]) -> tuple[Resources, Resources]:
    """Return how much quota would still be to be freed once these units had left: `deficit` and `inside` of a request."""
    signature, leave = request.signature, with_companions(list(units))
    left = request.deficit.lacking(quota_freed_by(signature, leave))
    if not any(request.inside):
        return left, ZERO
    inside = [unit for unit in leave if request.quota.contains(unit.cls.quota)]
    return left, request.inside.lacking(quota_freed_by(signature, inside))
