"""Each number by its definition, and every definition written down."""

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from quotatree.core.model.job import Idle
from quotatree.core.model.policy import Strategy
from quotatree.sim.metrics import ClusterMetrics, JobMetrics, Spread, TeamSafety, jain, spread
from quotatree.sim.private import private_clusters
from quotatree.sim.setup import JobDefaults
from quotatree.sim.timeline import step_for, usual_shapes
from tests.sim.made import S, child, job, nodes, one_quota, root, run, takes, trace, two_teams

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


def test_alone_a_team_waits_for_itself():
    """a has two jobs of 8 for its 8 GPUs. Alone the second waits 100 s; here it borrows b's node and waits 0 s. b's one
    job starts at once when alone and waits here for the borrower's grace, 30 s: not safe."""
    setup = replace(two_teams(jobs=JobDefaults(idle=Idle.ALLOW)), private_clusters=True)
    result = run(setup, job("a1", 0, 100), job("a2", 0, 100), job("b1", 10, 10, team="b"))
    a, b = result.metrics.safety
    assert (a.quota, a.quota_gpus, a.jobs) == ("a", 8.0, 2)
    assert a.private_wait_mean_s == 50.0
    assert (b.wait_mean_s, b.private_wait_mean_s) == (30.0, 0.0)
    assert (b.safe, result.metrics.cluster.teams_compared) == (False, 2)


def test_without_anybody_else_a_team_is_as_well_off_as_alone():
    setup = replace(two_teams(), private_clusters=True)
    result = run(setup, job("a1", 0, 100), job("a2", 0, 100))
    (a,) = result.metrics.safety
    assert a.wait_mean_s == a.private_wait_mean_s == 50.0
    assert result.metrics.cluster.teams_safe == 1


def test_a_private_cluster_has_the_quotas_size_and_its_own_policies_only():
    quotas = (
        root(24, min_runtime_ms=5),
        child("a", 13, self_level=takes(), strategy=Strategy.FIFO),
        child("b", 11),
    )
    setup = replace(two_teams(), nodes=nodes(8, 8, 8), quotas=quotas)
    alone = {
        str(one.private.quotas[0].id): one.private for one in private_clusters(setup, trace(job("x", 0, 1)))
    }
    (private,) = alone.values()
    assert [node.gpus for node in private.nodes] == [8, 5]
    (quota,) = private.quotas
    assert (quota.parent, quota.min_runtime_ms, quota.strategy) == (None, 5, Strategy.FIFO)
    assert quota.self_level is not None
    assert not quota.self_level.reaches_siblings


def test_free_gpus_that_the_usual_request_cannot_use_are_fragments():
    """Two nodes of 8, 4 taken on one: jobs of 8 find 4 GPUs useless, jobs of 4 none; half of the replicas are each."""
    result = run(two_teams(), job("half", 0, 100, 4), job("whole", 200, 5, 8))
    assert result.timeline.samples[1].fragmented == 2000


def test_samples_come_at_round_steps():
    assert step_for(0) == 60_000
    assert step_for(1_000 * 60_000 + 1) == 120_000
    assert step_for(110 * 86_400 * S) == 180 * 60_000
    assert step_for(3_000 * 86_400 * S) == 3 * 86_400 * S
    assert usual_shapes({1000: 3, 8000: 1}) == ((1000, 0.75), (8000, 0.25))


def test_a_long_tail_does_not_make_ever_more_samples():
    """Jobs come for ten seconds, so a minute is a fine step; one of them runs for three days."""
    setup = replace(one_quota(), sample_ms=None)
    result = run(setup, job("short", 0, 10, 1), job("long", 10, 3 * 86_400, 1))
    timeline = result.timeline
    assert timeline.step_ms == 4 * 60_000
    assert [sample.time_ms for sample in timeline.samples] == list(
        range(0, timeline.until_ms + 1, timeline.step_ms)
    )
