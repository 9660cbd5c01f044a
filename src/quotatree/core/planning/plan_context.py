"""What an attempt asks the plan it is part of; alone, as in `explain`, there is none."""

from __future__ import annotations

from quotatree.core.model.job import Job
from quotatree.core.model.resources import Resources
from quotatree.core.model.wait_queue import WaitClass


class Surroundings:
    """Answers of an attempt without a plan around it, as in `explain`; the planner overrides them."""

    def goes_first(self, job: Job, request: Resources, on_loan: bool) -> tuple[WaitClass, Job] | None:
        """Return a waiting job that must be tried before this one, which could start now, may start; or None (S8, P3).

        `request`: what its quota would use more; `on_loan`: that would put it above its min.
        """
        del job, request, on_loan
        return None
