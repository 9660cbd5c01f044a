"""Who is tried next across all quotas (S6), and who may be tried at all inside each (wait_queue.py)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import NamedTuple

from quotatree.core.model.job import Idle, Job, JobId, Phase, Shape, least_asked_for
from quotatree.core.model.no_room import Exhausted, NoRoom, no_room_of
from quotatree.core.model.policy import Strategy
from quotatree.core.model.quota import Quota, QuotaId, share_key
from quotatree.core.model.resources import GPU, Resources
from quotatree.core.model.rights import Work, with_policy_against
from quotatree.core.model.tree import Tree
from quotatree.core.model.wait_queue import GUARDED, WaitClass, head, tryable
from quotatree.core.planning.attempt_facts import regular_part
from quotatree.core.planning.contest import Candidate, Contest, First
from quotatree.core.planning.fair_idle import fair_order, sharing_from
from quotatree.core.state import State


class _Ready(NamedTuple):
    """The jobs that a strategy lets be tried, as of a stamp of the queue and a version of the tree; None: of any."""

    version: int | None
    stamp: int
    jobs: list[tuple[WaitClass, Job]]
    stood: tuple[tuple[JobId, int], ...] = ()
    no_room: NoRoom | None = None


class Ordering:
    """The order of one plan for trees that share pools. Answers are remembered per quota until its tree or queue changes;
    the state's log tells in which quotas that may be (contest.py).

    That is not undone by a rollback: after one, the order must be made anew.
    """

    def __init__(self, state: State, now_ms: int, trees: tuple[Tree, ...]) -> None:
        self._state, self._now_ms, self.trees = state, now_ms, trees
        self._ready: dict[str, _Ready] = {}
        self._nobody: tuple[int, ...] | None = None  # as of this change and these versions nobody is ready
        self._stirred: dict[Quota, None] = {}  # their first job must be found again
        self._resting: dict[Quota, None] = {}  # their first job rests on failures that were remembered
        self._done: dict[
            Quota, int
        ] = {}  # the last plan left nobody to try: that holds at this version of the tree
        self.start_over()

    def touch(self, quota: Quota) -> None:
        """Note that the queue of this quota has changed."""
        self._nobody = None
        quota.queue.stamp += 1
        self._stirred[quota] = None

    def start_over(self) -> None:
        """Forget whose turn it is: any use or queue may have changed."""
        state = self._state
        self._contest = Contest()
        self._seen = (state.stirs_epoch, len(state.stirred))
        self._versions: dict[Tree, int] = {}
        for tree in self.trees:
            self._versions[tree] = tree.version
            for quota in tree.waiting.values():
                if quota.spec.id not in self._ready and self._left_nobody(quota):
                    self._resting[quota] = None
                else:
                    self._stirred[quota] = None

    def anybody_stirred(self) -> bool:
        """Return whether a job may be tried in any quota; False: all that wait are known to fail, as the last plan left them."""
        return bool(self._stirred)

    def drop(self, cls: WaitClass) -> None:
        """Take a class that was tried and failed out of the order; the others stay as they are.

        Only where positions count (S3) does a failure change which others may be tried.
        """
        quota = cls.quota
        self._stirred[quota] = None
        known = self._ready.get(quota.id)
        if quota.spec.strategy is Strategy.BALANCE or known is None:
            self.touch(quota)
        else:
            for place, (other, _) in enumerate(known.jobs):
                if other is cls:
                    del known.jobs[place]
                    break
            self._ready[quota.id] = _Ready(
                quota.tree.version, known.stamp, known.jobs, known.stood, known.no_room
            )

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
            if known.no_room is not None and known.no_room.holds(tree):
                self._ready[name] = _Ready(version, stamp, [], (), known.no_room)
                return []
        settings = self._state.settings
        found, stood = tryable(
            quota,
            self._now_ms,
            settings.aging_interval_ms,
            settings.balance_timeout_ms,
            self.passed,
            self.fails,
        )
        if quota.spec.strategy is Strategy.BALANCE and stood != quota.queue.stood:
            self._state.set_stood(quota.queue, stood)
        guarded = quota.tree.guard
        kept_for = None if guarded is None else quota.queue.of_job.get(guarded)
        if (
            guarded is not None
            and kept_for is not None
            and not self.fails(kept_for)
            and not self.cannot_start(kept_for)
            and (kept_for, guarded) not in found
        ):
            self._insert(found, kept_for, guarded)  # no strategy holds the guarded job back (S10)
        if self._state.nodes_out:
            for cls in self._without_nodes(quota):
                self._insert(found, cls, cls.members[0][1])
        jobs = [(cls, self._state.jobs[job_id]) for cls, job_id in found]
        # Only a failure that was remembered can become void as the version rises.
        rests = guarded is not None or self._state.nodes_out or queue.any_failed()
        no_room = None
        if rests and not jobs and quota.spec.strategy is not Strategy.BALANCE:
            no_room = no_room_of(queue, tree.rights)
        self._ready[name] = _Ready(version if rests else None, stamp, jobs, stood, no_room)
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
        if self._done.get(quota) != tree.version:
            if not done.holds(tree):
                return False
            self._done[quota] = tree.version
        return True

    def close(self) -> None:
        """Note in the queues what the next plan need not find out again.

        A queue in which every job failed is marked: all fail until the tree's version rises, or a job comes or goes. It is not
        marked where less may let a job be tried: time, by positions (S3) and delays (P11), or any change at all. An empty
        queue forgets its positions (S3).
        """
        for quota_id, known in self._ready.items():
            quota = self._state.quotas[QuotaId(quota_id)]
            queue = quota.queue
            balances = quota.spec.strategy is Strategy.BALANCE
            if balances and known.stamp == queue.stamp and queue.stood != known.stood:
                self._state.set_stood(queue, known.stood)  # they were found in an attempt that was taken back
            if queue.stood and not queue.of_job:
                self._state.set_stood(queue, ())
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

    def _without_nodes(self, quota: Quota) -> list[WaitClass]:
        """Return classes that only nodes out of order keep from starting.

        They do not block their queue, but are tried so that they are told why they wait.
        """
        return [
            cls
            for cls in quota.queue.classes.values()
            if not self.fails(cls)
            and cls.idle is not Idle.ONLY
            and not self._over_limit(cls)
            and not self._over_min(cls)
            and not self._nodes_hold(cls)
        ]

    def best(self) -> Candidate | None:
        """Return the next job to try in the first round, or None. Only quotas in which something changed are looked at."""
        self._follow_changes()
        stirred, self._stirred = self._stirred, {}
        for quota in stirred:
            self._contest.put(quota, self._first(quota))
        return self._contest.winner()

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
                    stirred[quota] = None
        for quota in self._resting:
            tree = quota.tree
            if tree.version != versions[tree]:
                stirred[quota] = None
            else:
                known = self._ready.get(quota.id)
                if known is not None and known.jobs:
                    stirred[quota] = None
        for tree in versions:
            versions[tree] = tree.version

    def _first(self, quota: Quota) -> First | None:
        """Return the first job of a quota's order, with its queue priority; None if nobody is ready."""
        if quota.id not in quota.tree.waiting:
            self._resting.pop(quota, None)
            return None
        ready = self.ready(quota)
        while ready and self.fails(ready[0][0]):
            self.drop(ready[0][0])  # another quota has used the room that this class was to be tried for
            ready = self.ready(quota)
        known = self._ready.get(quota.id)
        if known is not None and known.version is None:
            self._resting.pop(quota, None)
        else:
            self._resting[quota] = None
        if not ready:
            return None
        cls, job = ready[0]
        return self._queue_priority(cls, job), Candidate(quota, cls, job)

    def first_of(self, candidates: list[Candidate]) -> Candidate | None:
        """Return the candidate whose turn it is by S6; None if there are no candidates."""
        if len(candidates) <= 1:
            return candidates[0] if candidates else None
        parent = candidates[0].quota.parent
        if all(candidate.quota.parent is parent for candidate in candidates):
            return min(candidates, key=self._order_of_siblings)
        contest = Contest()
        for candidate in candidates:
            contest.put(candidate.quota, (self._queue_priority(candidate.cls, candidate.job), candidate))
        return contest.winner()

    def _order_of_siblings(self, candidate: Candidate) -> tuple[int, int, int, JobId]:
        """Return the key by which first jobs of quotas with one parent are ordered: a contest of one round."""
        quota, cls, job = candidate
        return -self._queue_priority(cls, job), share_key(quota), job.spec.submitted_ms, job.id

    def _queue_order(self, waiting: tuple[WaitClass, JobId]) -> tuple[int, int, JobId]:
        """Return the key by which the jobs of one queue are ordered."""
        cls, job_id = waiting
        job = self._state.jobs[job_id]
        return -self._queue_priority(cls, job), job.spec.submitted_ms, job_id

    def _queue_priority(self, cls: WaitClass, job: Job) -> int:
        ages = cls.quota.spec.strategy is Strategy.INTELLIGENT
        interval = self._state.settings.aging_interval_ms
        return cls.queue_priority(job.spec.submitted_ms, self._now_ms, interval, ages)

    def idle_candidates(self) -> list[Candidate]:
        """Return the jobs to try in the second round: those that may run idle, even behind a blocked head (ADR 0006).

        By queue priority, submit time and id; below fair borrowing by share (I4).
        """
        state, now_ms = self._state, self._now_ms
        found: list[tuple[int, int, JobId, Candidate]] = []
        for quota in self.waiting():
            if not quota.queue.borrowing:
                continue
            root = quota.root
            capacity = root.min[GPU]
            unused = None if capacity is None else capacity - root.used[GPU] - root.idle[GPU]
            shared = sharing_from(quota) is not None
            for cls in quota.queue.classes.values():
                if not cls.borrows:
                    continue
                if not shared and unused is not None and cls.request[GPU] and cls.request[GPU] > unused:
                    continue
                if cls.failed_idle is not None and cls.still_fails(cls.failed_idle, now_ms, state.change):
                    continue
                if cls.limits and self._over_limit(cls):
                    continue
                submitted, job_id = cls.members[0]
                job = state.jobs[job_id]
                if job.running or job.leaving:
                    continue
                found.append((-self._queue_priority(cls, job), submitted, job_id, Candidate(quota, cls, job)))
        if len(found) <= 1:
            return [found[0][3]] if found else []
        found.sort(key=lambda entry: entry[:3])
        return fair_order([entry[3] for entry in found], lambda c: c.quota, lambda c: c.job)

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

    def passed(self, cls: WaitClass) -> bool:
        """Return whether every strategy passes over this class: idle only, guarded, over an amount limit, or too large."""
        if cls.idle is Idle.ONLY or cls.key[0] == GUARDED:
            return True
        return self.cannot_start(cls)

    def cannot_start(self, cls: WaitClass) -> bool:
        """Return whether no eviction would help: over an amount limit, larger than a min on its path or the ready nodes."""
        return (
            (bool(cls.limits) and self._over_limit(cls)) or self._over_min(cls) or not self._nodes_hold(cls)
        )

    def _over_limit(self, cls: WaitClass) -> bool:
        if not cls.limits or cls.promotes:  # what runs idle is within its limits already
            return False
        used = self._state.limit_used
        return any(used.get(lim, 0) + cls.request.gpu_milli > lim.gpu_milli for lim in cls.limits)

    def _over_min(self, cls: WaitClass) -> bool:
        """Return whether the class asks for more than a min on its path has."""
        request = cls.request
        if cls.grows:  # beside what runs of the job itself, which does not leave for it
            request = request.plus(regular_part(self._state.jobs[cls.members[0][1]]))
        for above in cls.quota.path:
            for i, bound in above.named:
                if request[i] > bound and not (above is cls.quota and _borrows(cls)):
                    return True
        return False

    def _nodes_hold(self, cls: WaitClass) -> bool:
        """Return whether the nodes that are ready now, if all were empty, could hold every replica that is wanted."""
        if cls.promotes:
            return True
        root, job = cls.quota.root, self._state.jobs[cls.members[0][1]]
        groups, count = job.spec.groups, job.core_replicas
        if job.core is None and len(groups) == 1:
            return self._slots_when_empty(root, groups[0].shape, count) >= count
        wanted: dict[Shape, int] = {}
        for index in [*job.core_indexes, *job.extras, *least_asked_for(job)]:
            shape = job.shape_of(index)
            wanted[shape] = wanted.get(shape, 0) + 1
        return all(self._slots_when_empty(root, shape, count) >= count for shape, count in wanted.items())

    def _slots_when_empty(self, root: Quota, shape: Shape, enough: int) -> int:
        """Return how many replicas the ready nodes of a tree could hold if all were empty, counted until there are enough."""
        state = self._state
        key = ("roomy", root.id, shape)
        known: tuple[int, int, bool] | None = state.indexes.get(key)
        if known is None or known[0] != state.ready_version or (known[1] < enough and not known[2]):
            pools = root.tree.pools
            slots, everywhere = 0, True
            for node in state.nodes:
                if slots >= enough:
                    everywhere = False
                    break
                if node.spec.pool in pools and node.suits(shape):
                    slots += node.slots_when_empty(shape)
            known = state.indexes[key] = (state.ready_version, slots, everywhere)
        return known[1]

    def head(self, quota: Quota) -> Job | None:
        found = head(quota, self._now_ms, self._state.settings.aging_interval_ms, self.passed)
        return None if found is None else self._state.jobs[found[1]]

    def first_in_line(self, quota: Quota) -> list[tuple[Job, WaitClass]]:
        """Return the head of a quota's queue and, before it, the running jobs ahead of it that miss replicas (S10, P12)."""
        found: list[tuple[Job, WaitClass]] = []
        aging_ms = self._state.settings.aging_interval_ms
        for cls in quota.queue.in_order(self._now_ms, aging_ms, quota.spec.strategy):
            if self.passed(cls):
                continue
            found.append((self._state.jobs[cls.members[0][1]], cls))
            if not cls.grows:
                break
        return found

    def could_take(self, victim: Work, request: Resources) -> list[tuple[Quota, bool]]:
        """Return, in tree order, the quotas whose waiting jobs may have a right against this work (P1, P2, P15).

        They are on its path or beside it. With each: whether the quota next to it would be above its min with `request` more.
        """
        path, waiting = victim.quota.path, victim.quota.tree.waiting
        found: list[tuple[Quota, bool]] = []
        lent: set[QuotaId] = set()  # parents below which a return may be claimed
        for above in path:
            if above.parent is not None and _beyond_min(above, request):
                lent.add(above.parent.id)
                found += [(q, True) for q in waiting.values() if q.parent is above.parent and q is not above]
        for quota in with_policy_against(victim):
            if quota.id not in waiting:
                continue
            parent = quota.parent
            if quota in path or (parent is not None and parent.id not in lent and parent in path):
                found.append((quota, False))
        return sorted(found, key=lambda entry: entry[0].tin) if len(found) > 1 else found

    def waiting_below(self, parent: Quota) -> list[Quota]:
        return sorted((q for q in parent.tree.waiting.values() if parent.contains(q)), key=_tree_order)

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


def _beyond_min(quota: Quota, request: Resources) -> bool:
    """Return whether the quota would be above its min with this much more."""
    used = quota.used
    for i, bound in quota.named:  # noqa: SIM110  # asked of every quota on the path of every job that starts: no generator
        if used[i] + request[i] > bound:
            return True
    return False


def _tree_order(quota: Quota) -> int:
    return quota.tin


def _borrows(cls: WaitClass) -> bool:
    return cls.quota.spec.self_level.reaches_siblings(cls.priority)
