"""What the benchmark of estimates measures, on cases worked out by hand. The replay of Philly is no test."""

from __future__ import annotations

from benchmarks.estimate import measure
from tests.sim.made import S, job, one_quota, trace


def test_jobs_that_all_run_as_long_are_told_to_the_second():
    """One after the other on one node, 100 s each: after five, the sixth to eighth are told where they come in."""
    jobs = [job(f"j{number}", 0, 100, user="ann") for number in range(5)]
    late = [job(f"l{number}", 501 + number, 100, user="ann") for number in range(3)]
    brain, found = measure(one_quota(), trace(*jobs, *late), learn=5, every=1)
    assert [one.job for one in brain.asked] == ["l1", "l2"]
    assert (found.errors, found.within) == ([0, 0], [True, True])
    assert found.waits == [99 * S, 198 * S]


def test_a_job_that_runs_longer_than_all_before_it_makes_the_next_one_late():
    jobs = [job(f"j{number}", 100 * number, 100, user="ann") for number in range(5)]
    late = [job("long", 500, 1000, user="ann"), job("next", 550, 100, user="ann")]
    _, found = measure(one_quota(), trace(*jobs, *late), learn=5, every=1)
    assert found.errors == [600 * S - 1500 * S]
    assert found.within == [False]
