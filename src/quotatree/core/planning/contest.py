"""Whose turn is it among the first jobs of many quotas (S6), as shares and queues change one at a time?

The highest queue priority goes first. Among equal ones the branch with the smallest share goes first, where the paths of their
quotas part; a quota's own jobs count as one more branch of it. So every quota has a winner among its branches, and a change
in one of them is a change along one path: it costs the logarithm of the number of branches, not that number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from quotatree.core.model.job import Job
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import own_share_key, share_key
from quotatree.core.model.wait_queue import WaitClass


class Candidate(NamedTuple):
    quota: Quota
    cls: WaitClass
    job: Job


First = tuple[int, Candidate]
"""A job with its queue priority, or another number that orders jobs as that does: the largest first."""

_Rank = tuple[int, int, int, str, str]
"""Queue priority, negated, then share, submit time, id, and the branch: the smallest wins."""

_OWN = ""
"""The branch of a quota's own jobs; no quota is called so."""


class Contest:
    """The first job of every quota that has one, and the winner of them all."""

    __slots__ = ("_branches", "_only")

    def __init__(self) -> None:
        self._branches: dict[Quota | None, _Branches] = {}  # None: of all trees together, which are the roots
        self._only: tuple[Quota, First] | None = None  # as long as one quota alone has had a job: no contest

    def put(self, quota: Quota, first: First | None) -> None:
        """Set the first job of a quota, None for no job, and look at the shares along its path again."""
        if not self._branches:
            only = self._only
            if only is None or only[0] is quota:
                self._only = None if first is None else (quota, first)
                return
            if first is None:
                return
            self._put(*only)
        self._put(quota, first)

    def _put(self, quota: Quota, first: First | None) -> None:
        here = self._branches.get(quota)
        if here is None and first is not None:
            here = self._branches[quota] = _Branches()
        if here is not None:
            here.put(_OWN, first, own_share_key(quota) if first is not None else 0)
        for level in quota.path:
            winner = None if here is None else here.winner()
            above = self._branches.get(level.parent)
            if above is None and winner is not None:
                above = self._branches[level.parent] = _Branches()
            if above is not None:
                above.put(level.id, winner, share_key(level) if winner is not None else 0)
            here = above

    def nobody_but(self, job: Job) -> bool:
        """Return whether no quota has a first job but, perhaps, the one whose first job this is."""
        return not self._branches and (self._only is None or self._only[1][1].job is job)

    def winner(self) -> Candidate | None:
        """Return the job whose turn it is; None if there is none."""
        if not self._branches:
            return None if self._only is None else self._only[1][1]
        found = self._branches[None].winner()
        return None if found is None else found[1]


@dataclass(slots=True)
class _Branches:
    """The branches of one quota, each with its first job; in the heap are also ranks that hold no more."""

    heap: list[_Rank] = field(default_factory=list)
    present: dict[str, tuple[_Rank, First]] = field(default_factory=dict)

    def put(self, branch: str, first: First | None, share: int) -> None:
        if first is None:
            self.present.pop(branch, None)
            return
        priority, candidate = first
        job = candidate.job
        rank = (-priority, share, job.spec.submitted_ms, job.id, branch)
        known = self.present.get(branch)
        if known is None or known[0] != rank:
            heappush(self.heap, rank)
        elif known[1] is first:
            return
        self.present[branch] = (rank, first)

    def winner(self) -> First | None:
        heap, present = self.heap, self.present
        while heap:
            known = present.get(heap[0][4])
            if known is not None and known[0] == heap[0]:
                return known[1]
            heappop(heap)
        return None
