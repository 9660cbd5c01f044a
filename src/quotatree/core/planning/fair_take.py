"""Whom does a waiting borrower take from where idle capacity is divided by share (I4)?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from quotatree.core.model.effort import BORROWERS, ONE_ATTEMPT
from quotatree.core.model.job import Claim, Idle, Job, least_asked_for, total_request
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import idle_room
from quotatree.core.model.resources import GPU, INFINITE, Resources
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost
from quotatree.core.planning.claimant import kept_nodes
from quotatree.core.planning.fair_shares import Branch, branch_below, sharing_from, turns_of
from quotatree.core.planning.why import idle_refusal
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import bounded_by_pools, find_places
from quotatree.core.search.trial import implied, let_stay, with_companions
from quotatree.core.state import State


class FairTake(NamedTuple):
    """The units that a waiting borrower takes, and the quota below which the two share."""

    units: tuple[Unit, ...]
    quota: Quota


def waits_for_leaving(state: State, job: Job) -> bool:
    """Return whether a job below fair borrowing could run idle once everything that leaves now has left."""
    if not state.leaving_replicas or sharing_from(job.quota) is None:
        return False
    return _Need(state, job).met(Overlay(state))


def fair_take(state: State, job: Job, now_ms: int, refusals: list[Reason] | None = None) -> FairTake | None:
    """Return the `idle: only` units that a waiting job which may run idle takes from one branch beside its own (I4).

    They are a minimal set that makes room together with what is free, and the job's own share is then not above what is left of
    that branch's, in every resource that is short. None: there is none, it needs none, or nothing is shared here.
    `refusals`: why a branch was not taken from is added to it.
    """
    top = sharing_from(job.quota)
    if top is None or (job.leaving and not job.running):
        return None
    need = _Need(state, job)
    if need.over_own_limit() or need.met(Overlay(state)):
        return None
    short = need.short()
    least = need.least(short)
    path = job.quota.path
    for parent in reversed(path[: path.index(top) + 1]):
        mine = branch_below(parent, job.quota)
        after = [mine.share(i, need.request[i]) for i in short]
        if None in after or INFINITE in after:
            if refusals is not None:
                refusals.append(because(Code.FairNoWeight, quota=mine.quota.id))
            continue  # its weight is 0, or it names none
        for other in _largest_first(parent, mine, short[0]):
            found = _from(need, other, least, after, now_ms)
            if isinstance(found, tuple):
                return FairTake(found, parent)
            if refusals is not None:
                refusals.append(_refusal(mine, other, after[0] or 0, found))
    return None


def why_no_turn(state: State, job: Job, now_ms: int) -> Reason | None:
    """Return why a waiting job that may run idle takes nothing from borrowers beside it (I4), told of the largest share; None if idle
    capacity is not divided by share here, or it has its turn."""
    if sharing_from(job.quota) is None or (job.leaving and not job.running):
        return None
    refusals: list[Reason] = []
    if fair_take(state, job, now_ms, refusals) is not None or waits_for_leaving(state, job):
        return None
    return refusals[0] if refusals else because(Code.NoEligibleVictims, step=Step.IDLE.value)


def _refusal(mine: Branch, other: Branch, share: int, left: int | None) -> Reason:
    """Return why a branch is not taken from; `left`: the share that it would keep, None if no units make room."""
    if left is None:
        return because(Code.NoEligibleVictims, step=Step.IDLE.value)
    return because(
        Code.FairShareReached, quota=mine.quota.id, share=_percent(share), beside=other.quota.id, left=_percent(left)
    )  # fmt: skip


def _percent(share: int) -> str:
    return "all" if share >= INFINITE else f"{share // 10_000_000} %"


class _Need:
    """What a waiting borrower needs: idle room, and places on devices that are free or being freed."""

    def __init__(self, state: State, job: Job) -> None:
        self.state, self.job = state, job
        numbers = least_asked_for(job)
        self.request = total_request(job, numbers)
        self._wanted = job.shaped(numbers)
        self._avoid = kept_nodes(state, job)

    def met(self, overlay: Overlay) -> bool:
        """Return whether the job could run idle if the state were as the overlay supposes."""
        self.state.work.done += ONE_ATTEMPT
        if idle_refusal(self.job, self.request, overlay) is not None:
            return False
        root, avoid = self.job.quota.root, self._avoid
        places = find_places(self.state, root, self._wanted, now=False, avoid=avoid, overlay=overlay)
        return places is not None

    def plain(self) -> bool:
        """Return whether places are found wherever more is free than where some are: not so of several shapes, or in shared pools."""
        return len(self.job.spec.groups) == 1 and not bounded_by_pools(self.job.quota.root)

    def over_own_limit(self) -> bool:
        """Return whether its quota may not borrow so much: nobody else's leaving changes that (I2)."""
        quota = self.job.quota
        limit = quota.spec.idle_limit_milli
        return limit is not None and self.request[GPU] > 0 and quota.own_idle[GPU] + self.request[GPU] > limit

    def least(self, short: list[int]) -> dict[int, int]:
        """Return how much of each resource that is short must leave at least: as much as the idle room lacks.

        What leaves makes that room larger by no more than it had. Where only places are short, it is 0.
        """
        quota, capacity = self.job.quota, dict(self.job.quota.root.named)
        return {
            i: max(0, self.request[i] - idle_room(quota, capacity[i], i)) if i in capacity else 0
            for i in short
        }

    def short(self) -> list[int]:
        """Return the resources that the idle room has too little of; if places are what is short, the first it asks for."""
        refusal = [
            i
            for i in range(3)
            if self.request[i]
            and idle_refusal(self.job, Resources(*(self.request[j] * (j == i) for j in range(3))))
        ]
        return refusal or [i for i in range(3) if self.request[i]][:1]


