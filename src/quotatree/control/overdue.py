"""What happens when a deadline comes: longest run, longest wait (W3), a grace after which nobody has confirmed (P14), and
a look at demand (P16)."""

from __future__ import annotations

from typing import Any

from quotatree.control.autoscaling import follow_demand
from quotatree.control.deadlines import Deadline, DeadlineKind
from quotatree.control.decision_effects import overdue
from quotatree.control.turn import Turn
from quotatree.control.world import SYSTEM
from quotatree.core import Code, Job, Module, Phase, Reason, because
from quotatree.core import events as ev
from quotatree.engines.base import StopOrder


def meet(turn: Turn, deadline: Deadline) -> None:
    job = turn.state.jobs.get(deadline.job)
    if job is None:
        return
    if deadline.kind is DeadlineKind.LONGEST_RUN:
        _longest_run(turn, job, deadline)
    elif deadline.kind is DeadlineKind.LONGEST_WAIT:
        _longest_wait(turn, job, deadline)
    elif deadline.kind is DeadlineKind.DEMAND:
        follow_demand(turn, job, deadline)
    else:
        _grace(turn, job, deadline)


def meet_what_is_due(turn: Turn, workspace: str, quota: str) -> None:
    """Look at all jobs of a workspace in a quota as if the deadlines of its scheduling centre had come (W3)."""
    for job in list(turn.world.quota(quota).jobs.values()):
        run = turn.world.runs.get(job.id)
        if job.spec.workspace != workspace:
            continue
        if job.phase is Phase.RUNNING and run is not None:
            meet(turn, Deadline(turn.now_ms, job.id, DeadlineKind.LONGEST_RUN, run.started_ms))
        elif job.phase is Phase.WAITING:
            meet(turn, Deadline(turn.now_ms, job.id, DeadlineKind.LONGEST_WAIT, job.queued_ms))


def _longest_run(turn: Turn, job: Job, deadline: Deadline) -> None:
    """Stop a job that has run too long (W3): a notebook can be started again, any other job is over."""
    run = turn.world.runs.get(job.id)
    limit_ms = turn.directory.centre(job.spec.workspace, job.spec.quota).longest_run(job.spec.module)
    if (
        job.phase is not Phase.RUNNING
        or run is None
        or run.started_ms != deadline.since_ms
        or limit_ms is None
    ):
        return
    if turn.now_ms - run.started_ms < limit_ms:
        return
    final = job.spec.module is not Module.DSW
    turn.apply(ev.JobStopped(job.id, _reason(Code.LongestRun, job, limit_ms), final))
    _say(turn, "job.ran_too_long", job, limit_ms=limit_ms)


def _longest_wait(turn: Turn, job: Job, deadline: Deadline) -> None:
    """Report, once for each wait, a job that has waited too long (W3); a notebook is stopped as well."""
    limit_ms = turn.directory.centre(job.spec.workspace, job.spec.quota).longest_wait(job.spec.module)
    if job.phase is not Phase.WAITING or job.queued_ms != deadline.since_ms or limit_ms is None:
        return
    if turn.now_ms - job.queued_ms < limit_ms or turn.world.cards[job.id].late_ms == job.queued_ms:
        return
    turn.change_card(job.id, late_ms=job.queued_ms)
    if job.spec.module is Module.DSW:
        turn.apply(ev.JobStopped(job.id, _reason(Code.LongestWait, job, limit_ms)))
    _say(turn, "job.waited_too_long", job, limit_ms=limit_ms)


def _grace(turn: Turn, job: Job, deadline: Deadline) -> None:
    """Order replicas that have not left to stop again, report it, and set the next deadline (P14).

    Their devices stay busy until the engine confirms that they are gone.
    """
    if not job.leaving:
        return
    turn.order(StopOrder(job.id, job.run, 0, tuple(job.leaving)))
    _say(turn, "job.does_not_leave", job, replicas=len(job.leaving), since_ms=deadline.since_ms)
    later = overdue(job.id, turn.now_ms, job.spec.grace_ms)
    turn.world.deadlines.add(later._replace(since_ms=deadline.since_ms))


def _reason(code: Code, job: Job, limit_ms: int) -> Reason:
    limit = f"{limit_ms / 1000:g} s"
    return because(code, limit=limit, workspace=job.spec.workspace, quota=job.spec.quota)


def _say(turn: Turn, kind: str, job: Job, **body: Any) -> None:
    turn.tell(kind, body, job=job.id)
    turn.audit(SYSTEM, kind, f"job:{job.id}", body, job.spec.workspace)
