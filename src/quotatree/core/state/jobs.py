"""How does a job move: through its phases, into its queue and out of it, to a hold?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from quotatree.core.model.fragmentation import Typical
from quotatree.core.model.job import Hold, Job, JobId, Phase
from quotatree.core.model.quota import AmountLimit, Quota
from quotatree.core.model.typical_requests import Mix
from quotatree.core.model.wait_queue import WaitClass
from quotatree.core.state.facts import limits_on
from quotatree.core.state.job_values import JobValues, entered
from quotatree.core.state.leaving import LeavingChanges
from quotatree.core.state.memory import Memory

NOTHING_KNOWN: Final = Typical({})


class JobChanges(LeavingChanges, JobValues, Memory):
    """Changes of jobs: their phases, their queues, and holds."""

    def learn(self, job: Job) -> None:
        """Count a job's request among the typical ones of the pools it may run in, and make new pictures when due."""
        for pool, _ in job.quota.path[-1].spec.draws:
            mix = self.mixes.get(pool)
            if mix is None:
                mix = self.mixes[pool] = Mix()
            for group in job.spec.groups:
                if group.shape.gpu_milli:
                    mix.count(group.shape, group.replicas)
                    if self.touched is not None:
                        self.touched.pools[pool] = None
                    self.on_undo(mix.count, group.shape, -group.replicas)
            if mix.seen >= mix.next_picture:
                self.on_undo(self._show, mix, mix.typical, mix.next_picture, self.picture)
                self._pictures_made += 1  # never taken back: one number never means two sets of pictures
                self._show(mix, Typical(dict(mix.counts)), 2 * mix.seen, self._pictures_made)

    def _show(self, mix: Mix, typical: Typical, next_picture: int, picture: int) -> None:
        mix.typical, mix.next_picture, self.picture = typical, next_picture, picture

    def typical(self, pool: str) -> Typical:
        """Return the requests by which places in a pool are judged."""
        mix = self.mixes.get(pool)
        return mix.typical if mix is not None else NOTHING_KNOWN

    def move(self, job: Job, phase: Phase, now_ms: int, why: str) -> None:
        """Move a job to another phase along TRANSITIONS; raise IllegalTransition if there is no such edge (A5)."""
        job.check_transition(phase)
        self.set_phase(job, phase, why)
        self.tell(job, now_ms, entered(phase, why))

    def forget_job(self, job: Job) -> None:
        self.drop_entry(self.jobs, job.id)
        self.remember_surplus(job, None)
        self._touch_job(job)

    def enqueue(self, job: Job) -> None:
        """Put a job into the queue of its quota, unless it is put off (R5)."""
        if job.retry_ms:
            return
        quota = job.quota
        quota.queue.add_one(job, self._limits_of, bool(quota.preemption_delay_ms))
        quota.tree.waiting[quota.id] = quota
        self.log_stir(quota)
        self.on_undo(self._unqueue, job)

    def enqueue_all(self, jobs: Sequence[Job]) -> None:
        """Put jobs, of which none is put off, into the queues of their quotas."""
        of_quota: dict[Quota, list[Job]] = {}
        for job in jobs:
            of_quota.setdefault(job.quota, []).append(job)
        for quota, theirs in of_quota.items():
            quota.queue.add(theirs, self._limits_of, bool(quota.preemption_delay_ms))
            quota.tree.waiting[quota.id] = quota
            self.log_stir(quota)
        self.on_undo(self._unqueue_all, jobs)

    def _limits_of(self, job: Job) -> tuple[AmountLimit, ...]:
        return limits_on(self, job) if self.limits else ()

    def _unqueue_all(self, jobs: Sequence[Job]) -> None:
        for job in reversed(jobs):
            self._unqueue(job)

    def dequeue(self, job: Job) -> None:
        if job.id not in job.quota.queue.of_job:
            return
        left = self._unqueue(job)
        self.on_undo(self._back_in_queue, job, left)

    def _unqueue(self, job: Job) -> WaitClass:
        queue = job.quota.queue
        found = queue.remove(job)
        if not queue.of_job:
            job.quota.tree.waiting.pop(job.quota.id, None)
        self.log_stir(job.quota)
        return found

    def _back_in_queue(self, job: Job, cls: WaitClass) -> None:
        """Undo a dequeue: put the job into the class it was in, even if other changes of it are not undone yet."""
        job.quota.queue.put_back(job, cls)
        job.quota.tree.waiting[job.quota.id] = job.quota
        self.log_stir(job.quota)

    def requeue(self, job: Job) -> None:
        """Move a job whose request has changed to the right class of its queue, or out of the queue."""
        self.dequeue(job)
        if job.queued:
            self.enqueue(job)

    def put_off_job(self, job: Job, losses: int, retry_ms: int) -> None:
        """Take a waiting job out of its queue until a time (R5)."""
        self.dequeue(job)
        self.set_losses(job, losses, retry_ms)
        self.put_entry(self.put_off, job.id, job)

    def end_put_off(self, now_ms: int) -> None:
        """Queue the jobs again whose time has come (R5), and forget those that no longer wait for it."""
        if not self.put_off:
            return
        for job in sorted(self.put_off.values(), key=lambda job: job.id):
            if job.retry_ms > now_ms:
                continue
            self.drop_entry(self.put_off, job.id)
            if job.retry_ms and self.jobs.get(job.id) is job:
                self.set_losses(job, job.losses, 0)
                self.set_told(job, None)
                self.enqueue(job)

    def set_hold(self, job: Job, hold: Hold | None) -> None:
        if job.hold is not None:
            awaited = [name for name in job.hold.waiting_on if job.id in self.awaited.get(name, {})]
            self._await_no_more(job, awaited)
            self.on_undo(self._await, job, awaited)
        self._change(job)
        job.hold = hold
        if hold is None:
            self.drop_entry(job.quota.tree.held, job.id)
            return
        self.put_entry(job.quota.tree.held, job.id, job)
        self._await(job, hold.waiting_on)
        self.on_undo(self._await_no_more, job, hold.waiting_on)

    def _await(self, job: Job, leavers: Iterable[JobId]) -> None:
        for leaver in leavers:
            self.awaited.setdefault(leaver, {})[job.id] = job

    def _await_no_more(self, job: Job, leavers: Iterable[JobId]) -> None:
        for leaver in leavers:
            del self.awaited[leaver][job.id]
