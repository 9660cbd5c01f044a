"""The cheapest units that free the quota a trial still lacks, wherever they stand (ADR 0008).

Units of one class and size stand in buckets ordered cheapest first, so only a prefix of each bucket can matter: as many
as the amount needs. Over those, a knapsack cover is solved exactly when it is small, else greedily by cost per GPU with
the superfluous put back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import replace
from heapq import heappush, heappushpop
from typing import Final

from quotatree.core.model.effort import ONE_BY_ONE
from quotatree.core.model.job import Idle
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import GPU, INFINITE, ZERO, Resources
from quotatree.core.model.unit import Unit, UnitClass, UnitKind, companions, eviction_cost, total_footprint
from quotatree.core.search.eligible import Entitled
from quotatree.core.search.knapsack import Item, Wholes, cover, cover_both
from quotatree.core.search.trial import NOTHING, Proposal, Trial, implied, quota_freed_by, with_companions

SCALE: Final = 840 * 840
"""Ratios are compared as integers, in units of one part in SCALE."""


def cheapest_cover(trial: Trial) -> Proposal | None:
    """Return the cheapest eligible units, none of them taken yet, that free the rest of the quota, or None.

    They free all that is left, or all but what units that go along have freed already.
    Where only quota is short and the tree's idle work may grow (`demote_room` not below 0), a unit whose job allows
    idle costs nothing: it is turned idle. That moves its share from used to idle, so the idle room stays the same (I1).
    """
    left, inside = trial.quota_left(), trial.inside_left()
    if any(inside):
        return _cover_with_inside(trial, left, inside)
    short = [i for i in range(3) if left[i] > 0]
    if not short:
        return NOTHING
    main = GPU if GPU in short else short[0]
    if left[main] > _known_total(trial, main):
        return None
    items = _prefixes(trial, left, main)
    trial.request.effort.spend(4 + len(items) // 4)
    total = _most_freed(trial, items, main)
    if total < left[main]:
        _note_total(trial, main, total)
        return None
    if trial.protections is not None:
        # Whoever may not go alone may not go with others, either.
        items = [item for item in items if trial.may_go_alone(item[1])]
        total = _most_freed(trial, items, main)
        if total < left[main]:
            _note_total(trial, main, total)
            return None
    found = _exact_if_lawful(trial, items, left, main) if len(short) == 1 else None
    if found is not None:
        return found
    return _greedy(trial, items, left)


def too_little_may_go(trial: Trial) -> bool:
    """Return True only if no set frees the quota: all units together that may go alone, from quotas with reserved parts no more
    than they may lose, are less than what is short (Q8, P15).

    A search over nodes learns this only after it has filled them, in every way that it knows.
    """
    left = trial.quota_left()
    short = [i for i in range(3) if left[i] > 0]
    if trial.protections is None or not short:
        return False
    main = GPU if GPU in short else short[0]
    missing = left[main]
    if missing > _known_total(trial, main):
        return True
    left_of: dict[Quota, int] = {}  # what quotas with reserved parts may still lose
    for cls, entitled in trial.signature.classes_in(trial.state):
        if not entitled.frees_quota or entitled.rung > trial.rung:
            continue
        bound = trial.protections.most_of(cls.quota, main)
        most = missing if bound is None else left_of.setdefault(*bound)
        before = missing
        for unit in _unprotected(trial, cls, entitled):
            if missing <= before - most:
                break
            missing -= min(unit.footprint[main] if trial.may_go_alone(unit) else 0, most - before + missing)
            if missing <= 0:
                return False
        if bound is not None:
            left_of[bound[0]] -= before - missing
    _note_total(trial, main, left[main] - missing)
    return True


def _unprotected(trial: Trial, cls: UnitClass, entitled: Entitled) -> Iterator[Unit]:
    for bucket in cls.buckets.values():
        for *_, unit in bucket:
            if not entitled.spares(unit, trial.now_ms):
                yield unit


def may_be_demoted(unit: Unit, besides: int = 0) -> bool:
    """Return whether this unit may be turned idle (I1, I2).

    It must run, be of a job that allows idle and has no hold, and its quota's idle limit must have room for it beside
    what it uses and `besides`, in milli-GPU.
    """
    job = unit.job
    runs = unit.cls.kind in (UnitKind.CORE, UnitKind.WANTED)
    if not runs or job.spec.idle is not Idle.ALLOW or job.hold is not None:
        return False
    limit = job.quota.spec.idle_limit_milli
    return limit is None or job.quota.own_idle[GPU] + besides + _size(unit) <= limit


def demoted_together(units: Collection[Unit], now_ms: int) -> frozenset[Unit]:
    """Return those of the units that may be turned idle together; the dearest use up a quota's idle limit first (I2)."""
    borrowed: dict[str, int] = {}
    found = []
    for unit in sorted(units, key=lambda u: (-eviction_cost(u, now_ms), u.name)):
        quota = unit.job.quota.id
        if may_be_demoted(unit, borrowed.get(quota, 0)):
            borrowed[quota] = borrowed.get(quota, 0) + _size(unit)
            found.append(unit)
    return frozenset(found)


