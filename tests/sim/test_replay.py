"""Small traces whose right answer is worked out by hand."""

from dataclasses import replace

import pytest

from quotatree.core.events import QuotaScaled, QuotaTransferred, ScaleMode
from quotatree.core.model.job import Idle
from quotatree.core.model.policy import Strategy
from quotatree.core.model.resources import Bounds
from quotatree.core.reasons import Code
from quotatree.sim.brain import CoreBrain
from quotatree.sim.outcome import End
from quotatree.sim.replay import Progress, Replay
from quotatree.sim.result import conclude, prepare
from quotatree.sim.setup import JobDefaults, TimedEvents
from quotatree.sim.work import CheckpointModel, Checkpoints
from tests.sim.made import S, job, one_quota, outcome, run, takes, trace, two_teams

GPU_S = 1000 * S  # one GPU-second in milli-GPU x milliseconds


def test_one_after_the_other_waits_are_queue_times():
    """8 GPUs; three jobs of 8 for 100 s at 0, 10 and 20 s: they wait 0, 90 and 180 s."""
    result = run(one_quota(), job("x", 0, 100), job("y", 10, 100), job("z", 20, 100))
    assert [one.waited_ms for one in result.jobs] == [0, 90 * S, 180 * S]
    assert [one.end_ms for one in result.jobs] == [100 * S, 200 * S, 300 * S]
    wait = result.metrics.overall.wait
    assert wait is not None
    assert (wait.mean_s, wait.p50_s, wait.p95_s, wait.p99_s) == (90.0, 90.0, 180.0, 180.0)
    completion = result.metrics.overall.completion
    assert completion is not None
    assert completion.mean_s == (100 + 190 + 280) / 3


def test_allocation_is_the_area_under_the_steps():
    """4 of 8 GPUs for 100 s, then 8 for 100 s: 1200 of 1600 GPU-seconds; somebody waits from 10 s to 100 s."""
    result = run(one_quota(), job("half", 0, 100, 4), job("full", 10, 100, 8))
    cluster = result.metrics.cluster
    assert cluster.hours == 200 / 3600
    assert cluster.allocation == 1200 / 1600
    assert cluster.utilisation == 1200 / 1600
    assert cluster.contended_share == 90 / 200
    assert cluster.contended_allocation == 0.5
    assert [sample.running for sample in result.timeline.samples[:3]] == [4000, 4000, 4000]
    assert [sample.running for sample in result.timeline.samples[10:12]] == [8000, 8000]
    assert [sample.waiting for sample in result.timeline.samples[:2]] == [0, 8000]


def preempting(**more):
    return one_quota(self_level=takes(), checkpoints=CheckpointModel(Checkpoints.INTERVAL, 40 * S), **more)


def test_a_victim_leaves_after_its_grace_and_resumes_from_its_last_checkpoint():
    """The victim runs from 0, saves at 40, 80, 120 s, is told to stop at 130 s: 10 s are lost. The urgent job starts after
    the grace, at 160 s, and ends at 210 s. The victim has 200 - 120 = 80 s left and restarts in 40 s: 210 + 120 = 330 s.
    """
    result = run(preempting(), job("low", 0, 200), job("high", 130, 50, priority=9))
    low, high = outcome(result, "low"), outcome(result, "high")
    assert (high.first_start_ms, high.end_ms) == (160 * S, 210 * S)
    assert low.end_ms == 330 * S
    assert low.waited_ms == 80 * S
    assert (low.starts, low.evictions) == (2, 1)
    assert low.useful == 200 * 8 * GPU_S
    assert low.lost == (10 + 40) * 8 * GPU_S
    assert low.leaving == 30 * 8 * GPU_S
    (taken,) = result.taken
    assert taken.code is Code.SelfLevelOwn
    assert (taken.lost, taken.told) == (10 * 8 * GPU_S, (10 + 40) * 8 * GPU_S)
    assert result.metrics.cluster.fruitless_evictions == 0
    assert result.metrics.overall.evictions_per_start == 1 / 3
    assert result.metrics.overall.evicted_share == 0.5


def test_who_leaves_early_lets_the_preemptor_start_early():
    setup = preempting(jobs=JobDefaults(leave_after_ms=5 * S))
    result = run(setup, job("low", 0, 200), job("high", 130, 50, priority=9))
    assert outcome(result, "high").first_start_ms == 135 * S