def _largest_first(parent: Quota, mine: Branch, resource: int) -> list[Branch]:
    """Return the branches of `parent` beside one, those with idle work only, the largest share first."""
    others = [Branch(child) for child in parent.children if any(child.idle)]
    if any(parent.own_idle):
        others.append(Branch(parent, own=True))
    with_share = [(branch.share(resource), branch) for branch in others if branch != mine]
    measured = [(share, branch) for share, branch in with_share if share is not None]
    return [branch for _, branch in sorted(measured, key=lambda e: (-e[0], e[1].own, e[1].quota.tin))]


def _from(
    need: _Need, other: Branch, least: dict[int, int], after: list[int | None], now_ms: int
) -> tuple[Unit, ...] | int | None:
    """Return the units to take from one branch; or the share of what is short that it would keep, if that is too small; or None
    if no units are enough.

    `least`: what must go at least, of each resource that is short; `after`: the job's own share of each then.
    """

    def kept(taken: Sequence[int]) -> int | None:
        """Return the share that is too small, in a resource that is short; None if none is."""
        for i, mine in zip(least, after, strict=True):
            left = other.share(i, -taken[i])
            if mine is None or left is None or mine > left:
                return left or 0
        return None

    too_small = kept([least.get(i, 0) for i in range(3)])
    if too_small is not None:
        return too_small
    resource = next(iter(least))
    candidates = []
    for turn, unit in _known_borrowers(need.state, other, resource, now_ms)[:BORROWERS]:
        left = kept(_size([unit]))
        if left is None:
            candidates.append((turn, unit))
        elif too_small is None or left > too_small:
            too_small = left  # this unit alone is too much
    units = [unit for _, unit in candidates]
    if not units or (need.plain() and not _Taking(need, least, units).enough()):
        return too_small  # nor are some of them enough
    turns = _turns_needed(need, least, candidates)
    if turns is None:
        return None
    units = [unit for turn, unit in candidates if turn <= turns]

    def cost(unit: Unit) -> int:
        return eviction_cost(unit, now_ms)

    def size(unit: Unit) -> int:
        return _size([unit])[resource]

    for dear in (cost, size):  # the cheapest may be too large
        trial = _minimal(need, least, units, dear)
        too_small = kept(_size(trial))
        if too_small is None:
            return tuple(sorted((u for u in trial if not implied(u, trial)), key=lambda u: u.name))
    return too_small


def _turns_needed(need: _Need, least: dict[int, int], candidates: list[tuple[int, Unit]]) -> int | None:
    """Return how many turns of borrowers must be looked at, the largest share first, until they are enough; None if all are not."""
    trial = _Taking(need, least)
    for turn in sorted({turn for turn, _ in candidates}):
        for its, unit in candidates:
            if its == turn:
                trial.take(unit)
        if trial.enough():
            return turn
    return None


