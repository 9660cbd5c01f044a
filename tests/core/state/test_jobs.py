"""A job moves through its phases along the table, or not at all."""

from __future__ import annotations

import pytest

from quotatree.core.errors import IllegalTransition
from quotatree.core.model.job import TRANSITIONS, Job, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.quota import QuotaId
from tests.core.building import tree


@pytest.mark.parametrize("before", Phase)
@pytest.mark.parametrize("after", Phase)
def test_phases_move_along_the_table_or_raise_with_the_story(before: Phase, after: Phase) -> None:
    """A5, J5."""
    state = tree()
    spec = JobSpec(JobId("j"), "a", (ReplicaGroup(1, Shape(1000, 0, 0)),), 0)
    job = Job(spec, state.quotas[QuotaId("a")], phase=before, story=["0 submitted"])
    if after in TRANSITIONS[before]:
        state.move(job, after, 1, "because")
        assert job.phase is after
    else:
        with pytest.raises(IllegalTransition, match="0 submitted"):
            state.move(job, after, 1, "because")
        assert job.phase is before