def test_without_checkpoints_a_victim_begins_again():
    setup = replace(preempting(), checkpoints=CheckpointModel(Checkpoints.NONE))
    result = run(setup, job("low", 0, 200), job("high", 130, 50, priority=9))
    assert outcome(result, "low").lost == (130 + 40) * 8 * GPU_S
    assert outcome(result, "low").end_ms == (210 + 40 + 200) * S


def test_a_notebook_that_is_not_queued_again_stops_for_good():
    setup = preempting(jobs=JobDefaults(requeue_notebooks=False))
    result = run(setup, job("book", 0, 200, module="DSW"), job("high", 130, 50, priority=9))
    book = outcome(result, "book")
    assert (book.end, book.end_ms) == (End.STOPPED, 130 * S)
    assert result.metrics.overall.cut_off == 1


def test_idle_work_borrows_from_the_neighbour_and_gives_back_without_a_policy():
    """a borrows b's node at 0 s as idle; b wants it at 100 s, gets it after the grace at 130 s."""
    setup = two_teams(jobs=JobDefaults(idle=Idle.ALLOW))
    result = run(setup, job("a1", 0, 1000), job("a2", 0, 1000), job("b1", 100, 50, team="b"))
    assert outcome(result, "a2").idle_starts >= 1
    assert outcome(result, "a2").evictions == 1
    assert outcome(result, "b1").first_start_ms == 130 * S
    assert result.timeline.samples[0].idle == 8000


def test_every_gpu_second_is_booked_once():
    setup = preempting()
    result = run(
        setup, job("low", 0, 200), job("high", 130, 50, priority=9), job("next", 140, 70, 4, priority=5)
    )
    booked = sum(one.allocated for one in result.jobs)
    assert booked == result.timeline.running + result.timeline.leaving


def test_a_scaling_and_a_transfer_happen_when_they_are_due():
    """b's 8 GPUs go to a at 50 s, so that a's second job starts then and not when the first one ends."""
    move = TimedEvents(50 * S, (QuotaTransferred("b", "a", Bounds(8000)),), "transfer")
    result = run(two_teams(timeline=(move,)), job("a1", 0, 100), job("a2", 0, 100))
    assert outcome(result, "a2").first_start_ms == 50 * S
    assert result.refusals == ()


def test_a_refused_step_of_the_operator_is_told_and_changes_nothing():
    step = TimedEvents(50 * S, (QuotaScaled("a", Bounds(0), mode=ScaleMode.REFUSE),), "scale a")
    result = run(two_teams(timeline=(step,)), job("a1", 0, 100))
    (refusal,) = result.refusals
    assert (refusal.time_ms, refusal.what) == (50 * S, "scale a")
    assert outcome(result, "a1").end is End.DONE


def test_scaling_with_reclaim_evicts_and_the_job_comes_back_elsewhere_or_waits():
    step = TimedEvents(50 * S, (QuotaScaled("a", Bounds(0), mode=ScaleMode.RECLAIM),), "scale a")
    result = run(two_teams(timeline=(step,)), job("a1", 0, 100))
    one = outcome(result, "a1")
    assert (one.end, one.evictions) == (End.WAITING, 1)
    assert not result.complete


def test_the_brain_is_woken_when_it_asked_to_be():
    """balance: the second job may pass the blocked head only after 5 minutes."""
    setup = one_quota(strategy=Strategy.BALANCE)
    result = run(setup, job("long", 0, 4000, 4), job("head", 1, 10, 8), job("small", 2, 10, 4))
    assert outcome(result, "small").first_start_ms == 301 * S


def test_a_job_that_can_never_fit_is_refused_and_counted():
    result = run(one_quota(), job("giant", 0, 10, 16), job("fine", 0, 10))
    assert outcome(result, "giant").end is End.REFUSED
    assert (result.metrics.overall.refused, result.metrics.overall.done) == (1, 1)


def test_a_team_without_a_quota_and_jobs_larger_than_theirs_can_be_left_out():
    setup = two_teams(jobs=JobDefaults(skip_larger=True))
    result = run(setup, job("who", 0, 10, team="c"), job("giant", 0, 10, 8, replicas=2), job("fine", 0, 10))
    assert [one.id for one in result.jobs] == ["fine"]
    assert result.left_out == (("larger than quota a", 1), ("team 'c' has no quota", 1))


def test_a_service_grows_on_what_is_left_and_shrinks_when_others_want_it():
    result = run(
        one_quota(), job("eas", 0, 100, 2, replicas=4, module="EAS"), job("dlc", 50, 20, 4, priority=1)
    )
    eas = outcome(result, "eas")
    assert result.timeline.samples[0].running == 8000
    assert eas.end_ms == 100 * S
    booked = sum(one.allocated for one in result.jobs)
    assert booked == result.timeline.running + result.timeline.leaving