def _minimal(
    need: _Need, least: dict[int, int], units: list[Unit], dear: Callable[[Unit], int]
) -> list[Unit]:
    """Return a minimal set of these units, which together are enough: the least dear first; then by P5, one job rather than several."""
    trial = _Taking(need, least)
    in_order = sorted(units, key=lambda u: (dear(u), -u.started_ms, u.name))
    for unit in in_order:
        trial.take(unit)
        if trial.enough():
            break
    let_stay(list(trial.taken), dear, trial.spare)
    found = list(trial.taken)
    spent = sum(dear(unit) for unit in found)
    for unit in in_order if len(found) > 1 else ():
        if dear(unit) > spent:
            break
        if _leaves(least, [unit]) and _Taking(need, least, [unit]).enough():
            return [unit]
    return found


def _leaves(least: dict[int, int], units: Sequence[Unit]) -> bool:
    """Return whether these units, with all that they take along, are as much as must leave at least."""
    size = _size(units)
    return all(size[i] >= amount for i, amount in least.items())


def _size(units: Iterable[Unit]) -> list[int]:
    """Return what these units have of each resource, with all that they take along."""
    pieces = dict.fromkeys(piece for unit in units for piece in with_companions([unit]))
    return [sum([piece.footprint[i] for piece in pieces]) for i in range(3)]


class _Taking:
    """Units that have been taken so far, on an overlay of the state."""

    def __init__(self, need: _Need, least: dict[int, int], units: Iterable[Unit] = ()) -> None:
        self._need, self._least = need, least
        self._overlay = Overlay(need.state)
        self.taken: dict[Unit, list[Unit]] = {}  # each with what goes along with it
        self._sum = [0, 0, 0]
        for unit in units:
            self.take(unit)

    def take(self, unit: Unit) -> None:
        along = [piece for piece in with_companions([unit]) if piece not in self._overlay.off]
        for piece in along:
            self._overlay.take(piece)
            self._count(piece, 1)
        self.taken[unit] = along

    def give_back(self, unit: Unit) -> None:
        for piece in self.taken.pop(unit):
            self._overlay.give_back(piece)
            self._count(piece, -1)

    def _count(self, piece: Unit, sign: int) -> None:
        for i in range(3):
            self._sum[i] += sign * piece.footprint[i]

    def enough(self) -> bool:
        """Return whether the job fits without the units."""
        total = self._sum
        return all(total[i] >= least for i, least in self._least.items()) and self._need.met(self._overlay)

    def spare(self, unit: Unit) -> bool:
        """Give a unit back if the others are enough without it (P8); return whether they are."""
        self.give_back(unit)
        if self.enough():
            return True
        self.take(unit)
        return False


def _known_borrowers(state: State, branch: Branch, resource: int, now_ms: int) -> list[tuple[int, Unit]]:
    """Return what `_borrowers` does, worked out once in a state, however many jobs wait."""
    table, seen = state.index_table("borrowers"), (state.all_changes, now_ms)
    key = (branch.quota.id, branch.own, resource)
    known: tuple[object, list[tuple[int, Unit]]] | None = table.get(key)
    if known is None or known[0] != seen:
        state.keep_indexes("borrowers")
        known = table[key] = (seen, _borrowers(state, branch, resource, now_ms))
    return known[1]


def _borrowers(state: State, branch: Branch, resource: int, now_ms: int) -> list[tuple[int, Unit]]:
    """Return the `idle: only` units of a branch with their turns: at every level below it the largest share first, then by P5."""
    turn_of = {quota: turn for turn, quotas in enumerate(turns_of(branch, resource)) for quota in quotas}
    found = [
        (turn_of[cls.quota], unit)
        for cls in state.classes_below(branch.quota.root)
        if cls.claim is Claim.IDLE and cls.kind is not UnitKind.HOLD and cls.quota in turn_of
        for bucket in cls.buckets.values()
        for *_, unit in bucket
        if unit.job.spec.idle is Idle.ONLY
    ]
    return sorted(found, key=lambda e: (e[0], eviction_cost(e[1], now_ms), -e[1].started_ms, e[1].name))
