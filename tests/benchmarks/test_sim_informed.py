"""The samples and intervals of `python -m benchmarks.sim informed`, worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.sim import informed
from benchmarks.sim.traces import TRACES


def test_the_interval_of_three_samples_is_students():
    """Standard deviation 1, three values: 4.303 / sqrt(3)."""
    assert informed.half_interval([9.0, 10.0, 11.0]) == pytest.approx(2.4844, abs=1e-4)
    assert informed.half_interval([5.0, 5.0, 5.0]) == 0


@pytest.mark.skipif(not (TRACES / "philly-pollux").exists(), reason="the traces are not on this machine")
def test_samples_differ_by_seed_and_keep_most_jobs():
    one, other = informed.sampled(1), informed.sampled(2)
    assert {job.id for job in one.jobs} != {job.id for job in other.jobs}
    assert len(one.jobs) / len(other.jobs) == pytest.approx(1, abs=0.02)
    assert list(one.jobs) == sorted(one.jobs, key=lambda job: job.submit_ms)
