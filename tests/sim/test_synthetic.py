"""A made-up trace is the same for the same seed, and has the shape its spec asks for."""

from collections import Counter
from dataclasses import fields
from itertools import islice
from pathlib import Path
from statistics import median

import pytest

from quotatree.core.errors import Refused
from quotatree.sim.loaders import load_trace, write_plain
from quotatree.sim.synthetic import SyntheticSpec, generate, spec_from_table, stream

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
FIRST_OF_SEED_7 = ("job-0", 42492225, 2817330, 1, 2000, "research", "research-01", "DLC", 1)
FLAT = SyntheticSpec(jobs=4_000, diurnal_depth=0.0, weekend_factor=1.0)


def test_the_same_seed_gives_the_same_trace():
    assert generate(SyntheticSpec(jobs=500)) == generate(SyntheticSpec(jobs=500))
    assert generate(SyntheticSpec(jobs=500)).jobs != generate(SyntheticSpec(jobs=500, seed=2)).jobs


def test_one_trace_is_known_by_heart():
    """Another Python, another platform, another order of drawing: all would change what was published."""
    first = next(stream(SyntheticSpec(seed=7, jobs=10)))
    assert (first.id, first.submit_ms, first.duration_ms, first.replicas, first.gpu_milli) == FIRST_OF_SEED_7[
        :5
    ]
    assert (first.team, first.user, first.module, first.priority) == FIRST_OF_SEED_7[5:]


def test_jobs_come_in_order_with_unique_ids():
    jobs = generate(SyntheticSpec(jobs=3_000)).jobs
    assert len({job.id for job in jobs}) == len(jobs) == 3_000
    assert list(jobs) == sorted(jobs, key=lambda job: (job.submit_ms, job.id))


def test_jobs_arrive_over_about_the_days_asked_for():
    assert generate(SyntheticSpec(jobs=5_000, days=14)).jobs[-1].submit_ms == pytest.approx(
        14 * DAY_MS, rel=0.05
    )


def test_more_jobs_arrive_at_the_peak_hour_and_fewer_at_the_weekend():
    jobs = generate(SyntheticSpec(jobs=20_000, days=28, peak_hour=15)).jobs
    by_hour = Counter(job.submit_ms // HOUR_MS % 24 for job in jobs)
    assert by_hour[15] > 2.5 * by_hour[3]
    by_day = Counter(job.submit_ms // DAY_MS % 7 for job in jobs)
    assert by_day[5] + by_day[6] < 0.6 * (by_day[0] + by_day[1])


def test_without_a_wave_all_hours_are_alike():
    by_hour = Counter(job.submit_ms // HOUR_MS % 24 for job in generate(FLAT).jobs)
    assert max(by_hour.values()) < 1.5 * min(by_hour.values())


def test_durations_have_the_median_asked_for_and_a_heavy_tail():
    spec = SyntheticSpec(jobs=20_000, sizes=((1_000, 1.0),), duration_median_s=600)
    durations = sorted(job.duration_ms for job in generate(spec).jobs)
    assert median(durations) == pytest.approx(600_000, rel=0.1)
    assert sum(durations[-2_000:]) > 0.6 * sum(durations), "a tenth of the jobs runs for most of the time"
    assert durations[-1] <= spec.duration_max_s * 1000


def test_weights_are_kept():
    spec = SyntheticSpec(
        jobs=20_000, teams=(("a", 3.0), ("b", 1.0), ("c", 0.0)), priorities=((2, 1.0), (8, 1.0))
    )
    jobs = generate(spec).jobs
    teams, priorities = Counter(job.team for job in jobs), Counter(job.priority for job in jobs)
    assert teams["a"] / teams["b"] == pytest.approx(3, rel=0.1)
    assert teams["c"] == 0
    assert priorities[2] / priorities[8] == pytest.approx(1, rel=0.1)


def test_sizes_become_replicas_that_fit_a_node():
    shapes = {(job.replicas, job.gpu_milli) for job in generate(SyntheticSpec(jobs=5_000)).jobs}
    assert shapes == {
        (1, 250),
        (1, 500),
        *((1, n * 1000) for n in (1, 2, 4, 8)),
        (2, 8_000),
        (4, 8_000),
        (8, 8_000),
    }


def test_notebooks_take_at_most_one_gpu_and_only_training_has_checkpoints():
    jobs = generate(SyntheticSpec(jobs=5_000)).jobs
    assert {job.module for job in jobs} == {"DLC", "DSW", "EAS"}
    assert max(job.total_gpu_milli for job in jobs if job.module == "DSW") == 1_000
    assert {job.checkpoint_interval_ms for job in jobs if job.module != "DLC"} == {None}


def test_saving_is_a_habit_of_the_user():
    habits: dict[str, set[int | None]] = {}
    for job in generate(SyntheticSpec(jobs=5_000)).jobs:
        if job.module == "DLC":
            habits.setdefault(job.user, set()).add(job.checkpoint_interval_ms)
    assert {len(of_user) for of_user in habits.values()} == {1}
    assert set().union(*habits.values()) == {None, 600_000, 3_600_000}


def test_a_million_jobs_need_not_be_made_to_see_the_first():
    assert len(list(islice(stream(SyntheticSpec(jobs=1_000_000, days=60)), 100))) == 100


def test_it_can_be_exported(tmp_path: Path):
    trace = generate(SyntheticSpec(jobs=300))
    write_plain(trace.jobs, tmp_path / "made.csv.gz")
    assert load_trace(tmp_path / "made.csv.gz").jobs == trace.jobs


def test_a_spec_is_read_from_a_table():
    spec = spec_from_table({"seed": 3, "days": 2, "teams": [["a", 1], ["b", 2.5]], "sizes": [[1000, 1]]})
    assert spec == SyntheticSpec(seed=3, days=2, teams=(("a", 1.0), ("b", 2.5)), sizes=((1_000, 1.0),))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"job": 5}, "is not known; known are seed, jobs"),
        ({"jobs": 1.5}, "must be a number such as 10000"),
        ({"jobs": 0}, "must be above 0"),
        ({"days": "7"}, "must be a number such as 7.0"),
        ({"teams": [["a"]]}, "must be a list of pairs"),
        ({"teams": [[1, 1]]}, "must be a list of pairs such as ['vision', 5.0]"),
        ({"teams": [["a", 0]]}, "one above 0"),
        ({"sizes": [[1500, 1]]}, "whole GPUs or a part of one"),
        ({"priorities": [[10, 1]]}, "must be 1 to 9"),
        ({"modules": [["GPU", 1]]}, "must be one of DLC, DSW, EAS"),
        ({"diurnal_depth": 1.5}, "must be 0 to 1"),
        ({"weekend_factor": -1}, "must be 0 or more"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(table: dict[str, object], message: str):
    with pytest.raises(Refused) as caught:
        spec_from_table(table)
    assert message in str(caught.value)
    assert caught.value.rule == "E5"


def test_the_page_names_every_field_of_a_spec():
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "traces.md").read_text(
        encoding="utf-8"
    )
    assert [field.name for field in fields(SyntheticSpec) if f"`{field.name}`" not in page] == []
