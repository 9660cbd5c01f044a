"""What an attempt asks the plan it is part of; alone, as in `explain`, there is none."""

from __future__ import annotations

from quotatree.core.model.job import Claim, Job
from quotatree.core.model.wait_queue import WaitClass


class Surroundings:
    """What an attempt asks the plan it is part of; alone, as in `explain`, there is none.

    `before_loan`: is there a waiting sibling job that must be tried before a loan (P3)?
    """

    def before_loan(self, borrower: Job) -> tuple[WaitClass, Job] | None:
        del borrower
        return None

    def placed_now(self, job: Job, claim: Claim) -> bool:
        """Did this job get its places by this claim in the plan that is being made?"""
        del job, claim
        return False
