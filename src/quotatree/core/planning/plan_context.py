"""What an attempt asks the plan it is part of; alone, as in `explain`, there is none."""

from __future__ import annotations

from quotatree.core.model.job import Job
from quotatree.core.model.resources import Resources
from quotatree.core.planning.turns import Turns, turns_of
from quotatree.core.search.patience import Patience
from quotatree.core.state import State


class Surroundings:
    """Answers of an attempt without a plan around it, as in `explain`; the planner overrides them.

    `turns`: those of the plan in which the attempt is only supposed; None: as at the beginning of a plan.
    """

    def __init__(self, turns: Turns | None = None) -> None:
        self._turns = turns

    def patience(self, state: State, job: Job, replicas: int, now_ms: int) -> Patience:
        """Return what an attempt to start so many replicas of a job may spend on searches in vain."""
        turns = self._turns or turns_of(job.quota.tree.together)
        return turns.patience(job, replicas, len(state.nodes), now_ms)

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
