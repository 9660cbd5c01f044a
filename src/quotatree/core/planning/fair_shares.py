"""Who borrows next where idle capacity is divided by share, and from whom is taken back first (I4, I3)?

`fair_idle` on a quota speaks for all borrowers below it. Where the paths of two of them part, each belongs to a branch: a child
of that quota, or its own jobs. A branch's share of a resource is what it uses and borrows of it, by its weight (S6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from itertools import groupby, zip_longest
from typing import NamedTuple, TypeVar

from quotatree.core.model.effort import TURNS
from quotatree.core.model.job import Job, least_asked_for, total_request
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import weights
from quotatree.core.model.resources import INFINITE, Resources
from quotatree.core.model.tree import Tree

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
    turns = [turns_of(Branch(top), resource) for top in tree.sharing]
    for taken in range(1, min(max(map(len, turns), default=0), TURNS)):
        yield frozenset(q.id for of_one in turns for turn in of_one[taken:] for q in turn)


def _sharing_quotas(quota: Quota) -> Iterator[Quota]:
    """Yield the topmost quotas with fair borrowing, from here down."""
    if quota.spec.fair_idle:
        yield quota
        return
    for child in quota.children:
        yield from _sharing_quotas(child)


def turns_of(branch: Branch, resource: int) -> list[list[Quota]]:
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
        for together in zip_longest(*(turns_of(part, resource) for part in equal), fillvalue=()):
            found.append([quota for turn in together for quota in turn])
    return found
