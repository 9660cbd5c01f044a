"""Who is tried next across all quotas (S6), and who may be tried at all inside each (strategies.py)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable

from quotatree.core.model.effort import ONE_LOOK
from quotatree.core.model.job import Job, JobId, Phase
from quotatree.core.model.no_room import Exhausted, no_room_behind, no_room_of
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import share_key
from quotatree.core.model.resources import Resources
from quotatree.core.model.tree import Tree
from quotatree.core.model.wait_queue import WaitClass
from quotatree.core.planning.contest import Candidate, Contest, First
from quotatree.core.planning.ready_jobs import Entry, ReadyJobs, ReadyQuotas, room_within_min
from quotatree.core.planning.strategies import cannot_start, traverses, tryable, without_nodes
from quotatree.core.state import State


class Ordering:
    """The order of one plan for trees that share pools. Answers are remembered per quota until its tree or queue changes;
    the state's log tells in which quotas that may be (contest.py).

    That is not undone by a rollback: after one, the order must be made anew.
    """

    def __init__(self, state: State, now_ms: int, trees: tuple[Tree, ...]) -> None:
        self._state, self._now_ms, self.trees = state, now_ms, trees
        unfinished = trees[0].unfinished
        self._tried: frozenset[WaitClass] = frozenset() if unfinished is None else unfinished.tried
        self._ready: dict[str, ReadyJobs] = {}
        self._nobody: tuple[int, ...] | None = None  # as of this change and these versions nobody is ready
        self._stirred: dict[Quota, None] = {}  # their first job must be found again
        self._unsorted: dict[Quota, None]  # their highest priority must be found again
        self._unmeasured: dict[Quota, None]  # whether a job fits their min, or one above, must be found again
        self._resting: dict[Quota, None]  # their first job rests on failures that were remembered
        self._done: dict[
            Quota, int
        ] = {}  # the last plan left nobody to try: that holds at this version of the tree
        self.start_over()

    def count(self, units: int) -> None:
        """Count work that was done to find out who comes first (model/effort.py)."""
        self._state.work.done += units

    def touch(self, quota: Quota) -> None:
        """Note that the queue of this quota has changed."""
        quota.queue.stamp += 1
        self._stir(quota)

    def left(self, job: Job) -> None:
        """Note that a job was decided on and has left its queue, or has another place in it."""
        quota = job.quota
        known, stamp = self._ready.get(quota.id), quota.queue.stamp
        self._stir(quota)
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

    def _near_limit(self, quota: Quota, largest: int) -> bool:
        """Return whether an amount limit of the quota may have room for some of its jobs only, which ask for at most this much."""
        limits = self._state.limits.get(quota.id) if self._state.limits else None
        used = self._state.limit_used
        return limits is not None and any(used.get(limit, 0) + largest > limit.gpu_milli for limit in limits)

    def _stir(self, quota: Quota) -> None:
        self._nobody = None
        self._stirred[quota] = None
        self._unsorted[quota] = None

    def start_over(self) -> None:
        """Forget whose turn it is: any use or queue may have changed."""
        state = self._state
        self._contest = Contest()
        self._quotas: ReadyQuotas | None = None  # made when it is asked for
        self._unsorted, self._unmeasured, self._resting = {}, {}, {}
        self._seen = (state.stirs_epoch, len(state.stirred))
        self._versions: dict[Tree, int] = {}
        for tree in self.trees:
            self._versions[tree] = tree.version
            for quota in tree.waiting.values():
                if quota.spec.id not in self._ready and self._left_nobody(quota):
                    self._resting[quota] = None
                else:
                    self._stir(quota)

    def anybody_stirred(self) -> bool:
        """Return whether a job may be tried in any quota; False: all that wait are known to fail, as the last plan left them."""
        return bool(self._stirred)

    def drop(self, cls: WaitClass) -> None:
        """Take a class that was tried and failed out of the order; the others stay as they are.

        Only where positions count (S3) does a failure change which others may be tried.
        """
        quota = cls.quota
        known = self._ready.get(quota.id)
        if quota.spec.strategy is Strategy.BALANCE or known is None:
            self.touch(quota)
        else:
            self._stir(quota)
            known.drop(cls)
            known.version = quota.tree.version

    def ready(self, quota: Quota) -> list[tuple[WaitClass, Job]]:
        """Return the jobs that the quota's strategy lets be tried now, each with its class, in the strategy's order."""
        name, tree, queue = quota.spec.id, quota.tree, quota.queue
        version, stamp = tree.version, queue.stamp
        known = self._ready.get(name)
        if known is None:
            if self._left_nobody(quota):
                return []
        elif known.stamp == stamp:
            if known.version is None or known.version == version:
                return known.jobs
            if known.no_room is not None and known.no_room.holds(tree, self._state.ready_version):
                known.version = version
                return []
        self._state.work.done += ONE_LOOK + (len(queue.classes) // 4 if traverses(quota) else 0)
        found, stood, blocker = tryable(self._state, quota, self._now_ms, self.fails)
        if quota.spec.strategy is Strategy.BALANCE and stood != quota.queue.stood:
            self._state.set_stood(quota, stood)
        guarded = quota.tree.guard
        kept_for = None if guarded is None else quota.queue.of_job.get(guarded)
        if (
            guarded is not None
            and kept_for is not None
            and not self.fails(kept_for)
            and not cannot_start(self._state, kept_for)
            and (kept_for, guarded) not in found
        ):
            self._insert(found, kept_for, guarded)  # no strategy holds the guarded job back (S10)
        if self._state.nodes_out:
            # They block nobody, but are tried so that they are told why they wait.
            for cls in without_nodes(self._state, quota):
                if not self.fails(cls):
                    self._insert(found, cls, cls.members[0][1])
        jobs = [(cls, self._state.jobs[job_id]) for cls, job_id in found] if found else []
        # Only a failure that was remembered can become void as the version rises.
        rests = guarded is not None or self._state.nodes_out or queue.any_failed()
        no_room = None
        if rests and not jobs and quota.spec.strategy is not Strategy.BALANCE:
            if blocker is None:
                no_room = no_room_of(queue, tree.rights)
            elif guarded is None and not self._state.nodes_out:
                no_room = no_room_behind(blocker, tree.rights, self._state.ready_version)
        self._ready[name] = known = ReadyJobs(jobs, stamp, version if rests else None, stood, no_room)
        if jobs and guarded is None and traverses(quota):
            if self._state.limits.get(name):
                limited = [cls.request.gpu_milli for cls in queue.classes.values() if cls.limits]
                known.largest = max(limited, default=0)
            known.alike = not self._near_limit(quota, known.largest)
        return jobs

    def anybody_ready(self) -> bool:
        """Return whether there is a job that its strategy lets be tried now, in any quota."""
        now = (self._state.change, *(tree.version for tree in self.trees))
        if self._nobody == now:
            return False
        if any(self.ready(quota) for quota in self.waiting()):
            return True
        self._nobody = now
        return False

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
        for quota_id, known in self._ready.items():
            quota = self._state.quotas[QuotaId(quota_id)]
            queue = quota.queue
            balances = quota.spec.strategy is Strategy.BALANCE
            if balances and known.stamp == queue.stamp and queue.stood != known.stood:
                self._state.set_stood(quota, known.stood)  # they were found in an attempt that was taken back
            if not queue.of_job:  # whoever comes changes its stamp
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

    def _insert(self, found: list[tuple[WaitClass, JobId]], cls: WaitClass, job: JobId) -> None:
        """Let a job be tried that no strategy lets, at its own place in the queue.

        Behind others of lower priority, its turn among quotas would depend on whether these are known to fail (S6, A8).
        """
        insort(found, (cls, job), key=self._queue_order)

    def best(self) -> Candidate | None:
        """Return the next job to try in the first round, or None. Only quotas in which something changed are looked at."""
        self._follow_changes()
        while True:
            stirred, self._stirred = self._stirred, {}
            for quota in stirred:
                self._contest.put(quota, self._first(quota))
            winner = self._contest.winner()
            if winner is None or winner.cls.failed is None or not self.fails(winner.cls):
                return winner
            self.drop(
                winner.cls
            )  # others have used the room that this class was to be tried for; the next may be later

    def _follow_changes(self) -> None:
        """Note the quotas whose first job may be another one now, or whose share may.

        A failure may become void as the version of the tree rises, and hold again as others use the room.
        """
        state, stirred, versions = self._state, self._stirred, self._versions
        epoch, seen = self._seen
        if epoch != state.stirs_epoch:
            self.start_over()
            return
        length = len(state.stirred)
        if length > seen:
            self._seen = (epoch, length)
            for quota in state.stirred[seen:]:
                if quota.tree in versions:
                    stirred[quota] = self._unsorted[quota] = None
        for tree, version in versions.items():
            if tree.version != version:
                versions[tree] = tree.version
                for quota in self._resting:
                    if quota.tree is tree:
                        self._stir(quota)

    def _first(self, quota: Quota) -> First | None:
        """Return the first job of a quota's order, with its queue priority; None if nobody is ready."""
        if quota.id not in quota.tree.waiting:
            self._resting.pop(quota, None)
            return None
        ready = self.ready(quota)
        known = self._ready.get(quota.id)
        if known is not None and known.version is None:
            self._resting.pop(quota, None)
        else:
            self._resting[quota] = None
        if not ready:
            return None
        cls, job = self._foremost(ready)
        return self._turn(cls, job), Candidate(quota, cls, job)

    def _foremost(self, ready: list[Entry]) -> Entry:
        """Return the first entry, or the first of equal priority that had no turn yet since plans are cut short."""
        first = ready[0]
        if first[0] not in self._tried:
            return first
        highest = self.queue_priority(*first)
        for entry in ready:
            if self.queue_priority(*entry) < highest:
                break
            if entry[0] not in self._tried:
                return entry
        return first

    def _turn(self, cls: WaitClass, job: Job) -> int:
        """Return a number that is larger the sooner a job has its turn: by its priority, and within it first if it had none yet."""
        return 2 * self.queue_priority(cls, job) + (cls not in self._tried)

    def first_of(self, candidates: list[Candidate]) -> Candidate | None:
        """Return the candidate whose turn it is by S6; None if there are no candidates."""
        if len(candidates) <= 1:
            return candidates[0] if candidates else None
        parent = candidates[0].quota.parent
        if all(candidate.quota.parent is parent for candidate in candidates):
            return min(candidates, key=self._order_of_siblings)
        contest = Contest()
        for candidate in candidates:
            contest.put(candidate.quota, (self.queue_priority(candidate.cls, candidate.job), candidate))
        return contest.winner()

    def _order_of_siblings(self, candidate: Candidate) -> tuple[int, int, int, JobId]:
        """Return the key by which first jobs of quotas with one parent are ordered: a contest of one round."""
        quota, cls, job = candidate
        return -self.queue_priority(cls, job), share_key(quota), job.spec.submitted_ms, job.id

    def _queue_order(self, waiting: tuple[WaitClass, JobId]) -> tuple[int, int, JobId]:
        """Return the key by which the jobs of one queue are ordered."""
        cls, job_id = waiting
        return self._place_of((cls, self._state.jobs[job_id]))

    def _place_of(self, entry: Entry) -> tuple[int, int, JobId]:
        cls, job = entry
        return -self.queue_priority(cls, job), job.spec.submitted_ms, job.id

    def _first_of_class(self, cls: WaitClass) -> Job:
        return self._state.jobs[cls.members[0][1]]

    def queue_priority(self, cls: WaitClass, job: Job) -> int:
        """Return the priority of a job in its queue, which rises with waiting where the strategy says so (S4)."""
        ages = cls.quota.spec.strategy is Strategy.INTELLIGENT
        interval = self._state.settings.aging_interval_ms
        return cls.queue_priority(job.spec.submitted_ms, self._now_ms, interval, ages)

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

    # -- who may have to be tried before another ------------------------------------------------------------------

    def nobody_but(self, job: Job) -> bool:
        """Return True if it is plain that no job but this one may be tried now, as in most plans."""
        self._follow_changes()
        if self._stirred or not self._contest.nobody_but(job):
            return False
        known = self._ready.get(job.quota.id)
        return known is None or len(known.jobs) <= 1

    def ready_above(self, parent: Quota, priority: int) -> list[Quota]:
        """Return the children of a quota where a job of a higher priority than this may be tried."""
        return self._sorted().above(parent, priority)

    def ready_within_min(self) -> dict[Quota, Resources]:
        """Return the quotas where a job may be tried that fits the quota's own min, each with the surplus that leaves for it."""
        quotas = self._sorted()
        if self._unmeasured:
            unmeasured = dict.fromkeys(above for quota in self._unmeasured for above in quota.path)
            self._unmeasured = {}
            for quota in unmeasured:
                waits = quota.id in quota.tree.waiting
                found = room_within_min(quota, self.ready(quota)) if waits else None
                quotas.put_within(quota, found)
        return quotas.within()

    def ready_priorities(self, quota: Quota) -> Iterable[int]:
        """Return the submitted priorities of the jobs that may be tried at a quota, each once."""
        if not self.ready(quota):
            return ()
        return self._ready[quota.id].priorities()

    def _sorted(self) -> ReadyQuotas:
        """Return where jobs of which priority may be tried, found out again for the quotas in which something changed."""
        self._follow_changes()
        quotas = self._quotas
        if quotas is None:
            quotas = self._quotas = ReadyQuotas()
        while self._unsorted:
            unsorted, self._unsorted = self._unsorted, {}
            for quota in unsorted:
                waits = quota.id in quota.tree.waiting
                quotas.put(quota, self.ready_priorities(quota) if waits else ())
                self._unmeasured[quota] = None
        return quotas

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
