"""What was done since `begin` can be taken back (X3)."""

from __future__ import annotations

import pytest

from quotatree.core.model.job import Phase
from quotatree.core.planning.plan import plan
from tests.core.building import cluster, submit


def test_what_was_done_since_begin_is_taken_back() -> None:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 1000))
    state.begin()
    plan(state, 0)
    assert job.phase is Phase.RUNNING
    state.rollback()
    assert (job.phase, job.core, state.nodes[0].free, job.quota.used) == (
        Phase.WAITING,
        None,
        [1000, 1000],
        [0, 0, 0],
    )
    assert job.id in job.quota.queue.of_job
    state.begin()
    with pytest.raises(RuntimeError):
        state.begin()
