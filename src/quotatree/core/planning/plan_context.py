"""What an attempt asks the plan it is part of; alone, as in `explain`, there is none."""

from __future__ import annotations

from quotatree.core.model.job import Claim, Job
from quotatree.core.model.wait_queue import WaitClass


class Surroundings:
    """Answers of an attempt without a plan around it, as in `explain`; the planner overrides both."""

    def before_loan(self, borrower: Job) -> tuple[WaitClass, Job] | None:
        """Return a waiting sibling job that must be tried before this job may borrow, or None (P3)."""
        del borrower
        return None

    def placed_now(self, job: Job, claim: Claim) -> bool:
        """Return whether the plan that is being made gave this job its places, with this claim."""
        del job, claim
        return False
