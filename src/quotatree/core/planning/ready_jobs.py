"""Which jobs of each queue may be tried now (strategies.py), as far as that is remembered?

A plan asks before every start whether a job waits elsewhere that must be tried first (S8, P3), so the answer must not cost a look at
every waiting job.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from typing import Any

from quotatree.core.model.effort import ONE_LOOK
from quotatree.core.model.job import Job, JobId, Phase
from quotatree.core.model.no_room import Exhausted, NoRoom, no_room_behind, no_room_of
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota
from quotatree.core.model.tree import Tree
from quotatree.core.model.wait_queue import WaitClass
from quotatree.core.planning.strategies import cannot_start, traverses, tryable, without_nodes
from quotatree.core.state import State

Entry = tuple[WaitClass, Job]


class ReadyJobs:
    """The jobs that a strategy lets be tried, one of each class, as of a stamp of the queue and a version of the tree.

    `version`: None: of any. `stood`: the positions that `balance` should remember (S3). `alike`: all that could start were
    let, so that one which leaves changes nothing for the others. `largest`: no job of the queue that an amount limit binds
    asks for more milli-GPU.
    """

    __slots__ = ("_priorities", "alike", "jobs", "largest", "no_room", "stamp", "stood", "version")

    def __init__(
        self,
        jobs: list[Entry],
        stamp: int,
        version: int | None,
        stood: tuple[tuple[JobId, int], ...],
        no_room: NoRoom | None,
    ) -> None:
        self.jobs, self.stamp, self.version = jobs, stamp, version
        self.stood, self.no_room = stood, no_room
        self.alike, self.largest = False, 0
        self._priorities: dict[int, int] | None = None

    def priorities(self) -> Iterable[int]:
        """Return the submitted priorities of the jobs, each once."""
        if self._priorities is None:
            self._priorities = {}
            for cls, _ in self.jobs:
                self._priorities[cls.priority] = self._priorities.get(cls.priority, 0) + 1
        return self._priorities

    def drop(self, cls: WaitClass) -> None:
        """Take the job of a class out, if it has one."""
        for place, (other, _) in enumerate(self.jobs):
            if other is cls:
                del self.jobs[place]
                self._uncount(cls.priority)
                return

    def without(self, job: Job, next_of: Callable[[WaitClass], Job], order: Callable[[Entry], Any]) -> bool:
        """Replace a job that has left the queue by the next of its class, if there is one; return whether it was found.

        `next_of` returns that one, `order` the key of a job's place in the queue.
        """
        for place, (cls, other) in enumerate(self.jobs):
            if other is job:
                del self.jobs[place]
                if cls.members:
                    insort(self.jobs, (cls, next_of(cls)), key=order)
                else:
                    self._uncount(cls.priority)
                return True
        return False

    def _uncount(self, priority: int) -> None:
        counts = self._priorities
        if counts is not None:
            counts[priority] -= 1
            if not counts[priority]:
                del counts[priority]


class ReadyInQueues:
    """Who may be tried in each queue of some trees, as their strategies say; remembered until a tree or a queue changes."""

    def __init__(self, state: State, now_ms: int, trees: tuple[Tree, ...]) -> None:
        self._state, self._now_ms, self.trees = state, now_ms, trees
        self._ready: dict[Quota, ReadyJobs] = {}
        # Where the last plan left no job to try: that holds at this version of the tree.
        self._done: dict[Quota, int] = {}

    def waiting(self) -> Iterable[Quota]:
        """Return the quotas in which a job waits; they must not change while one goes through them."""
        if len(self.trees) == 1:
            return self.trees[0].waiting.values()
        return [quota for tree in self.trees for quota in tree.waiting.values()]

    def fails(self, cls: WaitClass) -> bool:
        """Return whether the class is known to fail, so that its first job need not be tried.

        A job that was not yet told why it waits is tried in any case: what it is told must not depend on what is remembered.
        """
        if cls.failed is None or not cls.still_fails(cls.failed, self._now_ms, self._state.change):
            return False
        job = self._state.jobs[cls.members[0][1]]
        return job.told is not None or job.phase is not Phase.WAITING

    def queue_priority(self, cls: WaitClass, job: Job) -> int:
        """Return the priority of a job in its queue, which rises with waiting where the strategy says so (S4)."""
        ages = cls.quota.spec.strategy is Strategy.INTELLIGENT
        interval = self._state.settings.aging_interval_ms
        return cls.queue_priority(job.spec.submitted_ms, self._now_ms, interval, ages)

    def ready(self, quota: Quota) -> list[Entry]:
        """Return the jobs that the quota's strategy lets be tried now, each with its class, in the strategy's order."""
        tree, queue, known = quota.tree, quota.queue, self._ready.get(quota)
        if known is None:
            if self._left_nobody(quota):
                return []
        elif known.stamp == queue.stamp:
            if known.version is None or known.version == tree.version:
                return known.jobs
            if known.no_room is not None and known.no_room.holds(tree, self._state.ready_version):
                known.version = tree.version
                return []
        known = self._ready[quota] = self._looked_through(quota)
        return known.jobs

    def _looked_through(self, quota: Quota) -> ReadyJobs:
        """Look through a queue for who may be tried, and note what that rests on."""
        state, tree, queue, stamp = self._state, quota.tree, quota.queue, quota.queue.stamp
        state.work.done += ONE_LOOK + (len(queue.classes) // 4 if traverses(quota) else 0)
        found, stood, blocker = tryable(state, quota, self._now_ms, self.fails)
        balances = quota.spec.strategy is Strategy.BALANCE
        if balances and stood != queue.stood:
            state.set_stood(quota, stood)
        jobs = [(cls, state.jobs[job_id]) for cls, job_id in found] if found else []
        guarded = tree.guard
        kept_for = None if guarded is None else queue.of_job.get(guarded)
        if (
            guarded
            and kept_for is not None
            and not self.fails(kept_for)
            and not cannot_start(state, kept_for)
        ):
            self._insert(jobs, (kept_for, state.jobs[guarded]))  # no strategy holds it back (S10)
        # Only nodes out of order keep these from starting: they block nobody, but are tried so that they are told why they wait.
        for cls in without_nodes(state, quota) if state.nodes_out else ():
            if not self.fails(cls):
                self._insert(jobs, (cls, self._first_of_class(cls)))
        # Only a failure that was remembered can become void as the version rises.
        rests = guarded is not None or state.nodes_out or queue.any_failed()
        no_room = None
        if rests and not jobs and not balances:
            if blocker is None:
                no_room = no_room_of(queue, tree.rights)
            elif guarded is None and not state.nodes_out:
                no_room = no_room_behind(blocker, tree.rights, state.ready_version)
        known = ReadyJobs(jobs, stamp, tree.version if rests else None, stood, no_room)
        if jobs and guarded is None and traverses(quota):
            if state.limits.get(quota.id):
                limited = [cls.request.gpu_milli for cls in queue.classes.values() if cls.limits]
                known.largest = max(limited, default=0)
            known.alike = not self._near_limit(quota, known.largest)
        return known

    def _insert(self, jobs: list[Entry], entry: Entry) -> None:
        """Let a job be tried that no strategy lets, at its own place in the queue, unless it is there.

        Behind others of lower priority, its turn among quotas would depend on whether these are known to fail (S6, A8).
        """
        if entry not in jobs:
            insort(jobs, entry, key=self._place_of)

    def _place_of(self, entry: Entry) -> tuple[int, int, JobId]:
        cls, job = entry
        return -self.queue_priority(cls, job), job.spec.submitted_ms, job.id

    def left(self, job: Job) -> None:
        """Note that a job was decided on and has left its queue, or has another place in it."""
        quota = job.quota
        known, stamp = self._ready.get(quota), quota.queue.stamp
        if (
            known is not None
            and known.alike
            and known.stamp + 1 == stamp  # by its leaving alone
            and job.id not in quota.queue.of_job
            and not self._near_limit(quota, known.largest)
            and known.without(job, self._first_of_class, self._place_of)
        ):
            known.stamp = stamp
        else:
            quota.queue.stamp += 1

    def _first_of_class(self, cls: WaitClass) -> Job:
        return self._state.jobs[cls.members[0][1]]

    def _near_limit(self, quota: Quota, largest: int) -> bool:
        """Return whether an amount limit of the quota may have room for some of its jobs only, which ask for at most this much."""
        limits = self._state.limits.get(quota.id) if self._state.limits else None
        used = self._state.limit_used
        return limits is not None and any(used.get(limit, 0) + largest > limit.gpu_milli for limit in limits)

    def _left_nobody(self, quota: Quota) -> bool:
        """Return whether the last plan left no job of this queue to try, and that is still so."""
        done, tree = quota.queue.exhausted, quota.tree
        if done is None or done.stamp != quota.queue.stamp:
            return False
        if done.version == tree.version or self._done.get(quota) == tree.version:
            return True
        if done.no_room is None or not done.no_room.holds(tree, self._state.ready_version):
            return False
        self._done[quota] = tree.version
        return True

    def close(self, *, early: bool) -> None:
        """Note in the queues what the next plan need not find out again; `early`: not all had their turn.

        A queue in which every job failed is marked: all fail until the tree's version rises, or a job comes or goes. It is not
        marked where less may let a job be tried: time, by positions (S3) and delays (P11), or any change at all.
        """
        for quota in self.waiting() if early else ():
            if quota.spec.strategy is Strategy.BALANCE:
                self.ready(quota)  # its positions may not have been looked at since they changed (A8)
        for quota, known in self._ready.items():
            queue = quota.queue
            balances = quota.spec.strategy is Strategy.BALANCE
            if balances and known.stamp == queue.stamp and queue.stood != known.stood:
                self._state.set_stood(quota, known.stood)  # they were found in an attempt that was taken back
            if not queue.of_job:  # a job that comes changes its stamp
                self._state.remember_exhausted(queue, None)
                continue
            timeless = not balances and not quota.preemption_delay_ms
            last = timeless and not known.jobs and known.stamp == queue.stamp and not queue.rests_on_all()
            if not last:
                self._state.remember_exhausted(queue, None)
                continue
            before = queue.exhausted
            same = before is not None and before.stamp == known.stamp and before.no_room is known.no_room
            if same and known.no_room is not None:
                continue  # as long as there is no room, the version does not matter
            version = quota.tree.version if known.version is None else known.version
            no_room = known.no_room or no_room_of(queue, quota.tree.rights)
            self._state.remember_exhausted(queue, Exhausted(version, known.stamp, no_room))

    def wakeups(self) -> list[int]:
        """Return the times, in ms, at which a strategy, a delay or the end of a min_runtime lets another job be tried."""
        times: list[int] = []
        balance_ms = self._state.settings.balance_timeout_ms
        waits = False
        for quota in self.waiting():
            waits = True
            if quota.queue.stood:
                times += [since + balance_ms for _, since in quota.queue.stood]
            if not quota.preemption_delay_ms:
                continue
            for cls in quota.queue.classes.values():
                if cls.failed is not None and cls.failed.retry_at_ms is not None:
                    times.append(cls.failed.retry_at_ms)
        if waits:
            times += self._state.next_protection_end()
        return times


def forget_positions(state: State, trees: tuple[Tree, ...]) -> None:
    """Let empty queues forget who stood where: a job that comes back to one has not stood there meanwhile (S3)."""
    for tree in trees:
        if tree.standing:
            for quota in [quota for quota in tree.standing.values() if not quota.queue.of_job]:
                state.set_stood(quota, ())
