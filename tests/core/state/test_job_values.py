"""What is written in a job can be taken back, and tells that the job's record is another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from quotatree.core.model.job import Claim, Hold, Job, JobId, Phase
from quotatree.core.model.quota import AmountLimit
from quotatree.core.model.unit import UnitKind
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, because
from quotatree.core.records import JobRecord, job_record
from quotatree.core.state import Ending, State
from tests.core.building import cluster, submit

Write = Callable[[State, Job], None]


def set_core(state: State, job: Job) -> None:
    assert job.core is not None
    core = state.make_unit(
        job, UnitKind.CORE, claim=Claim.REGULAR, places=job.core.places, started_ms=job.core.started_ms + 7
    )
    state.set_core(job, core)


def begin_another_run(state: State, job: Job) -> None:
    state.end_run(job, Ending(Phase.WAITING, 7, "because"), JobId("other"), 7)
    state.begin_run(job, Claim.IDLE, 8, "FitsIdle")


def hold_of(state: State, job: Job) -> Hold:
    assert job.core is not None
    return Hold(job.core, (JobId("one"), JobId("other")), 99)


WRITES: dict[str, Write] = {
    "set_spec": lambda state, job: state.set_spec(job, replace(job.spec, grace_ms=7), 3),
    "set_priority": lambda state, job: state.set_priority(job, 7),
    "set_phase": lambda state, job: state.set_phase(job, Phase.STOPPED, "because"),
    "set_told": lambda state, job: state.set_told(job, because(Code.HoldExpired)),
    "set_queued": lambda state, job: state.set_queued(job, 7),
    "set_replan_first": lambda state, job: state.set_replan_first(job, True),
    "begin_run": begin_another_run,
    "set_started": lambda state, job: state.set_started(job, 7),
    "set_checkpoint": lambda state, job: state.set_checkpoint(job, 7),
    "set_claim": lambda state, job: state.set_claim(job, Claim.IDLE),
    "set_core": set_core,
    "clear_units": lambda state, job: state.clear_units(job),
    "add_preempted": lambda state, job: state.add_preempted([job], 7),
    "end_by_eviction": lambda state, job: state.end_by_eviction(job, JobId("other"), 7),
    "end_run": lambda state, job: state.end_run(job, Ending(Phase.WAITING, 7, "because"), JobId("other"), 7),
    "set_hold": lambda state, job: state.set_hold(job, hold_of(state, job)),
}


def running() -> tuple[State, Job]:
    state = cluster(2)
    job = submit(state, "j", "r", (1, 1000))
    plan(state, 0)
    return state, job


def written(state: State, job: Job, write: Write) -> tuple[JobRecord, list[JobId]]:
    """The record after a write in a transaction that is watched, and the jobs that it touched; then it is taken back."""
    state.begin(watch=True)
    write(state, job)
    assert state.touched is not None
    found = job_record(state, job), list(state.touched.jobs)
    state.rollback()
    return found


@pytest.mark.parametrize("name", WRITES)
def test_a_value_is_written_and_taken_back(name: str) -> None:
    state, job = running()
    before = job_record(state, job)
    after, touched = written(state, job, WRITES[name])
    assert after != before
    assert touched == [job.id]
    assert job_record(state, job) == before


def test_the_jobs_a_hold_waits_for_are_part_of_the_record() -> None:
    state, job = running()
    hold = hold_of(state, job)
    state.set_hold(job, hold)
    after, touched = written(state, job, lambda state, _: state.set_waiting_on(hold, ()))
    assert after.hold is not None
    assert (after.hold.waiting_on, hold.waiting_on) == ((), ("one", "other"))
    assert touched == [job.id]


def test_what_was_looked_for_elsewhere_is_taken_back_and_not_part_of_the_record() -> None:
    state, job = running()
    hold = hold_of(state, job)
    _, touched = written(state, job, lambda state, _: state.set_checked(hold, 7))
    assert (hold.checked_version, touched) == (-1, [])


def test_a_value_that_is_there_already_touches_nobody() -> None:
    state, job = running()
    _, touched = written(state, job, lambda state, job: state.set_claim(job, job.claim))
    assert touched == []


def test_what_was_written_before_a_mark_stays_when_all_after_it_is_taken_back() -> None:
    """A8: the values are recorded once between two marks, so the mark's own must be among them."""
    state, job = running()
    lines = len(job.story)
    state.begin()
    state.set_queued(job, 1)
    mark = state.mark()
    state.set_queued(job, 2)
    state.tell(job, 2, "gone again")
    state.rollback_to(mark)
    assert (job.queued_ms, len(job.story)) == (1, lines)
    state.set_queued(job, 3)
    state.rollback_to(mark)
    assert job.queued_ms == 1
    state.rollback()
    assert job.queued_ms == 0


def test_a_job_is_recorded_once_however_much_is_written() -> None:
    state, job = running()
    state.begin()
    before = state.mark().recorded
    for number in range(1, 6):
        state.set_queued(job, number)
        state.set_checkpoint(job, number)
        state.tell(job, number, "again")
    assert state.mark().recorded == before + 1
    state.rollback()
    assert (job.queued_ms, job.checkpoint_ms) == (0, None)


def test_use_under_a_limit_is_taken_back_as_of_the_priority_it_had() -> None:
    """W3: the job was recorded before its priority changed, which is taken back in its own turn."""
    state, job = running()
    limit = AmountLimit("r", "user:ann", 1, 4, 8000)
    state.begin()
    state.put_limits(job.quota, (limit,))
    state.set_spec(job, replace(job.spec, subjects=("user:ann",)), 1)
    assert job.core is not None
    state.tell(job, 0, "recorded")
    mark = state.mark()
    state.displace(job.core)
    state.set_priority(job, 7)
    state.rollback_to(mark)
    assert state.limit_used[limit] == 0
    state.rollback()