def _size(unit: Unit) -> int:
    """Return the milli-GPU of a unit and of what it takes along."""
    return sum(u.footprint[GPU] for u in with_companions([unit]))


# -- the units to choose from --------------------------------------------------------------------------------------


def _known_total(trial: Trial, main: int) -> int:
    """Return what all units on offer have of a resource, if a search that went through all of them noted it; else no bound.

    It was noted by a search that found too little, so that the next ones, for other amounts, need not go through them again.
    """
    noted = trial.signature.quota.tree.too_little.get(_key_of_total(trial, main))
    if noted is None or trial.taken or trial.overlay.off:
        return INFINITE
    seen, now_ms, total = noted
    return total if seen == trial.state.all_changes and now_ms == trial.now_ms else INFINITE


def _note_total(trial: Trial, main: int, total: int) -> None:
    if trial.signature.key and not trial.taken and not trial.overlay.off:
        noted = (trial.state.all_changes, trial.now_ms, total)
        trial.signature.quota.tree.too_little[_key_of_total(trial, main)] = noted


def _key_of_total(trial: Trial, main: int) -> tuple[object, ...]:
    return (trial.signature.key, trial.rung, main, trial.protections is not None)


def _prefixes(trial: Trial, left: Resources, main: int) -> list[Item]:
    """Return, of each bucket, the cheapest units that could be needed; all of them where the amount alone does not tell.

    Of one size, in whatever bucket, no unit is needed that is dearer than as many others as would do alone. A bucket has the
    cheapest first, so most of them end with a look at one unit, however many quotas and priorities there are.
    """
    signature, now_ms = trial.signature, trial.now_ms
    gone = {*with_companions(list(trial.taken)), *trial.overlay.off}
    demotes = trial.request.demote_room >= 0
    several = sum(1 for amount in left if amount > 0) > 1 or any(trial.request.inside)
    every_one = trial.protections is not None or several
    elastic = bool(trial.request.quota.tree.elastic)
    items: list[Item] = []
    cheapest: dict[int, list[int]] = {}  # by size: costs, negated, of as many units as would do alone
    for cls, entitled in signature.classes_in(trial.state):
        if not cls.buckets or not entitled.frees_quota or entitled.rung > trial.rung:
            continue
        for (gpu_milli, interval_ms), bucket in sorted(cls.buckets.items(), key=_bucket_order):
            amount = gpu_milli if main == GPU else 0
            enough = -(-left[main] // amount) if amount and not every_one else len(bucket)
            start = 0
            if interval_ms is not None:
                start = bisect_right(bucket, now_ms % interval_ms, key=lambda entry: entry[0])
            count = 0
            beyond = 0  # units looked at after as many as could be needed
            would_do = cheapest.setdefault(amount, []) if amount and not every_one and not demotes else None
            for k in range(len(bucket)):
                unit = bucket[start - 1 - k][3] if interval_ms is not None else bucket[k][3]
                if unit in gone or entitled.spares(unit, now_ms):
                    continue
                if beyond or (would_do and len(would_do) == enough and unit.cost(now_ms) > -would_do[0]):
                    beyond += 1
                    if not elastic or beyond > ONE_BY_ONE:
                        break
                whole = elastic and _takes_along(unit)
                if beyond and not whole:
                    continue
                free = demotes and may_be_demoted(unit)
                cost = 0 if free else eviction_cost(unit, now_ms)
                items.append((cost, unit))
                if whole:
                    continue
                count += not free
                if would_do is not None:
                    (heappush if len(would_do) < enough else heappushpop)(would_do, -cost)
                if count >= enough:
                    beyond = 1
                    if not elastic:
                        break
    return items


def _takes_along(unit: Unit) -> bool:
    """Return whether other units go with this one: the replicas of its job beyond the core, or a hold for more of them."""
    return unit.cls.kind is UnitKind.CORE and unit.job.composite


def _freed_by(trial: Trial, unit: Unit, but: Collection[Unit] = ()) -> Resources:
    """Return what it frees in the quotas if this unit goes with all it takes along, without what some of these free already."""
    if not _takes_along(unit):
        return unit.footprint
    pieces = [unit, *[piece for piece in companions(unit) if piece not in but]]
    return quota_freed_by(trial.signature, pieces)


def _most_freed(trial: Trial, items: list[Item], main: int) -> int:
    """Return at least as much as all items free together, with replicas that may only go with their core."""
    return sum([unit.footprint[main] for _, unit in items]) + sum(_wholes(trial, items, main).values())


def _wholes(trial: Trial, items: list[Item], main: int) -> Wholes:
    """Return the cores among the items that take along what frees the resource, too, each with how much it frees in all."""
    gone = {*trial.taken, *trial.overlay.off}
    freed = {unit: _freed_by(trial, unit, gone)[main] for _, unit in items if _takes_along(unit)}
    return {unit: amount for unit, amount in freed.items() if amount > unit.footprint[main]}


def _bucket_order(entry: tuple[tuple[int, int | None], object]) -> tuple[int, int]:
    (gpu_milli, interval_ms), _ = entry
    return (gpu_milli, interval_ms or 0)


# -- small: exactly ------------------------------------------------------------------------------------------------


def _exact_if_lawful(trial: Trial, items: list[Item], left: Resources, main: int) -> Proposal | None:
    """Solve without protections; return that only if it satisfies them."""
    exact = trial.request.exact
    before = exact.left
    found = cover(items, main, left[main], exact, _wholes(trial, items, main))
    trial.request.effort.spend(before - exact.left)
    return None if found is None else _lawful(trial, items, left, ZERO, found)


def _lawful(
    trial: Trial, items: list[Item], left: Resources, inside: Resources, found: Proposal
) -> Proposal | None:
    """Return the proposal, with nobody who is not needed; None if its units may not be taken together."""
    if any(u.job.composite and u.cls.kind is UnitKind.CORE for u in found.units):
        found = _minimal(trial, items, left, found.units, inside)  # cores free their surplus too
    if trial.protections is None or trial.protections.allow(with_companions(list(found.units))):
        return found
    return None


def _minimal(
    trial: Trial, items: list[Item], left: Resources, units: Collection[Unit], inside: Resources = ZERO
) -> Proposal:
    """Drop each unit, dearest first, without which the others still free what is left (P8)."""
    rest = Trial(replace(trial.request, deficit=left, inside=inside), trial.rung, trial.overlay)
    rest.costs = {unit: cost for cost, unit in items}
    rest.take_all(units)
    rest.minimise()
    return rest.proposal()


# -- large: greedily -----------------------------------------------------------------------------------------------


def _greedy(trial: Trial, items: list[Item], left: Resources) -> Proposal | None:
    """Take units by cost per amount until what is left is covered, then drop those not needed; None if not covered."""
    short = [i for i in range(3) if left[i] > 0]

    def key(item: Item) -> tuple[int, int, int, tuple[str, int]]:
        cost, unit = item
        frees = _freed_by(trial, unit)
        useful = sum(min(SCALE, frees[i] * SCALE // left[i]) for i in short)
        return (cost * SCALE // max(1, useful), cost, -unit.started_ms, unit.name)

    chosen: list[Unit] = []
    missing = list(left)
    for _, unit in sorted(items, key=key):
        if all(missing[i] <= 0 for i in short):
            break
        frees = _freed_by(trial, unit, chosen)
        if implied(unit, chosen) or not any(missing[i] > 0 and frees[i] for i in short):
            continue
        if trial.protections is not None:
            trial.request.effort.spend(1 + len(chosen) // 8)
            if not trial.protections.allow(with_companions([*chosen, unit])):
                continue
        chosen.append(unit)
        for i in short:
            missing[i] -= frees[i]
    if any(missing[i] > 0 for i in short):
        return None
    return _minimal(trial, items, left, chosen)


# -- where part of it must be freed in the taker's own quota -------------------------------------------------------


def _cover_with_inside(trial: Trial, left: Resources, inside: Resources) -> Proposal | None:
    """Return the cheapest units that free what is left, and `inside` in the taker's quota or below it; None if there are none."""
    short = [i for i in range(3) if left[i] > 0 or inside[i] > 0]
    main = GPU if GPU in short else short[0]
    items = _prefixes(trial, left, main)
    trial.request.effort.spend(len(items) // 4)
    if len(short) == 1:
        found = _both(trial, items, left, inside, main)
        if found is None and trial.protections is not None:  # only units that may go alone
            items = [item for item in items if trial.may_go_alone(item[1])]
            found = _both(trial, items, left, inside, main)
        if found is not None:
            return found
    own, _ = _split(trial, items)
    first = _greedy(trial, own, inside)
    if first is None:
        return None
    others = [item for item in items if item[1] not in first.units]
    more = _greedy(trial, others, left.lacking(total_footprint(first.units)))
    if more is None:
        return None
    return _lawful(trial, items, left, inside, _minimal(trial, items, left, first.units + more.units, inside))


def _both(trial: Trial, items: list[Item], left: Resources, inside: Resources, main: int) -> Proposal | None:
    """Solve for one resource without protections; return that only if it satisfies them."""
    wholes = _wholes(trial, items, main)
    found = cover_both(*_split(trial, items), main, inside[main], left[main], trial.request.exact, wholes)
    return None if found is None else _lawful(trial, items, left, inside, found)


def _split(trial: Trial, items: list[Item]) -> tuple[list[Item], list[Item]]:
    """Return the items in the taker's quota or below it, and the others."""
    own = trial.request.quota
    within = [item for item in items if own.contains(item[1].cls.quota)]
    return within, [item for item in items if not own.contains(item[1].cls.quota)]
