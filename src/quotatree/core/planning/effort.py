"""What may one plan still spend, and what does it leave to the next if that is not enough (A8)?

All attempts of a plan draw on one amount. When it is spent while victims are sought, the plan ends there: no job whose turn is later
starts before it is known whether that job can, so order is never given up for effort. The next plan follows at once and goes on, since
failures are remembered; jobs that were not tried come first within their priority. A job for which a whole plan was not enough is then
searched for briefly: what that finds is lawful and minimal, but perhaps not the cheapest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from quotatree.core.model.effort import ONE_ATTEMPT, PLAN_AT_MOST, CutShort, Effort, Unfinished
from quotatree.core.model.job import Job
from quotatree.core.model.wait_queue import WaitClass
from quotatree.core.state import State

T = TypeVar("T")


class PlanEffort:
    """What one plan may still spend. `before`: what the plan before it left to it; `resumes`: jobs that it goes on with.

    `hopes`: classes that did not preempt, since they can start idle (P4), each with the last change by then.
    """

    __slots__ = (
        "_cut",
        "_something_done",
        "_state",
        "_tried",
        "_until",
        "_work",
        "before",
        "hopes",
        "resumes",
        "stack",
    )

    def __init__(self, state: State, before: Unfinished | None) -> None:
        self._state, self._work, self.before = state, state.work, before or Unfinished()
        self._until = self._work.done + PLAN_AT_MOST
        self._something_done = False
        self.hopes = list(self.before.hopes)
        self.resumes = self.before.stack if self.before.change == state.change else ()
        self.stack: tuple[Job, ...] = ()  # jobs that were being tried when the plan was cut short
        self._tried: dict[WaitClass, None] = {}
        self._cut: tuple[WaitClass, int] | None = None  # whose attempt was cut short, and what it had spent

    @property
    def used_up(self) -> bool:
        """Whether the plan ends now; not before it has tried a job or started one, so that every plan gets on."""
        return self._cut is not None or (self._something_done and self._work.done >= self._until)

    def no_more_for(self, cls: WaitClass) -> bool:
        """Return whether a job of this class is not asked any more in this plan; those that are sought briefly always are."""
        return self.used_up and cls not in self.before.briefly

    def of(self, cls: WaitClass) -> Effort:
        """Return what an attempt to help a job of this class may spend."""
        return Effort(self._work, self._until, thorough=cls not in self.before.briefly)

    def started(self) -> None:
        """Note that a job was started without an attempt: on idle capacity, as surplus, or where it was promised a place."""
        self._something_done = True
        self._work.done += ONE_ATTEMPT

    def measure(self, cls: WaitClass, attempt: Callable[[], T]) -> T:
        """Try to help a class, and note what that has spent if it is cut short."""
        began = self._work.done
        if not self._something_done:  # what it takes to find out whose turn it is must not be all
            self._something_done, self._until = True, began + PLAN_AT_MOST
        self._work.done += ONE_ATTEMPT
        try:
            return attempt()
        except CutShort:
            self._cut = cls, self._work.done - began
            raise

    @property
    def anybody_had_a_turn(self) -> bool:
        """Whether an attempt has failed, was cut short or led to another: then the next plan goes on elsewhere, or with less effort."""
        return self._cut is not None or self._anybody_else_had_a_turn

    @property
    def _anybody_else_had_a_turn(self) -> bool:
        return bool(self._tried) or len(self.stack) > len(self.resumes)

    def failed(self, cls: WaitClass) -> None:
        """Note that a class has had its turn."""
        self._tried[cls] = None

    def unfinished(self) -> Unfinished | None:
        """Return what this plan leaves to the next; None if it was not cut short."""
        if not self.used_up:
            return None
        tried, briefly = self.before.tried, self.before.briefly
        hardest, spent = self._cut or (None, 0)
        if self._cut is None and self.stack:
            last = self.stack[-1]
            hardest = last.quota.queue.of_job.get(last.id)
        if hardest is not None and (2 * spent >= PLAN_AT_MOST or not self._anybody_else_had_a_turn):
            briefly |= {hardest}  # else the next plan would not get further
        return Unfinished(
            tried.union(self._tried), briefly, tuple(self.hopes), self.stack, self._state.change
        )
