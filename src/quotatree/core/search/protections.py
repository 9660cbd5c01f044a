"""How much may be taken together: reserved parts (Q8), quotas that go no deeper than their min (P4), and returns (P15)?

Who may be taken at all says the signature (eligible.py); what is asked here is of a *set* of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from quotatree.core.model.job import Claim
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import Usage, has_loan, loan
from quotatree.core.model.rights import Work, kept_from
from quotatree.core.model.unit import Unit
from quotatree.core.reasons import Code
from quotatree.core.search.eligible import Signature


class _Outside(NamedTuple):
    """The quotas on the path of a victim's quota that the taker is not in, and those of them with reserved parts."""

    reserving: tuple[Quota, ...]
    topmost_first: tuple[Quota, ...]


class Protections:
    """Bounds on a set of victims; a return stops at what the claimant may claim (P15). `usage` is what the quotas use before it is taken."""

    __slots__ = ("_outside", "_signature", "_taker", "_usage")

    def __init__(self, signature: Signature, usage: Usage) -> None:
        self._signature, self._usage = signature, usage
        self._taker = signature.quota
        self._outside: dict[QuotaId, _Outside] = {}

    def allow(self, units: Iterable[Unit]) -> bool:
        """Return whether exactly these units may be taken together. If so, any of them may be taken without the others."""
        reserved: dict[str, tuple[Quota, list[int]]] = {}
        bounded: dict[str, tuple[Quota, list[tuple[int, int, int]], list[tuple[int, int, int]]]] = {}
        lenders: dict[str, Quota | None] = {}  # by the quota of a unit
        entitled_of = self._signature.entitled
        for unit in units:
            cls = unit.cls
            entitled = entitled_of(cls)
            if entitled is None or cls.claim is Claim.IDLE:
                continue
            name = cls.quota.id
            outside = self._outside.get(name) or self._look_at(cls.quota)
            for quota in outside.reserving:
                taken = reserved.setdefault(quota.id, (quota, [0, 0, 0]))[1]
                for i in range(3):
                    taken[i] += unit.footprint[i]
            if entitled.down_to_min:
                if name not in lenders:
                    lent = (quota for quota in outside.topmost_first if has_loan(quota, self._usage))
                    lenders[name] = next(lent, None)
                lender = lenders[name]
                if lender is None:  # at its min already, after victims for another group of the job
                    return False
                _, sizes, returned = bounded.setdefault(lender.id, (lender, [], []))
                sizes.append(unit.footprint)
                if entitled.rule is Code.ReturnOfLoan:
                    returned.append(unit.footprint)
        for quota, taken in reserved.values():
            used = self._usage.used(quota)
            for i in range(3):
                if taken[i] and used[i] - taken[i] < quota.spec.reserved[i]:
                    return False
        return all(
            self._stops_in_time(quota, sizes, None)
            and (not returned or self._stops_in_time(quota, returned, self._signature.work))
            for quota, sizes, returned in bounded.values()
        )

    def most_of(self, quota: Quota, resource: int) -> tuple[Quota, int] | None:
        """Return a quota on the path of this one that keeps a reserved part of a resource from the taker, and how much of it may
        go in all (Q8); None if there is none."""
        outside = self._outside.get(quota.id) or self._look_at(quota)
        for above in outside.reserving:
            reserved = above.spec.reserved[resource]
            if reserved:
                return above, max(0, self._usage.used(above)[resource] - reserved)
        return None

    def reserving(self, unit: Unit) -> Quota | None:
        """Return the lowest quota on the path of a unit that keeps a reserved part from the taker; None if there is none, or the unit
        may leave whatever is reserved (Q8)."""
        if unit.cls.claim is Claim.IDLE:
            return None
        outside = self._outside.get(unit.cls.quota.id) or self._look_at(unit.cls.quota)
        return outside.reserving[0] if outside.reserving else None

    def may_lose(self, quota: Quota) -> tuple[int | None, int | None, int | None]:
        """Return how much of each resource may leave a quota with a reserved part; None: as much as it has (Q8)."""
        used, reserved = self._usage.used(quota), quota.spec.reserved
        gpu, cpu, memory = (max(0, used[i] - reserved[i]) if reserved[i] else None for i in range(3))
        return gpu, cpu, memory

    def _look_at(self, quota: Quota) -> _Outside:
        """Return, and remember, the quotas on the path of this one that the taker is not in."""
        above = [level for level in quota.path if not level.contains(self._taker)]
        reserving = tuple(level for level in above if any(level.spec.reserved))
        found = self._outside[quota.id] = _Outside(reserving, tuple(reversed(above)))
        return found

    def _stops_in_time(self, quota: Quota, sizes: list[tuple[int, int, int]], claimant: Work | None) -> bool:
        """Return whether, in some order, each of these footprints is taken while the quota is above its min in one resource.

        With a claimant: above its min by more than the claimant may not claim, in a resource that it asks for (P15).
        """
        for i, _ in quota.named:
            if claimant is not None and i not in self._signature.asked_for:
                continue
            over = loan(quota, i, self._usage)
            if claimant is not None:
                over -= kept_from(quota, claimant, i)
            if over > 0 and sum(s[i] for s in sizes) - max(s[i] for s in sizes) < over:
                return True
        return False
