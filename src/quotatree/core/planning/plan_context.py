"""What an attempt asks the plan it is part of; alone, as in `explain`, there is none."""

from __future__ import annotations

from quotatree.core.model.effort import Effort
from quotatree.core.model.job import Job
from quotatree.core.model.resources import Resources
from quotatree.core.state import State


class Surroundings:
    """Answers of an attempt without a plan around it, as in `explain`; the planner overrides them.

    `effort`: what it may spend; None: as much as it takes.
    """

    def __init__(self, effort: Effort | None = None) -> None:
        self._effort = effort

    def effort(self, state: State, job: Job) -> Effort:
        """Return what an attempt to start a job may spend on searches in vain."""
        del job
        return self._effort or Effort(state.work)

    def overtakes(self, job: Job, request: Resources, on_loan: bool) -> bool:
        """Try the waiting jobs that must be tried before this one, which could start now (S8, P3).

        `request`: what its quota would use more; `on_loan`: that would put it above its min. Returns whether one of the others
        was helped; if not, the state is as it was.
        """
        del job, request, on_loan
        return False

    def surely_overtakes(self, job: Job, request: Resources) -> bool:
        """Try those waiting jobs that must be tried before this one whomever it takes; return whether one was helped.

        `request`: what its quota would use more if no victim were of that quota.
        """
        del job, request
        return False
