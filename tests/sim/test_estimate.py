"""When a waiting job will start: a range, what it rests on, and what cannot be told."""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import JobId, Module, State, snapshot
from quotatree.sim.durations import Durations, RunKind
from quotatree.sim.estimate import Question, estimate
from tests.sim.waiting import HOUR_MS, submit, world


def durations(*ran_ms: int, owner: str = "ann") -> Durations:
    return Durations((RunKind(owner, "q", "DLC", 8000), ran) for ran in ran_ms)


def asked(state: State, job: JobId, now_ms: int, known: Durations) -> Question:
    return Question(snapshot(state), job, now_ms, dict.fromkeys(state.jobs, "ann"), known)


def test_a_job_starts_when_those_before_it_are_over():
    state = world()
    submit(state, "runs", 8)
    submit(state, "first", 8)
    last = submit(state, "last", 8)
    before = snapshot(state)
    told = estimate(asked(state, last, HOUR_MS, durations(*[3 * HOUR_MS] * 5)))
    assert (told.earliest_ms, told.likely_ms, told.latest_ms, told.why) == (6 * HOUR_MS,) * 3 + ("",)
    assert "how long 5 finished jobs ran" in told.rests_on
    assert "2 job(s) taken to run as long as those of the same user, quota and size" in told.rests_on
    assert snapshot(state) == before


def test_the_range_comes_from_how_different_durations_are():
    state = world()
    submit(state, "runs", 8)
    job = submit(state, "next", 8)
    told = estimate(asked(state, job, 0, durations(*(hours * HOUR_MS for hours in (1, 2, 3, 4, 5)))))
    assert (told.earliest_ms, told.likely_ms, told.latest_ms) == (2 * HOUR_MS, 3 * HOUR_MS, 4 * HOUR_MS)


def test_what_cannot_be_told_is_said_with_its_reason():
    state = world()
    submit(state, "service", 8, module=Module.EAS)
    job = submit(state, "next", 8)
    told = estimate(asked(state, job, 0, durations(*[HOUR_MS] * 5)))
    assert told.likely_ms is None
    assert told.why == "nothing that runs now would end by itself and make room for it"
    late = estimate(asked(state, job, 0, durations(*[HOUR_MS] * 5)), seconds=-1)
    assert late.likely_ms is None


def test_nothing_is_known_where_no_job_has_finished():
    state = world()
    submit(state, "runs", 8)
    job = submit(state, "next", 8)
    told = estimate(asked(state, job, 0, Durations()))
    assert told.likely_ms is None
    assert told.rests_on == ("no job has finished yet, so that nothing is known of durations",)


def test_fewer_than_five_finished_jobs_are_too_few_to_tell_a_start_from():
    state = world()
    submit(state, "runs", 8)
    job = submit(state, "next", 8)
    for finished in (1, 4):
        told = estimate(asked(state, job, 0, durations(*[HOUR_MS] * finished)))
        assert told.likely_ms is None
        assert told.why.startswith(f"not enough finished jobs: {finished} in this tree")
    assert "1 job(s) like which fewer than 5 have finished, taken to run on" in told.rests_on
    assert estimate(asked(state, job, 0, durations(*[HOUR_MS] * 5))).likely_ms == HOUR_MS


def test_a_longest_run_tells_a_start_where_too_few_have_finished():
    """W3 bounds what runs, whatever is known of durations."""
    state = world()
    submit(state, "runs", 8)
    job = submit(state, "next", 8)
    known = replace(asked(state, job, 0, durations(HOUR_MS)), longest_run_ms=lambda _: 2 * HOUR_MS)
    assert estimate(known).likely_ms == 2 * HOUR_MS
