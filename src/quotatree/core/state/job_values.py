"""Which values of a job change while it lives, and how is each change taken back?

What a method did is taken back by the same method, or by the one below it, called with the earlier values: that call is
what the journal records. A value that is there already is not written. Unless said otherwise the job's record keeps what
is written here, so the job is marked as touched.
"""

from __future__ import annotations

from quotatree.core.model.job import Claim, Hold, Job, JobId, JobSpec, Phase
from quotatree.core.model.unit import Unit
from quotatree.core.reasons import Reason
from quotatree.core.state.facts import Facts


class JobValues(Facts):
    """Sets the values of a job, one method for those that are set together."""

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
        self.on_undo(self.set_phase, job, job.phase, job.reason, job.told)
        job.phase, job.reason, job.told = phase, reason, told
        self._touch_job(job)

    def set_told(self, job: Job, reason: Reason | None) -> None:
        if job.told is not reason:
            self.on_forget(self.set_told, job, job.told)
            job.told = reason
            self._touch_job(job)

    def set_queued(self, job: Job, queued_ms: int) -> None:
        """Set since when the job waits, as delays and the starvation guard count it."""
        if job.queued_ms is not queued_ms:
            self.on_undo(self.set_queued, job, job.queued_ms)
            job.queued_ms = queued_ms
            self._touch_job(job)

    def set_replan_first(self, job: Job, first: bool) -> None:
        if job.replan_first is not first:
            self.on_undo(self.set_replan_first, job, job.replan_first)
            job.replan_first = first
            self._touch_job(job)

    def begin_run(self, job: Job, claim: Claim, started_ms: int, checkpoint_ms: int | None = None) -> None:
        """Begin the next run of the job; `checkpoint_ms`: its last checkpoint, None if it has none."""
        before = (job.claim, job.run, job.started_ms, job.checkpoint_ms, job.replan_first)
        self.on_undo(self._set_run, job, before)
        self._set_run(job, (claim, job.run + 1, started_ms, checkpoint_ms, False))
        self._touch_job(job)

    def _set_run(self, job: Job, run: tuple[Claim, int, int, int | None, bool]) -> None:
        job.claim, job.run, job.started_ms, job.checkpoint_ms, job.replan_first = run

    def set_started(self, job: Job, started_ms: int) -> None:
        if job.started_ms is not started_ms:
            self.on_undo(self.set_started, job, job.started_ms)
            job.started_ms = started_ms
            self._touch_job(job)

    def set_checkpoint(self, job: Job, checkpoint_ms: int | None) -> None:
        if job.checkpoint_ms is not checkpoint_ms:
            self.on_undo(self.set_checkpoint, job, job.checkpoint_ms)
            job.checkpoint_ms = checkpoint_ms
            self._touch_job(job)

    def set_claim(self, job: Job, claim: Claim) -> None:
        if job.claim is not claim:
            self.on_undo(self.set_claim, job, job.claim)
            job.claim = claim
            self._touch_job(job)

    def set_core(self, job: Job, core: Unit) -> None:
        """Make this unit the core of the job."""
        self.on_undo(self._set_units, job, job.core, job.surplus)
        job.core = core
        self._touch_job(job)

    def clear_units(self, job: Job) -> None:
        """Remove the core and all surplus of the job, which does not run any more."""
        self.on_undo(self._set_units, job, job.core, job.surplus)
        self._set_units(job, None, {})
        self._touch_job(job)

    def _set_units(self, job: Job, core: Unit | None, surplus: dict[int, Unit]) -> None:
        job.core, job.surplus = core, surplus

    def set_preempted(self, job: Job, preempted_ms: tuple[int, ...]) -> None:
        """Set the times at which the job was preempted."""
        self.on_undo(self.set_preempted, job, job.preempted_ms)
        job.preempted_ms = preempted_ms
        self._touch_job(job)

    def end_by_eviction(self, job: Job, preemptor: JobId | None, lost_work: int) -> None:
        """Note for which job the run was ended, None for no job, and the work it lost; the next run is regular again."""
        self.on_undo(self._set_end, job, job.claim, job.preempted_by, job.lost_last)
        self._set_end(job, Claim.REGULAR, preemptor, lost_work)
        self._touch_job(job)

    def _set_end(self, job: Job, claim: Claim, preemptor: JobId | None, lost_work: int) -> None:
        job.claim, job.preempted_by, job.lost_last = claim, preemptor, lost_work

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