def test_nothing_is_kept_of_jobs_that_have_ended():
    setup = preempting()
    jobs = [job(f"j{number:03}", number * 10, 15, 4, priority=1 + number % 9) for number in range(200)]
    replay = prepare(setup, trace(*jobs))
    replay.run()
    assert replay.finished
    assert replay.brain.state.jobs == {}
    assert all(not quota.jobs for quota in replay.brain.state.quotas.values())


def test_it_stops_at_the_time_it_is_told_to():
    result = run(one_quota(until_ms=50 * S), job("x", 0, 100), job("y", 10, 100))
    assert [one.end for one in result.jobs] == [End.RUNNING, End.WAITING]
    assert outcome(result, "x").useful == 50 * 8 * GPU_S
    assert outcome(result, "y").waited_ms == 40 * S
    assert not result.complete


def test_ctrl_c_leaves_a_usable_result(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("quotatree.sim.replay.PROGRESS_EVERY", 5)
    seen = []

    def interrupt(progress):
        seen.append(progress)
        raise KeyboardInterrupt

    setup = one_quota(private_clusters=True)
    made = trace(*(job(f"j{number}", number * 10, 15) for number in range(20)))
    replay = Replay(setup, made, CoreBrain(setup.settings), interrupt)
    replay.run()
    result = conclude(setup, made, replay)
    assert len(seen) == 1
    assert not result.complete
    assert 0 < result.metrics.overall.done < 20
    assert result.metrics.overall.unfinished > 0
    booked = sum(one.allocated for one in result.jobs)
    assert booked == result.timeline.running + result.timeline.leaving


def test_stop_ends_after_the_present_instant():
    made = trace(*(job(f"j{number}", number * 10, 15) for number in range(20)))
    replay = prepare(one_quota(), made)
    replay.stop()
    replay.run()
    assert replay.interrupted
    assert replay.tracks == []


def test_progress_tells_rate_and_time_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("quotatree.sim.replay.PROGRESS_EVERY", 1)
    seen: list[Progress] = []
    made = trace(*(job(f"j{number}", number * 10, 5) for number in range(50)))
    prepare(one_quota(), made, seen.append).run()
    assert (seen[-1].submitted, seen[-1].ended, seen[-1].total) == (50, 50, 50)
    assert seen[-1].seconds_left == 0
    assert seen[-1].jobs_per_second > 0


def test_a_replica_that_is_no_longer_wanted_ends_whether_it_runs_or_waits():
    """One GPU place for 100 s at a time: `late` gets it at 100 s and is ended at 150 s, `never` is withdrawn at 90 s."""
    result = run(
        one_quota(),
        job("first", 0, 100),
        job("late", 10, 140, module="EAS", wanted_ms=140 * S),
        job("never", 20, 70, module="EAS", wanted_ms=70 * S),
    )
    late, never = outcome(result, "late"), outcome(result, "never")
    assert (late.end, late.first_start_ms, late.end_ms, late.waited_ms) == (
        End.WITHDRAWN,
        100 * S,
        150 * S,
        90 * S,
    )
    assert (late.useful, late.lost) == (50 * 8 * GPU_S, 0)
    assert (never.end, never.first_start_ms, never.end_ms, never.waited_ms) == (
        End.WITHDRAWN,
        None,
        90 * S,
        70 * S,
    )
    assert result.metrics.overall.withdrawn == 2
    assert result.complete
    assert sum(one.allocated for one in result.jobs) == result.timeline.running + result.timeline.leaving


def test_a_replica_that_started_at_once_is_done_when_it_is_no_longer_wanted():
    result = run(one_quota(), job("prompt", 0, 60, module="EAS", wanted_ms=60 * S))
    assert (outcome(result, "prompt").end, outcome(result, "prompt").end_ms) == (End.DONE, 60 * S)


def test_withdrawing_a_preemptor_while_its_victim_leaves_is_nobodys_fruitless_eviction():
    """`high` evicts at 130 s and is withdrawn at 140 s, within the grace of 30 s; `low` is back at 160 s."""
    result = run(preempting(), job("low", 0, 200), job("high", 130, 50, priority=9, wanted_ms=10 * S))
    assert outcome(result, "high").end is End.WITHDRAWN
    assert outcome(result, "low").evictions == 1
    assert result.metrics.cluster.fruitless_evictions == 0
    assert result.complete
