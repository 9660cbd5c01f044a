"""What each model does, on cases small enough to follow."""

from dataclasses import replace

import pytest

from quotatree.core.model.job import Idle
from quotatree.sim.baselines import BASELINES
from quotatree.sim.result import SimResult
from quotatree.sim.setup import JobDefaults, Setup, SetupError
from quotatree.sim.work import CheckpointModel, Checkpoints
from tests.sim.made import S, child, job, nodes, outcome, root, run, takes, two_teams


def under(name: str, *jobs, setup: Setup | None = None) -> SimResult:
    return run(replace(setup or two_teams(), baseline=name), *jobs)


def start_s(result: SimResult, id: str) -> float:
    first = outcome(result, id).first_start_ms
    assert first is not None
    return first / S


def test_static_shares_nothing_not_even_idle():
    setup = two_teams(jobs=JobDefaults(idle=Idle.ALLOW), self_level=takes())
    jobs = (job("a1", 0, 100), job("a2", 0, 100, priority=9))
    assert start_s(under("quotatree", *jobs, setup=setup), "a1") == 0
    static = under("static", *jobs, setup=setup)
    assert {start_s(static, "a1"), start_s(static, "a2")} == {0, 100}
    assert static.taken == ()


def test_the_pool_knows_neither_teams_nor_priorities():
    jobs = (job("a1", 0, 100), job("a2", 0, 100), job("b1", 1, 10, team="b", priority=9), job("a3", 0, 100))
    result = under("pool-fifo", *jobs)
    assert [start_s(result, name) for name in ("a1", "a2", "a3", "b1")] == [0, 0, 100, 100]
    assert outcome(result, "b1").quota == "b", "reported under its own quota"
    assert outcome(result, "b1").priority == 9


def test_nobody_passes_the_head_of_the_pool():
    jobs = (job("a1", 0, 100), job("big", 1, 10, 8, replicas=2), job("b1", 2, 10, team="b"))
    setup = Setup("wide", nodes(8, 8), (root(16), child("a", 16), child("b", 0)), private_clusters=False)
    assert start_s(under("pool-fifo", *jobs, setup=setup), "b1") == 110


def test_who_borrowed_is_not_made_to_give_back():
    jobs = (job("a1", 0, 100), job("a2", 0, 100), job("b1", 10, 10, team="b", priority=9))
    result = under("borrow", *jobs)
    assert start_s(result, "a2") == 0
    assert start_s(result, "b1") == 100
    assert result.taken == ()


def test_when_something_becomes_free_who_is_within_its_quota_goes_first():
    jobs = (
        job("a1", 0, 100), job("a2", 0, 150), job("a3", 5, 100, priority=9), job("b1", 10, 10, team="b"),
    )  # fmt: skip
    result = under("borrow", *jobs)
    assert start_s(result, "b1") == 100
    assert start_s(result, "a3") == 110


def test_peers_take_back_the_newest_whatever_it_loses():
    """Both of a's jobs borrow half of b's node; the newest goes although it loses 990 s and the other 90 s."""
    setup = two_teams(checkpoints=CheckpointModel(Checkpoints.TRACE))
    jobs = (
        job("a1", 0, 5000),
        job("saves", 0, 5000, 4, checkpoint_interval_ms=100 * S),
        job("newest", 10, 5000, 4),
        job("b1", 1000, 50, 4, team="b"),
    )
    result = under("peers", *jobs, setup=setup)
    assert [taken.job for taken in result.taken] == ["newest"]
    assert start_s(result, "b1") == 1030
    assert result.taken[0].lost == 990 * 4 * 1000 * S


def test_peers_put_back_who_is_not_needed():
    """Two small ones would not be enough, so the large one goes and the small ones stay."""
    jobs = (
        job("a1", 0, 5000),
        job("large", 5, 5000, 6),
        job("small", 10, 5000, 2),
        job("b1", 100, 50, 6, team="b"),
    )
    result = under("peers", *jobs)
    assert [taken.job for taken in result.taken] == ["large"]


def test_peers_leave_a_team_within_its_quota_alone():
    jobs = (job("a1", 0, 100), job("b1", 0, 100, team="b"), job("a2", 10, 10, priority=9, team="a"))
    assert [taken.job for taken in under("peers", *jobs).taken] == ["a1"]
    same = (job("a1", 0, 100), job("b1", 0, 100, team="b"), job("a2", 10, 10, team="a"))
    assert under("peers", *same).taken == ()


@pytest.mark.parametrize("name", ["peers", "kube"])
def test_models_have_the_rights_of_the_files_policy(name):
    """High 7-9 may take low 1-3: not 4 from 3, and 9 may take 3 but not 4."""
    setup = two_teams(self_level=takes("7-9", "1-3"))
    full = (job("a1", 0, 1000, priority=3), job("b1", 0, 1000, team="b", priority=4))
    four, nine = (job("a2", 10, 10, priority=number) for number in (4, 9))
    assert under(name, *full, four, setup=setup).taken == ()
    assert [taken.job for taken in under(name, *full, four).taken] == ["a1"], "no policy: any lower priority"
    assert [taken.job for taken in under(name, *full, nine, setup=setup).taken] == ["a1"]
    above = (replace(full[0], priority=4), full[1])
    assert under(name, *above, nine, setup=setup).taken == ()


def test_kube_takes_the_node_with_the_lowest_priorities_and_no_quota_protects():
    jobs = (
        job("a1", 0, 1000, priority=3),
        job("b1", 0, 1000, team="b", priority=2),
        job("a2", 10, 10, team="a", priority=9),
    )
    result = under("kube", *jobs)
    assert [taken.job for taken in result.taken] == ["b1"]
    assert start_s(result, "a2") == 40


def test_kube_reprieves_whom_the_pod_can_do_without():
    jobs = (
        job("a1", 0, 1000, priority=5),
        job("low", 0, 1000, 4, team="b", priority=1),
        job("mid", 0, 1000, 4, team="b", priority=2),
        job("urgent", 10, 10, 4, priority=9),
    )
    assert [taken.job for taken in under("kube", *jobs).taken] == ["low"]


def test_kube_goes_pod_by_pod_and_takes_gangs_whole():
    jobs = (
        job("gang", 0, 1000, 4, replicas=2, priority=1),
        job("rest", 0, 1000, 4, team="b", replicas=2, priority=2),
        job("urgent", 10, 10, 4, replicas=2, priority=9),
    )
    result = under("kube", *jobs, setup=two_teams(each=8))
    assert [taken.job for taken in result.taken] == ["gang"]
    assert start_s(result, "urgent") == 40


def test_every_baseline_is_labelled_as_a_model():
    for name, baseline in BASELINES.items():
        assert name == baseline.name
        assert name == "quotatree" or "(model)" in baseline.label


def test_an_unknown_baseline_is_refused():
    with pytest.raises(SetupError, match="known are quotatree, static"):
        under("magic", job("x", 0, 1))


def test_the_informed_rule_knows_what_is_lost_and_the_usual_one_does_not():
    """a is 8 GPUs above its min. Its newest job lost 25 minutes, another one 5: it saves every 20."""
    hourly, often = 3600, 20 * 60
    jobs = (
        job("a1", 0, hourly, checkpoint_interval_ms=often * S), job("a2", 1, hourly), job("b1", 25 * 60, 60, team="b"),
    )  # fmt: skip
    setup = two_teams(checkpoints=CheckpointModel(Checkpoints.TRACE))
    assert [taken.job for taken in under("peers", *jobs, setup=setup).taken] == ["a2"]
    assert [taken.job for taken in under("informed", *jobs, setup=setup).taken] == ["a1"]
