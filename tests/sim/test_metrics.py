"""Each number by its definition, and every definition written down."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from quotatree.sim.metrics import ClusterMetrics, JobMetrics, Spread, TeamSafety, jain, spread
from tests.sim.made import job, one_quota, run, takes, two_teams

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/metrics.md"
DEFINED = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize(
    "kind", [JobMetrics, ClusterMetrics, Spread, TeamSafety], ids=lambda kind: kind.__name__
)
def test_every_metric_is_defined_on_its_page(kind: type):
    assert [field.name for field in fields(kind) if field.name not in DEFINED] == []


def test_no_definition_without_its_metric():
    known = {
        field.name for kind in (JobMetrics, ClusterMetrics, Spread, TeamSafety) for field in fields(kind)
    }
    assert DEFINED - known == {"safe"}


def test_percentiles_are_values_that_occurred():
    times = spread(range(1000, 101_000, 1000))
    assert times == Spread(mean_s=50.5, p50_s=50.0, p95_s=95.0, p99_s=99.0)
    assert spread([7000]) == Spread(7.0, 7.0, 7.0, 7.0)
    assert spread([]) is None


def test_jains_index():
    assert jain([2.0, 2.0, 2.0]) == pytest.approx(1.0)
    assert jain([1.0, 0.0]) == pytest.approx(0.5)
    assert jain([]) is None


def test_fairness_compares_what_quotas_had_while_they_had_work():
    """a uses all of its quota all the time it has work, b half of its own: x = 1 and 0.5."""
    result = run(two_teams(), job("a1", 0, 100), job("b1", 500, 50, 4, team="b"))
    assert result.metrics.cluster.fairness == pytest.approx(1.5**2 / (2 * 1.25))


def test_groups_add_up_to_the_whole():
    result = run(
        two_teams(self_level=takes()),
        job("a1", 0, 100),
        job("a2", 10, 100, priority=9),
        job("b1", 10, 50, 4, team="b", module="DSW"),
    )
    metrics = result.metrics
    for groups in (metrics.by_team, metrics.by_module, metrics.by_priority):
        assert sum(group.jobs for _, group in groups) == metrics.overall.jobs
        assert sum(group.useful_gpu_hours for _, group in groups) == pytest.approx(
            metrics.overall.useful_gpu_hours
        )
        assert sum(group.evictions for _, group in groups) == metrics.overall.evictions
    assert [name for name, _ in metrics.by_team] == ["a", "b"]
    assert [name for name, _ in metrics.by_priority] == ["1", "9"]


def test_the_start_of_high_priorities_is_measured_apart():
    result = run(one_quota(self_level=takes()), job("low", 0, 100), job("high", 10, 10, priority=9))
    urgent = result.metrics.cluster.high_priority_start
    assert urgent is not None
    assert urgent.mean_s == 30.0


def test_free_gpus_that_the_usual_request_cannot_use_are_fragments():
    """Two nodes of 8, 4 taken on one: jobs of 8 find 4 GPUs useless, jobs of 4 none; half of the replicas are each."""
    result = run(two_teams(), job("half", 0, 100, 4), job("whole", 200, 5, 8))
    assert result.timeline.samples[1].fragmented == 2000
