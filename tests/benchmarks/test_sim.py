"""The parts of `python -m benchmarks.sim` that can be wrong without anybody noticing, worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.sim import demand, earth_jobs, helios
from benchmarks.sim.capacity import VARIANTS, timeline
from benchmarks.sim.guaranteed import shifted
from benchmarks.sim.helios import Day, Minute
from benchmarks.sim.shape import DAY_MS, MINUTE_MS
from benchmarks.sim.traces import TRACES
from quotatree.core.events import NodeChanged, NodeJoined, QuotaScaled, ScaleMode
from quotatree.core.model.resources import Bounds
from quotatree.sim.result import simulate
from quotatree.sim.trace import Trace
from tests.sim.made import HOUR, S, job, trace


def test_shifting_keeps_the_jobs_and_moves_each_a_little():
    recorded = trace(*(job(f"j{n}", 600 * n, 60) for n in range(20)))
    moved = shifted(recorded, 3, 100 * S)
    before = {one.id: one.submit_ms for one in recorded.jobs}
    assert {one.id for one in moved.jobs} == set(before)
    assert all(abs(one.submit_ms - before[one.id]) <= 100 * S and one.submit_ms >= 0 for one in moved.jobs)
    assert any(one.submit_ms != before[one.id] for one in moved.jobs)
    assert list(moved.jobs) == sorted(moved.jobs, key=lambda one: one.submit_ms)
    assert shifted(recorded, 3, 100 * S) == moved


def test_the_day_is_quietest_at_four_and_busiest_at_sixteen():
    curve = demand.DayCurve(8, 48)
    assert [round(curve.gpus(hour * HOUR), 6) for hour in (4, 10, 16, 22)] == [8, 28, 48, 28]
    assert curve.gpus(DAY_MS + 5 * HOUR) == curve.gpus(5 * HOUR)


def test_a_replica_lives_as_long_as_the_demand_needs_it():
    """Wanted every five minutes: 1, 3, 2, 2, 0, 1 replicas."""
    wanted = [1, 3, 2, 2, 0, 1]
    found = list(demand.lives(lambda time_ms: wanted[time_ms // demand.LOOKS_EVERY_MS], 30 * MINUTE_MS))
    assert [(replica, a // MINUTE_MS, b // MINUTE_MS) for replica, a, b in found] == [
        (3, 5, 10),
        (2, 5, 20),
        (1, 0, 20),
        (1, 25, 30),
    ]


def test_a_service_asks_for_the_gpus_of_its_share():
    service = demand.Service("chat", 0.5, 8)
    assert [service.replicas(gpus) for gpus in (8, 16, 17, 48)] == [1, 1, 2, 3]
    jobs = demand.replica_jobs(service, demand.DayCurve(8, 48), DAY_MS, 9)
    at_the_peak = [one for one in jobs if one.submit_ms <= 16 * HOUR < one.submit_ms + one.duration_ms]
    assert len(at_the_peak) == 3
    assert all(one.wanted_ms == one.duration_ms and one.module == "EAS" for one in jobs)


def row(date: str, **gpus: int) -> dict[str, str]:
    return {"date": date, **{vc: str(count) for vc, count in gpus.items()}, "total": str(sum(gpus.values()))}


def three_days() -> list[Day]:
    """8 GPUs go from a to b on the second day; on the fourth 8 come; the third is the artefact."""
    rows = [row("2020-05-07", a=16, b=0, c=0), row("2020-05-08", a=8, b=8, c=0)]
    return helios.days_of([*rows, row("2020-05-09", a=0, b=0, c=16), row("2020-05-10", a=16, b=8, c=0)])


def test_the_artefact_and_whoever_never_had_a_gpu_are_left_out():
    with_artefact = helios.days_of([row("2020-05-08", a=8, d=0), row("2020-05-09", a=0, d=0)])
    assert with_artefact == [Day(0, "2020-05-08", {"a": 8})]
    found = three_days()
    assert [day.number for day in found] == [0, 1, 3]
    assert [(c.vc, c.before, c.after) for c in helios.changes(found)] == [
        ("a", 16, 8),
        ("b", 0, 8),
        ("a", 8, 16),
    ]
    assert helios.by_day(found, "a") == [16, 8, 8, 16]


def test_who_gives_comes_before_who_gets_and_the_cluster_grows_first():
    steps = list(timeline(three_days(), ScaleMode.RECLAIM))
    assert [step.label for step in steps] == [
        "2020-05-08 a",
        "2020-05-08 b",
        "2020-05-10 grow",
        "2020-05-10 b",
        "2020-05-10 a",
    ]
    assert steps[0].events == (QuotaScaled("a", Bounds(8000), mode=ScaleMode.RECLAIM),)
    assert isinstance(steps[2].events[0], NodeJoined)


def test_nodes_leave_only_after_the_root_was_scaled():
    days = [Day(0, "d0", {"a": 16}), Day(1, "d1", {"a": 8})]
    last = list(timeline(days, ScaleMode.LAZY))[-1]
    assert isinstance(last.events[0], QuotaScaled)
    assert [type(event) for event in last.events[1:]] == [NodeChanged, NodeChanged]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.label)
def test_a_small_earth_is_played_without_a_refusal_by_surprise(variant):
    """a's one job of 16 GPUs is in the way when a shrinks to 8: only `refuse` minds."""
    jobs = Trace((job("j", 0, 86_400 * 2, 8, "a", replicas=2),), "made")
    result = simulate(variant.setup(three_days()), jobs)
    refused = [refusal.what for refusal in result.refusals]
    assert refused == (["2020-05-08 a", "2020-05-08 b"] if variant.mode is ScaleMode.REFUSE else [])
    assert len(result.taken) == (1 if variant.mode is ScaleMode.RECLAIM else 0)


