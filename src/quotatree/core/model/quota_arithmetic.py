"""The quota tree's arithmetic (Q1-Q8, P3): small functions, each says what its quantity is.

`used` counts regular work of a quota and of all its descendants; `min` (desired) is guarantee and cap. A quantity is
per resource and may be negative only where said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from quotatree.core.errors import Refused
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.resources import INFINITE, RESOURCE_NAMES, ZERO, Bounds, Resources, amount_text
from quotatree.core.sentences import Sentence, a_quota


class Shortage(NamedTuple):
    """A quota on the path that has no room for a request: `free` may be negative (a loan)."""

    quota: Quota
    resource: int
    wanted: int
    free: int


def surplus_may_do(short: Shortage) -> bool:
    """Return whether the quota would have room if all surplus in it and below it left (P12)."""
    return short.free + short.quota.surplus[short.resource] >= short.wanted


class Usage(Protocol):
    """What quotas would use in a supposed state (search/overlay.py); the functions below take it instead of real use."""

    def used(self, quota: Quota) -> list[int]: ...

    def idle(self, quota: Quota) -> list[int]: ...

    def changed_children(self, quota: Quota) -> list[Quota]:
        """Return the children of a quota that would use another amount than they really do."""
        ...


def loan(quota: Quota, resource: int, usage: Usage | None = None) -> int:
    """Return how much regular work is above the quota's own min (P3)."""
    bound = quota.min[resource]
    used = quota.used if usage is None else usage.used(quota)
    return 0 if bound is None else max(0, used[resource] - bound)


def has_loan(quota: Quota, usage: Usage | None = None) -> bool:
    used = quota.used if usage is None else usage.used(quota)
    for i, bound in quota.named:  # noqa: SIM110  # asked for every quota of a path in every start: no generator
        if used[i] > bound:
            return True
    return False


def loan_on_path(quota: Quota) -> bool:
    """Return whether the quota or one above it is above its min."""
    for above in quota.path:
        used = above.used
        for i, bound in above.named:
            if used[i] > bound:
                return True
    return False


def unused(quota: Quota, resource: int, usage: Usage | None = None) -> int:
    """Return how much of its guarantee the quota's regular work does not use; 0 if the resource is not bounded."""
    bound = quota.min[resource]
    used = quota.used if usage is None else usage.used(quota)
    return 0 if bound is None else max(0, bound - used[resource])


def squeezed(quota: Quota, resource: int) -> int:
    """Return how much of its unused guarantee the quota cannot use now, since quotas above it have less room (Q4)."""
    bound = quota.min[resource]
    if bound is None:
        return 0
    room_above = [
        limit - above.used[resource] for above in quota.path[1:] for i, limit in above.named if i == resource
    ]
    if not room_above:
        return 0
    return max(0, bound - quota.used[resource] - max(0, min(room_above)))


def protected(quota: Quota, resource: int, usage: Usage | None = None) -> int:
    """Return how much must be kept free for the part of `reserved`, here and below, that is not in use yet (Q8)."""
    if usage is None:
        return quota.kept[resource]
    missing = quota.spec.reserved[resource] - usage.used(quota)[resource]
    return max(0, missing, protected_below(quota, resource, usage))


def protected_below(quota: Quota, resource: int, usage: Usage | None = None) -> int:
    """Return the sum of `protected` of the children. Only those are looked at that have another use by `usage`."""
    total = quota.kept_below[resource]
    for child in usage.changed_children(quota) if usage is not None else ():
        total += protected(child, resource, usage) - child.kept[resource]
    return total


def protected_from(quota: Quota, above: Quota, resource: int, usage: Usage | None = None) -> int:
    """Return how much must be kept free at a quota on the path of `quota` when work of `quota` starts (Q8).

    Of reserved parts only those count that the work is not below: a quota's own part is there for it.
    """
    total = protected_below(quota, resource, usage)
    level = quota
    while level is not above and level.parent is not None:
        total += protected_below(level.parent, resource, usage) - protected(level, resource, usage)
        level = level.parent
    return total


def count_kept(quota: Quota) -> None:
    """Count `kept` and `kept_below` anew, here and below."""
    for child in quota.children:
        count_kept(child)
    for i in range(3):
        quota.kept_below[i] = sum(child.kept[i] for child in quota.children)
        quota.kept[i] = max(0, quota.spec.reserved[i] - quota.used[i], quota.kept_below[i])


