"""Which jobs may be tried now: those of one queue, in order, and the quotas beside each other that have any.

A plan asks before every start whether a job waits elsewhere that must be tried first (S8, P3), so the answer must not cost a look at
every waiting job. Of each queue the priorities are counted; of each quota the highest one is known to its parent, and whether a
job fits the quota's own min.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from typing import Any

from quotatree.core.model.job import Job, JobId
from quotatree.core.model.no_room import NoRoom
from quotatree.core.model.policy import HIGHEST_PRIORITY
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import fits_own_min
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.wait_queue import WaitClass

Entry = tuple[WaitClass, Job]


class ReadyJobs:
    """The jobs that a strategy lets be tried, one of each class, as of a stamp of the queue and a version of the tree.

    `version`: None: of any. `stood`: the positions that `balance` should remember (S3). `alike`: all that could start were let, so
    that one which leaves changes nothing for the others. `largest`: no
    job of the queue that an amount limit binds asks for more milli-GPU.
    """

    __slots__ = ("_priorities", "alike", "jobs", "largest", "no_room", "stamp", "stood", "version")

    def __init__(
        self,
        jobs: list[Entry],
        stamp: int,
        version: int | None,
        stood: tuple[tuple[JobId, int], ...],
        no_room: NoRoom | None,
    ) -> None:
        self.jobs, self.stamp, self.version = jobs, stamp, version
        self.stood, self.no_room = stood, no_room
        self.alike, self.largest = False, 0
        self._priorities: dict[int, int] | None = None

    def priorities(self) -> Iterable[int]:
        """Return the submitted priorities of the jobs, each once."""
        if self._priorities is None:
            self._priorities = {}
            for cls, _ in self.jobs:
                self._priorities[cls.priority] = self._priorities.get(cls.priority, 0) + 1
        return self._priorities

    def drop(self, cls: WaitClass) -> None:
        """Take the job of a class out, if it has one."""
        for place, (other, _) in enumerate(self.jobs):
            if other is cls:
                del self.jobs[place]
                self._uncount(cls.priority)
                return

    def without(self, job: Job, next_of: Callable[[WaitClass], Job], order: Callable[[Entry], Any]) -> bool:
        """Replace a job that has left the queue by the next of its class, if there is one; return whether it was found.

        `next_of` returns that one, `order` the key of a job's place in the queue.
        """
        for place, (cls, other) in enumerate(self.jobs):
            if other is job:
                del self.jobs[place]
                if cls.members:
                    insort(self.jobs, (cls, next_of(cls)), key=order)
                else:
                    self._uncount(cls.priority)
                return True
        return False

    def _uncount(self, priority: int) -> None:
        counts = self._priorities
        if counts is not None:
            counts[priority] -= 1
            if not counts[priority]:
                del counts[priority]


class ReadyQuotas:
    """The quotas that have jobs to be tried, as far as they were put here."""

    __slots__ = ("_by_highest", "_highest", "_within")

    def __init__(self) -> None:
        self._highest: dict[Quota, int] = {}
        self._by_highest: dict[tuple[Quota | None, int], dict[Quota, None]] = {}
        self._within: dict[Quota, Resources] = {}

    def put(self, quota: Quota, priorities: Iterable[int]) -> None:
        """Set the priorities of the jobs that may be tried at a quota; none: it has no such job."""
        highest, before = max(priorities, default=0), self._highest.get(quota, 0)
        if highest == before:
            return
        if before:
            del self._by_highest[quota.parent, before][quota]
        self._highest[quota] = highest
        if highest:
            self._by_highest.setdefault((quota.parent, highest), {})[quota] = None

    def above(self, parent: Quota, priority: int) -> list[Quota]:
        """Return the children of a quota that have a job of a higher priority than this."""
        found: list[Quota] = []
        for highest in range(priority + 1, HIGHEST_PRIORITY + 1):
            found += self._by_highest.get((parent, highest), ())
        return found

    def put_within(self, quota: Quota, surplus: Resources | None) -> None:
        """Set that a job fits the quota's own min once this much surplus has left; None: no job does."""
        if surplus is None:
            self._within.pop(quota, None)
        else:
            self._within[quota] = surplus

    def within(self) -> dict[Quota, Resources]:
        """Return the quotas at which a job fits the quota's own min, each with the surplus that would leave for it."""
        return self._within


def room_within_min(quota: Quota, jobs: list[Entry]) -> Resources | None:
    """Return the surplus below a quota that leaves for its jobs (P12), if one of these then fits the quota's own min; else None."""
    if not jobs:
        return None
    surplus = Resources(*quota.surplus) if quota.tree.surplus_units else ZERO
    for cls, _ in jobs:
        if fits_own_min(quota, cls.request, surplus):
            return surplus
    return None
