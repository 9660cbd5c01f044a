"""Alone in a cluster of its quota's size: what a team would have had."""

from dataclasses import replace

from quotatree.core.model.job import Idle
from quotatree.core.model.policy import Strategy
from quotatree.sim.private import private_clusters
from quotatree.sim.setup import JobDefaults
from tests.sim.made import child, job, nodes, root, run, takes, trace, two_teams


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
    assert [policy.reaches_siblings for policy in quota.self_level] == [False]