def _follow_use(quota: Quota, resource: int) -> None:
    """Bring `kept` up to date along the path of a quota after the use of a resource has changed there."""
    for above in quota.path:
        missing = above.spec.reserved[resource] - above.used[resource]
        kept = max(0, missing, above.kept_below[resource])
        more = kept - above.kept[resource]
        if more:
            above.kept[resource] = kept
            if above.parent is not None:
                above.parent.kept_below[resource] += more


def shortage(
    quota: Quota, request: Resources, *, loan_allowed: bool = False, past_guard: bool = False,
    usage: Usage | None = None,
) -> Shortage | None:  # fmt: skip
    """Return the first quota on the path, bottom up, where regular work of size `request` does not fit, or None (Q3, Q8).

    `loan_allowed` passes the quota's own min, never an ancestor's (P3). `past_guard` ignores what a starvation guard
    keeps for its job (S10).
    """
    reserving = quota.tree.shares_reserved
    for above in quota.path:
        if loan_allowed and above is quota:
            continue
        used = above.used if usage is None else usage.used(above)
        for i, bound in above.named:
            wanted = request[i]
            if not wanted:
                continue
            free = bound - used[i]
            if not past_guard:
                free -= above.shadow[i]
            if reserving:
                free -= protected_from(quota, above, i, usage)
            if wanted > free:
                return Shortage(above, i, wanted, free)
    return None


def over_while_ending(quota: Quota, request: Resources, more: Resources) -> bool:
    """Return whether the quota, or one above it, would be above its min if work that its own jobs are ending still counted (P9).

    Of the resources of `request` alone; `more`: what would be used beyond what is.
    """
    if not any(quota.ending):
        return False
    asked = [i for i in range(3) if request[i] and quota.ending[i]]
    return any(
        above.used[i] + more[i] + quota.ending[i] > bound
        for above in quota.path
        for i, bound in above.named
        if i in asked
    )


def most_room(quota: Quota) -> list[int | None]:
    """Return how much regular work of each resource may fit on the path at most: what is more does not (Q3, Q8); None: any amount."""
    found: list[int | None] = [None, None, None]
    reserving = quota.tree.shares_reserved
    for above in quota.path:
        for i, bound in above.named:
            free = bound - above.used[i]
            if reserving:
                free -= protected_from(quota, above, i)
            known = found[i]
            found[i] = free if known is None else min(known, free)
    return found


def deficit(
    quota: Quota, request: Resources, *, loan_allowed: bool = False, past_guard: bool = False,
    usage: Usage | None = None,
) -> Resources:  # fmt: skip
    """Return how much of each resource must be freed so that the request fits every quota on the path (Q3, Q8).

    It is the most that any of them lacks; the arguments are those of `shortage`.
    """
    short = [0, 0, 0]
    for above in quota.path:
        if loan_allowed and above is quota:
            continue
        for i, lacks in enumerate(deficit_at(above, quota, request, past_guard=past_guard, usage=usage)):
            short[i] = max(short[i], lacks)
    return Resources(*short)


def deficit_at(
    above: Quota, quota: Quota, request: Resources, *, past_guard: bool, usage: Usage | None = None
) -> Resources:
    """Return what one quota on the path of `quota` lacks of each resource for the request, as `deficit` counts it."""
    short = [0, 0, 0]
    used = above.used if usage is None else usage.used(above)
    for i, bound in above.named:
        if not request[i]:
            continue
        over = used[i] + request[i] - bound
        if not past_guard:
            over += above.shadow[i]
        if quota.tree.shares_reserved:
            over += protected_from(quota, above, i, usage)
        short[i] = max(0, over)
    return Resources(*short)


def reserved_below(quota: Quota, request: Resources) -> bool:
    """Return whether a child has an unused reserved part in a wanted resource, which a loan would put out of reach (Q8)."""
    if not quota.tree.shares_reserved:
        return False
    wanted = [i for i, _ in quota.named if request[i]]
    return any(quota.kept_below[i] for i in wanted)


def charge(quota: Quota, amount: Resources, sign: int, idle: bool) -> None:
    """Count (sign 1) or discount (sign -1) running work along the path of its quota."""
    own = quota.own_idle if idle else quota.own_used
    for i, units in enumerate(amount):
        if not units:
            continue
        step = units * sign
        own[i] += step
        if idle:
            for above in quota.path:
                above.idle[i] += step
            continue
        for above in quota.path:
            above.used[i] += step
        if quota.tree.shares_reserved:
            _follow_use(quota, i)


def charge_surplus(quota: Quota, amount: Resources, sign: int) -> None:
    """Count (sign 1) or discount (sign -1) surplus replicas along the path of their quota, beside `charge`."""
    for above in quota.path:
        for i, units in enumerate(amount):
            above.surplus[i] += sign * units


