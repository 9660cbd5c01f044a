"""Who borrows next where idle capacity is divided by share, and whom does a waiting borrower take from (I4)?

`fair_idle` on a quota speaks for all borrowers below it. Where the paths of two of them part, each belongs to a branch: a child
of that quota, or its own jobs. A branch's share of a resource is what it uses and borrows of it, by its weight (S6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby, zip_longest
from typing import NamedTuple, TypeVar

from quotatree.core.model.effort import BORROWERS, ONE_ATTEMPT, TURNS
from quotatree.core.model.job import Claim, Idle, Job, least_asked_for, total_request
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import idle_room, weights
from quotatree.core.model.resources import GPU, INFINITE, Resources
from quotatree.core.model.tree import Tree
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost
from quotatree.core.planning.attempt_facts import idle_refusal, passes_guard
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import bounded_by_pools, find_places
from quotatree.core.search.trial import implied, let_stay, with_companions
from quotatree.core.state import State

T = TypeVar("T")


class Branch(NamedTuple):
    """A child of the quota where paths part, or that quota's own jobs, which count as one more child (S6)."""

    quota: Quota
    own: bool = False

    def share(self, resource: int, more: int = 0) -> int | None:
        """Return what it has of a resource, with so much more, in billionths of its weight; None if it names no weight."""
        quota = self.quota
        weight = dict(quota.named if self.own else weights(quota)).get(resource)
        if weight is None:
            return None
        used, idle = (quota.own_used, quota.own_idle) if self.own else (quota.used, quota.idle)
        amount = max(0, used[resource] + idle[resource] + more)
        if not weight:
            return INFINITE if amount else 0
        return amount * 1_000_000_000 // weight

    def contains(self, quota: Quota) -> bool:
        return quota is self.quota if self.own else self.quota.contains(quota)


class FairTake(NamedTuple):
    """The units that a waiting borrower takes, and the quota below which the two share."""

    units: tuple[Unit, ...]
    quota: Quota


def sharing_from(quota: Quota) -> Quota | None:
    """Return the topmost quota on the path with fair borrowing, which is for all below it; None if there is none."""
    for above in reversed(quota.path):
        if above.spec.fair_idle:
            return above
    return None


def branch_below(parent: Quota, quota: Quota) -> Branch:
    """Return the branch of `parent` that a quota of its subtree belongs to."""
    if quota is parent:
        return Branch(parent, own=True)
    return Branch(quota.path[quota.depth - parent.depth - 1])


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
        Code.FairShareReached,
        quota=mine.quota.id,
        share=_percent(share),
        beside=other.quota.id,
        left=_percent(left),
    )


def _percent(share: int) -> str:
    return "all" if share >= INFINITE else f"{share // 10_000_000} %"


def fair_order(waiting: list[T], quota_of: Callable[[T], Quota], job_of: Callable[[T], Job]) -> list[T]:
    """Return waiting borrowers, which come in the order of S6, so that below fair borrowing the smaller share goes first (I4).

    The turns that the borrowers of one such quota have among all others stay theirs. A share is that after the start.
    """
    shared: dict[Quota, list[int]] = {}
    for position, one in enumerate(waiting):
        top = sharing_from(quota_of(one))
        if top is not None:
            shared.setdefault(top, []).append(position)
    found = list(waiting)
    for top, positions in shared.items():
        ranked = [(place, quota_of(waiting[p]), job_of(waiting[p])) for place, p in enumerate(positions)]
        for position, place in zip(positions, _by_share(top, ranked), strict=True):
            found[position] = waiting[positions[place]]
    return found


def spared_in_turn(tree: Tree, request: Resources) -> Iterator[frozenset[QuotaId]]:
    """Yield the quotas whose own borrowers a regular job spares at first when it takes idle work back (I3, I4).

    Below fair borrowing the largest share goes first at every level: all are spared but those whose turn is first, then second,
    and so on; at the end, when nobody is spared any more, nothing is yielded.
    """
    if tree.sharing is None:
        tree.sharing = list(_sharing_quotas(tree.root))
    if not tree.idle_units or not tree.sharing:
        return
    resource = next((i for i in range(3) if request[i]), 0)
    turns = [_turns(Branch(top), resource) for top in tree.sharing]
    for taken in range(1, min(max(map(len, turns), default=0), TURNS)):
        yield frozenset(q.id for of_one in turns for turn in of_one[taken:] for q in turn)


def _sharing_quotas(quota: Quota) -> Iterator[Quota]:
    """Yield the topmost quotas with fair borrowing, from here down."""
    if quota.spec.fair_idle:
        yield quota
        return
    for child in quota.children:
        yield from _sharing_quotas(child)


