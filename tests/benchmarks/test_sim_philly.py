"""The helpers behind the tables about Philly, on cases worked out by hand. The replays themselves are no tests."""

import pytest

from benchmarks.sim.alone import Safety, safety
from benchmarks.sim.counted import Counted, fifo_waits
from benchmarks.sim.philly import quotas, team_gpus, trace
from benchmarks.sim.quotas import static_and_pool
from benchmarks.sim.traces import Absent
from quotatree.core.model.policy import SelfLevels, Strategy
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.sim.outcome import JobOutcome
from tests.sim.made import S, job, one_quota, outcome, run


def counted(*jobs: tuple[int, int, int]) -> list[Counted]:
    return [Counted(submit, duration, gpus) for submit, duration, gpus in jobs]


def test_nobody_passes_the_head():
    """4 GPUs: 3 are taken until 10. A job of 2 waits for them; the job of 1 behind it would fit and waits too."""
    assert fifo_waits(counted((0, 10, 3), (1, 5, 2), (2, 1, 1)), 4) == [0, 9, 8]


def test_what_ends_when_a_job_comes_is_free():
    assert fifo_waits(counted((0, 10, 4), (10, 1, 4), (10, 1, 4)), 4) == [0, 0, 1]


def test_a_wide_job_waits_for_several_to_end():
    """2 + 1 + 1 of 4 end at 5, 7 and 9; a job of 3 needs the first two."""
    assert fifo_waits(counted((0, 5, 2), (0, 7, 1), (0, 9, 1), (1, 1, 3)), 4) == [0, 0, 0, 6]


def test_a_job_that_never_fits_is_an_error():
    with pytest.raises(ValueError, match="never fits 4"):
        fifo_waits(counted((0, 1, 5)), 4)


def test_teams_apart_and_together():
    """a's second job waits 100 s for the first; with b's GPUs nobody waits."""
    jobs = [job("a1", 0, 100), job("a2", 0, 100), job("b1", 200, 10, team="b")]
    static_s, pool_s = static_and_pool(jobs, {"a": 8.0, "b": 8.0})
    assert (round(static_s, 3), pool_s) == (33.333, 0.0)


def moved(of: JobOutcome, quota: str, waits_s: int, later_s: int) -> JobOutcome:
    assert of.end_ms is not None
    return of._replace(quota=quota, waited_ms=of.waited_ms + waits_s * S, end_ms=of.end_ms + later_s * S)


def test_a_team_may_wait_less_and_still_be_done_later():
    """a waits 10 s less and loses 90 s of work; b waits half a second longer, which is within the tolerance."""
    made = outcome(run(one_quota(), job("x", 0, 100)), "x")
    alone = {name: made._replace(id=name) for name in ("a1", "b1")}
    here = [moved(alone["a1"], "a", -10, 80), moved(alone["b1"], "b", 0, 0)._replace(waited_ms=500)]
    assert safety(here, alone) == Safety(teams=2, by_wait=2, by_completion=1, late_jobs=1, latest_s=80.0)


def test_what_did_not_end_in_both_is_not_compared():
    made = outcome(run(one_quota(), job("x", 0, 100)), "x")
    assert safety([made, made._replace(id="y")], {"x": made._replace(end_ms=None)}) == Safety(0, 0, 0, 0, 0.0)


def test_quotas_are_whole_nodes_to_the_nearest():
    try:
        team_gpus(), trace()
    except Absent as why:
        pytest.skip(str(why))
    gpus = [(spec.min.gpu_milli or 0) // WHOLE_GPU for spec in quotas(0.35, Strategy.FIFO, SelfLevels())[1:]]
    assert sorted(gpus) == [24, 24, 48, 48, 48, 88, 88, 88, 176, 176, 176]
