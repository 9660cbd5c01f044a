"""How much may one plan spend on victims? It is counted, and the rest is left to the next plan, which follows at once.

Before a job takes victims, all that could take from it are tried (S8), and each of them may search for victims in its turn. So a
decision is charged with the quotas in which jobs wait and may have a right against the job, whether or not any was tried: which of
them are known to fail depends on what earlier plans remember, and a plan must not (A8). Decisions without victims are free.
"""

from __future__ import annotations

from typing import Final

from quotatree.core.model.job import Job
from quotatree.core.model.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY
from quotatree.core.model.resources import ZERO
from quotatree.core.model.rights import could_evict, work_of
from quotatree.core.planning.ordering import Ordering

CHARGED_AT_MOST: Final = 200
"""What the decisions of one plan may be charged with before it ends."""

PRIORITIES: Final = range(HIGHEST_PRIORITY, LOWEST_PRIORITY - 1, -1)


class Allowance:
    """What a plan has left to spend; at least one decision is always made."""

    __slots__ = ("_left", "used_up")

    def __init__(self) -> None:
        self._left = CHARGED_AT_MOST
        self.used_up = False

    def charge(self, ordering: Ordering, job: Job) -> None:
        """Charge a decision that was made for this job, by which others were evicted or turned idle."""
        work = work_of(job)
        for quota, on_loan in ordering.could_take(work, ZERO):
            if any(could_evict(quota, priority, work, claimable=on_loan) for priority in PRIORITIES):
                self._left -= 1
        self.used_up = self._left <= 0