def _by_share(parent: Quota, ranked: list[tuple[int, Quota, Job]]) -> Iterator[int]:
    """Yield the ranks of borrowers below `parent`: at every level the branch with the smaller share after the start first."""
    branches: dict[Branch, list[tuple[int, Quota, Job]]] = {}
    for entry in ranked:
        branches.setdefault(branch_below(parent, entry[1]), []).append(entry)
    streams = []
    for branch, members in branches.items():
        jobs = {place: job for place, _, job in members}
        order = (place for place, *_ in members) if branch.own else _by_share(branch.quota, members)
        streams.append([(_share_after(branch, jobs[place]), place) for place in order])
    # A branch's members keep their order among themselves: only heads are compared.
    return (place for _, place in merge(*(_never_falling(stream) for stream in streams)))


def _never_falling(stream: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    highest = 0
    for share, place in stream:
        highest = max(highest, share)
        yield highest, place


def _share_after(branch: Branch, job: Job) -> int:
    request = total_request(job, least_asked_for(job))
    shares = [branch.share(i, request[i]) for i in range(3) if request[i]]
    return max((share for share in shares if share is not None), default=0)


class _Need:
    """What a waiting borrower needs: idle room, and places on devices that are free or being freed."""

    def __init__(self, state: State, job: Job) -> None:
        self.state, self.job = state, job
        numbers = least_asked_for(job)
        self.request = total_request(job, numbers)
        self._wanted = job.shaped(numbers)
        self._avoid = frozenset() if passes_guard(state, job) else job.quota.tree.guard_nodes

    def met(self, overlay: Overlay) -> bool:
        """Return whether the job could run idle if the state were as the overlay supposes."""
        self.state.work.done += ONE_ATTEMPT
        if idle_refusal(self.state, self.job, self.request, overlay) is not None:
            return False
        root = self.job.quota.root
        return (
            find_places(self.state, root, self._wanted, now=False, avoid=self._avoid, overlay=overlay)
            is not None
        )

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
            and idle_refusal(self.state, self.job, Resources(*(self.request[j] * (j == i) for j in range(3))))
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
    if not units or (need.plain() and not _Taking.all_of(need, least, units).enough()):
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
    for unit in sorted(units, key=lambda u: (dear(u), -u.started_ms, u.name)):
        trial.take(unit)
        if trial.enough():
            break
    let_stay(list(trial.taken), dear, trial.spare)
    found = list(trial.taken)
    if len(found) > 1:
        spent = sum(dear(unit) for unit in found)
        alone = _Taking(need, least)
        for unit in sorted(units, key=lambda u: (dear(u), -u.started_ms, u.name)):
            if dear(unit) > spent:
                break
            if not alone.too_small(unit):
                alone.take(unit)
                if alone.enough():
                    return [unit]
                alone.give_back(unit)
    return found


def _size(units: Iterable[Unit]) -> list[int]:
    """Return what these units have of each resource, with all that they take along."""
    pieces = dict.fromkeys(piece for unit in units for piece in with_companions([unit]))
    return [sum([piece.footprint[i] for piece in pieces]) for i in range(3)]


class _Taking:
    """Units that have been taken so far, on an overlay of the state."""

    def __init__(self, need: _Need, least: dict[int, int]) -> None:
        self._need, self._least = need, least
        self._overlay = Overlay(need.state)
        self.taken: dict[Unit, list[Unit]] = {}  # each with what goes along with it
        self._sum = [0, 0, 0]

    @classmethod
    def all_of(cls, need: _Need, least: dict[int, int], units: list[Unit]) -> _Taking:
        """Return a trial that has taken all these units."""
        trial = cls(need, least)
        for unit in units:
            trial.take(unit)
        return trial

    def too_small(self, unit: Unit) -> bool:
        """Return whether a unit, with all it takes along, is less than what must go at least: alone it is not enough."""
        pieces = with_companions([unit])
        return any(sum([piece.footprint[i] for piece in pieces]) < least for i, least in self._least.items())

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
    turn_of = {quota: turn for turn, quotas in enumerate(_turns(branch, resource)) for quota in quotas}
    found = [
        (turn_of[cls.quota], unit)
        for cls in state.classes_below(branch.quota.root)
        if cls.claim is Claim.IDLE and cls.kind is not UnitKind.HOLD and cls.quota in turn_of
        for bucket in cls.buckets.values()
        for *_, unit in bucket
        if unit.job.spec.idle is Idle.ONLY
    ]
    return sorted(found, key=lambda e: (e[0], eviction_cost(e[1], now_ms), -e[1].started_ms, e[1].name))


def _turns(branch: Branch, resource: int) -> list[list[Quota]]:
    """Return the quotas of a branch whose own jobs run idle, in the order in which they are taken from: at every level the largest
    share first. Where shares are equal, their quotas have their turns together."""
    quota = branch.quota
    if branch.own:
        return [[quota]]
    below = [Branch(child) for child in quota.children if any(child.idle)]
    if any(quota.own_idle):
        below.append(Branch(quota, own=True))
    below.sort(key=lambda part: -(part.share(resource) or 0))
    found: list[list[Quota]] = []
    for _, equal in groupby(below, key=lambda part: part.share(resource) or 0):
        for together in zip_longest(*(_turns(part, resource) for part in equal), fillvalue=()):
            found.append([quota for turn in together for quota in turn])
    return found
