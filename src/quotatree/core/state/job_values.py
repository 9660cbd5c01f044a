"""Which values of a job change while it lives, and how is each change taken back?

Before the first change of a job in a transaction, and after each mark of it, the journal records all its values at once:
a plan changes most of them of every job that it touches. What its owner may change, and what limits look at, is recorded
change by change, since taking back how much is used under a limit needs it as it was then; so is when it was preempted, which
a plan writes last. A value that is there already is not written. Unless said otherwise the job's record keeps what is written here, so the job is marked as touched.
"""

from __future__ import annotations

from collections.abc import Sequence

from quotatree.core.model.job import Claim, Hold, Job, JobId, JobSpec, Phase
from quotatree.core.model.unit import Unit
from quotatree.core.reasons import Reason
from quotatree.core.state.facts import Facts


class Ending:
    """Into which phase evicted jobs come, when and why: the same for many of them."""

    __slots__ = ("line", "now_ms", "phase", "why")

    def __init__(self, phase: Phase, now_ms: int, why: str) -> None:
        self.phase, self.now_ms, self.why = phase, now_ms, why
        self.line = f"{now_ms} {entered(phase, why)}"


class JobValues(Facts):
    """Sets the values of a job, one method for those that are set together."""

    def _change(self, job: Job) -> None:
        """Count a change of the job's values that is about to be made, and record what they are."""
        self.change += 1
        if self._journal is not None and (job not in self._kept or self.touched is not None):
            self._keep(job)

    def _keep(self, job: Job) -> None:
        """Record the values of the job, once between two marks, and that its record will be another one."""
        if self._journal is not None:
            if job not in self._kept:
                self._kept.add(job)
                self._journal.append((job.restore, job.values()))
            if self.touched is not None:
                self._touch_job(job)

    def set_spec(self, job: Job, spec: JobSpec, core_replicas: int) -> None:
        """Set the request and the size of the core after a resize (P12)."""
        self.on_undo(self.set_spec, job, job.spec, job.core_replicas)
        job.spec, job.core_replicas = spec, core_replicas
        self._touch_job(job)

    def set_priority(self, job: Job, priority: int) -> None:
        if job.priority is not priority:
            self.on_undo(self.set_priority, job, job.priority)
            job.priority = priority
            self._touch_job(job)

    def set_phase(self, job: Job, phase: Phase, reason: str, told: Reason | None = None) -> None:
        """Set a new phase and its reason; what was told in the old phase is forgotten unless `told` is given."""
        self._change(job)
        job.phase, job.reason, job.told, job.retry_ms = phase, reason, told, 0

    def set_losses(self, job: Job, losses: int, retry_ms: int) -> None:
        """Set how many runs in a row were lost at their start, and when the job is queued again; 0: at once (R5)."""
        self._change(job)
        job.losses, job.retry_ms = losses, retry_ms

    def set_told(self, job: Job, reason: Reason | None) -> None:
        """Set why the job waits, as a plan says; no attempt looks at that, so it is no change."""
        if job.told is not reason:
            self._keep(job)
            job.told = reason

    def set_reason(self, job: Job, why: str) -> None:
        """Set what was last decided about a job whose phase stays; no attempt looks at that, so it is no change."""
        if job.reason != why:
            self._keep(job)
            job.reason = why

    def tell(self, job: Job, now_ms: int, what: str) -> None:
        """Append a line to the job's story, which is no change either; a rollback removes it."""
        self._keep(job)
        job.story.append(f"{now_ms} {what}")

    def set_queued(self, job: Job, queued_ms: int) -> None:
        """Set since when the job waits, as delays and the starvation guard count it."""
        if job.queued_ms is not queued_ms:
            self._change(job)
            job.queued_ms = queued_ms

    def set_replan_first(self, job: Job, first: bool) -> None:
        if job.replan_first is not first:
            self._change(job)
            job.replan_first = first

    def begin_run(self, job: Job, claim: Claim, now_ms: int, why: str) -> None:
        """Begin the next run of the job: it is Running from now on, and has no checkpoint; raise IllegalTransition if it may not (A5)."""
        job.check_transition(Phase.RUNNING)
        self._change(job)
        job.phase, job.reason, job.told, job.retry_ms = Phase.RUNNING, why, None, 0
        job.claim, job.run, job.started_ms = claim, job.run + 1, now_ms
        job.checkpoint_ms, job.replan_first = None, False
        job.story.append(f"{now_ms} {entered(Phase.RUNNING, why)}")

    def set_started(self, job: Job, started_ms: int) -> None:
        if job.started_ms is not started_ms:
            self._change(job)
            job.started_ms = started_ms

    def set_checkpoint(self, job: Job, checkpoint_ms: int | None) -> None:
        if job.checkpoint_ms is not checkpoint_ms:
            self._change(job)
            job.checkpoint_ms = checkpoint_ms

    def set_claim(self, job: Job, claim: Claim) -> None:
        if job.claim is not claim:
            self._change(job)
            job.claim = claim

    def set_core(self, job: Job, core: Unit) -> None:
        """Make this unit the core of the job."""
        self._change(job)
        job.core = core

    def clear_units(self, job: Job) -> None:
        """Remove the core of the job and all replicas beyond it, since it does not run any more."""
        self._change(job)
        job.core, job.extras = None, {}

    def add_preempted(self, jobs: Sequence[Job], at_ms: int) -> None:
        """Note of each of these jobs that it was preempted at this time."""
        self.on_undo(self._set_preempted, [(job, job.preempted_ms) for job in jobs])
        for job in jobs:
            job.preempted_ms = (*job.preempted_ms, at_ms)
            if self.touched is not None:
                self._touch_job(job)

    def _set_preempted(self, times: list[tuple[Job, tuple[int, ...]]]) -> None:
        for job, preempted_ms in reversed(times):
            job.preempted_ms = preempted_ms

    def end_by_eviction(self, job: Job, preemptor: JobId | None, lost_work: int) -> None:
        """Note for which job the run was ended, None for no job, and the work it lost; the next run is regular again."""
        self._change(job)
        job.claim, job.preempted_by, job.lost_last = Claim.REGULAR, preemptor, lost_work

    def end_run(self, job: Job, ending: Ending, preemptor: JobId | None, lost_work: int) -> None:
        """End the run of an evicted job that has no replicas beyond its core any more, as `end_by_eviction` notes it.

        A job that waits again does so from now on; what was told of it is forgotten.
        """
        job.check_transition(ending.phase)
        self._change(job)
        job.core = None
        job.claim, job.preempted_by, job.lost_last = Claim.REGULAR, preemptor, lost_work
        job.phase, job.reason, job.told, job.retry_ms = ending.phase, ending.why, None, 0
        if ending.phase is Phase.WAITING:
            job.queued_ms = ending.now_ms
        job.story.append(ending.line)

    def set_waiting_on(self, hold: Hold, waiting_on: tuple[JobId, ...]) -> None:
        """Set which jobs must leave before the promised places are empty (P9)."""
        if hold.waiting_on is not waiting_on:
            self.on_undo(self.set_waiting_on, hold, hold.waiting_on)
            hold.waiting_on = waiting_on
            self._touch_job(hold.unit.job)

    def set_checked(self, hold: Hold, version: int) -> None:
        """Note at which version of the tree places elsewhere were last searched; no record keeps that."""
        if hold.checked_version is not version:
            self.on_forget(self.set_checked, hold, hold.checked_version)
            hold.checked_version = version


def entered(phase: Phase, why: str) -> str:
    """Return what the story tells of a job that comes into a phase."""
    name = phase._value_  # as `value`, which makes two calls
    return f"{name}: {why}" if why else name
