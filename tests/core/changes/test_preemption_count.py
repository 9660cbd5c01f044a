"""A job that reached its preemption limit has failed (P11)."""

from __future__ import annotations

from quotatree.core.model.job import Phase
from quotatree.core.model.policy import Scope
from quotatree.core.planning.plan import plan
from tests.core.building import cluster, root, self_level, submit


def test_a_job_that_failed_of_its_preemption_limit_is_no_active_job_of_its_quota() -> None:
    policy = self_level(5, 4, Scope.OWN)
    state = cluster(1, root(1, self_level=policy))
    job = submit(state, "old", "r", (1, 1000), priority=1, max_preemptions=0)
    plan(state, 0)
    submit(state, "new", "r", (1, 1000), priority=9)
    plan(state, 1)
    assert job.phase is Phase.FAILED
    assert job.id not in job.quota.jobs