def test_idle_gpus_of_one_serve_the_demand_of_another():
    """10 GPUs each. First minute: a is full and 6 wait, b has 4 idle. Second minute: nobody waits, 10 idle."""
    a = [Minute(10, 10, 6, 0, 0, 0), Minute(10, 10, 0, 0, 0, 0)]
    b = [Minute(10, 6, 0, 0, 0, 0), Minute(10, 0, 0, 0, 0, 0)]
    seen = helios.sharing([a, b])
    assert (seen.quota, seen.pending, seen.idle, seen.waits) == (20, 3, 7, 0.5)
    assert seen.allocated == 26 / 40
    assert seen.fits == 4 / 6
    assert seen.allocated_if_shared == 30 / 40


def test_demand_is_what_ran_as_a_share_of_the_quota():
    found = earth_jobs.demand_of([Minute(20, 14, 0, 8, 4, 1), Minute(20, 10, 0, 8, 3, 1)])
    assert found.large == earth_jobs.Stream(8 / 20, 8.0)
    assert found.small == earth_jobs.Stream(4 / 20, 4 / 2.5)


def test_two_sizes_give_the_mean():
    assert earth_jobs.sizes_around(20, (8, 16, 32)) == ((16, 0.75), (32, 0.25))
    assert earth_jobs.sizes_around(16, (8, 16, 32)) == ((16, 1.0),)
    assert earth_jobs.sizes_around(50, (8, 16, 32)) == ((32, 1.0),)


def test_made_up_jobs_ask_for_the_load_of_the_quota():
    days = [Day(n, f"d{n}", {"a": 64 if n < 500 else 0}) for n in range(1000)]
    series = {"a": [Minute(64, 40, 0, 32, 12, 4)]}
    jobs = earth_jobs.earth_jobs(days, series)
    asked = sum(one.total_gpu_milli * one.duration_ms for one in jobs) / 1000 / (500 * DAY_MS)
    assert asked == pytest.approx(40, rel=0.1)
    assert max(one.submit_ms for one in jobs) < 500 * DAY_MS
    assert {one.total_gpu_milli for one in jobs} == {1000, 8000}
    assert jobs == earth_jobs.earth_jobs(days, series)


@pytest.mark.skipif(not (TRACES / helios.FOLDER).exists(), reason="the traces are not on this machine")
def test_earth_as_it_is_published():
    days = helios.read_days()
    found = helios.changes(days)
    assert (len(found), len({change.day.date for change in found})) == (29, 18)
    assert (days[0].total, max(day.total for day in days)) == (784, 1232)