def followed_down(quota: Quota) -> tuple[list[int | None], bool]:
    """Return `actual` of a shrinking quota, brought down to use but not below `min`, and whether use is still above (Q5)."""
    actual = list(quota.actual)
    still_above = False
    for i, bound in quota.named:
        now = actual[i]
        actual[i] = max(bound, min(bound if now is None else now, quota.used[i]))
        still_above = still_above or quota.used[i] > bound
    return actual, still_above


def idle_room(quota: Quota, capacity: int, resource: int, usage: Usage | None = None) -> int:
    """Return how much more idle work a job of `quota` may add to its tree (I2); may be negative.

    `capacity`: what the tree has of the resource. Quotas that do not lend keep their unused min for their own idle work.
    """
    root = quota.root
    kept = outside = 0
    mine: Quota | None = None
    if root.tree.closed is None:
        root.tree.closed = list(_topmost_closed(root))
    for closed in root.tree.closed:
        keeps = unused(closed, resource, usage)
        stands = _idle(closed, usage)[resource]
        kept += max(keeps, stands)
        outside += stands
        if closed.contains(quota):
            mine = closed
    used = root.used if usage is None else usage.used(root)
    room = capacity - used[resource] - kept - (_idle(root, usage)[resource] - outside)
    if mine is not None:
        room += max(0, unused(mine, resource, usage) - _idle(mine, usage)[resource])
    return room


def _idle(quota: Quota, usage: Usage | None) -> list[int]:
    return quota.idle if usage is None else usage.idle(quota)


def _topmost_closed(quota: Quota) -> Iterator[Quota]:
    """Yield the quotas from here down that do not lend, without those below them."""
    if not quota.spec.lending:
        yield quota
        return
    for child in quota.children:
        yield from _topmost_closed(child)


def weights(quota: Quota) -> tuple[tuple[int, int], ...]:
    """Return what the quota's share is measured against, as (resource, amount): its declared weight, else its min (S6)."""
    declared = quota.spec.weight
    if declared is None:
        return quota.named
    merged = [min_ if said is None else said for said, min_ in zip(declared, quota.min, strict=True)]
    return tuple((i, amount) for i, amount in enumerate(merged) if amount is not None)


def share_key(quota: Quota) -> int:
    """Return the largest (used + idle borrowed) / weight over the resources, in billionths; a weight of 0 sorts last (S6)."""
    return _largest_share(weights(quota), quota.used, quota.idle)


def own_share_key(quota: Quota) -> int:
    """Return the share of the quota's own jobs, which count as one more child of it with the quota's min as weight (S6)."""
    return _largest_share(quota.named, quota.own_used, quota.own_idle)


def _largest_share(against: tuple[tuple[int, int], ...], used: list[int], idle: list[int]) -> int:
    worst = 0
    for i, weight in against:
        worst = max(worst, (used[i] + idle[i]) * 1_000_000_000 // weight if weight else INFINITE)
    return worst


def inherited_ms(declared: Iterable[int | None]) -> int:
    """Return the first time that is declared, in ms, of those along the path of a quota; 0 if none is (P11)."""
    return next((time_ms for time_ms in declared if time_ms is not None), 0)


def check_children_fit(parent: Quota, changed: dict[QuotaId, Bounds], rule: str = "Q1") -> None:
    """Raise Refused unless Σ children.min ≤ parent.min for every resource both name.

    `changed` holds mins about to be set, of the parent, its children or a child to come.
    """
    bounds = changed.get(parent.id, Bounds(*parent.min))
    for i, bound in enumerate(bounds):
        if bound is None:
            continue
        total = 0
        for child_id, child_min in [(c.id, changed.get(c.id, Bounds(*c.min))) for c in parent.children] + [
            (q, b) for q, b in changed.items() if q != parent.id and all(c.id != q for c in parent.children)
        ]:
            del child_id
            total += child_min[i] or 0
        if total > bound:
            raise Refused(
                f"min.{RESOURCE_NAMES[i]}",
                amount_text(i, total),
                rule,
                Sentence(
                    "the children of ",
                    a_quota(parent.id),
                    f" would have {amount_text(i, total)} in all, more than its own {amount_text(i, bound)}",
                ),
            )


def fits_own_min(quota: Quota, request: Resources, surplus: Resources = ZERO) -> bool:
    """Return whether the request fits the quota's own min, in the resources that it asks for, once this surplus has left (P15)."""
    used = quota.used
    for i, bound in quota.named:  # noqa: SIM110  # asked for every job that may be tried: no generator
        if request[i] and used[i] - surplus[i] + request[i] > bound:
            return False
    return True
