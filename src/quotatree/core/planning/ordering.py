"""Who is tried next across all quotas (S6), and who may have to be tried before another (S8, P3)?

Where jobs of which priority may be tried is counted: of each quota the highest one is known to its parent, and whether a job fits the
quota's own min.
"""

from __future__ import annotations

from collections.abc import Iterable

from quotatree.core.model.job import Job, JobId
from quotatree.core.model.policy import HIGHEST_PRIORITY, Strategy
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import fits_own_min, share_key
from quotatree.core.model.resources import ZERO, Resources
from quotatree.core.model.tree import Tree
from quotatree.core.model.wait_queue import WaitClass
from quotatree.core.planning.contest import Candidate, Contest, First
from quotatree.core.planning.ready_jobs import Entry, ReadyInQueues
from quotatree.core.state import State


class Ordering(ReadyInQueues):
    """The order of one plan for trees that share pools. The state's log tells in which quotas it may be another one (contest.py).

    That is not undone by a rollback: after one, the order must be made anew.
    """

    def __init__(self, state: State, now_ms: int, trees: tuple[Tree, ...]) -> None:
        super().__init__(state, now_ms, trees)
        unfinished = trees[0].unfinished
        self._tried: frozenset[WaitClass] = frozenset() if unfinished is None else unfinished.tried
        self._nobody: tuple[int, ...] | None = None  # as of this change and these versions nobody is ready
        self._stirred: dict[Quota, None] = {}  # their first job must be found again
        self._unsorted: dict[Quota, None]  # their highest priority must be found again
        self._unmeasured: dict[Quota, None]  # whether a job fits their min, or one above, must be found again
        self._resting: dict[Quota, None]  # their first job rests on failures that were remembered
        self.start_over()

    def count(self, units: int) -> None:
        """Count work that was done to find out who comes first (model/effort.py)."""
        self._state.work.done += units

    def touch(self, quota: Quota) -> None:
        """Note that the queue of this quota has changed."""
        quota.queue.stamp += 1
        self._stir(quota)

    def left(self, job: Job) -> None:
        super().left(job)
        self._stir(job.quota)

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
                if quota not in self._ready and self._left_nobody(quota):
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
        known = self._ready.get(quota)
        if quota.spec.strategy is Strategy.BALANCE or known is None:
            self.touch(quota)
        else:
            self._stir(quota)
            known.drop(cls)
            known.version = quota.tree.version

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
            # Others have used the room that this class was to be tried for; the next may be later.
            self.drop(winner.cls)

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
        known = self._ready.get(quota)
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

    def anybody_ready(self) -> bool:
        """Return whether there is a job that its strategy lets be tried now, in any quota."""
        now = (self._state.change, *(tree.version for tree in self.trees))
        if self._nobody == now:
            return False
        if any(self.ready(quota) for quota in self.waiting()):
            return True
        self._nobody = now
        return False

    def nobody_but(self, job: Job) -> bool:
        """Return True if it is plain that no job but this one may be tried now, as in most plans."""
        self._follow_changes()
        if self._stirred or not self._contest.nobody_but(job):
            return False
        known = self._ready.get(job.quota)
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
                if found is None:
                    quotas.within.pop(quota, None)
                else:
                    quotas.within[quota] = found
        return quotas.within

    def ready_priorities(self, quota: Quota) -> Iterable[int]:
        """Return the submitted priorities of the jobs that may be tried at a quota, each once."""
        if not self.ready(quota):
            return ()
        return self._ready[quota].priorities()

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


class ReadyQuotas:
    """The quotas that have jobs to be tried, as far as they were put here.

    `within`: those where a job fits the quota's own min, each with the surplus that would leave for it.
    """

    __slots__ = ("_by_highest", "_highest", "within")

    def __init__(self) -> None:
        self._highest: dict[Quota, int] = {}
        self._by_highest: dict[tuple[Quota | None, int], dict[Quota, None]] = {}
        self.within: dict[Quota, Resources] = {}

    def put(self, quota: Quota, priorities: Iterable[int]) -> None:
        """Set the priorities of the jobs that may be tried at a quota; none: it has no such job."""
        highest, before = max(priorities, default=0), self._highest.get(quota, 0)
        if highest == before:
            return
        if before:
            del self._by_highest[quota.parent, before][quota]
        self._highest[quota] = highest
        if highest:
            self._by_highest.setdefault((quota.parent, highest), {})[quota] = None

    def above(self, parent: Quota, priority: int) -> list[Quota]:
        """Return the children of a quota that have a job of a higher priority than this."""
        found: list[Quota] = []
        for highest in range(priority + 1, HIGHEST_PRIORITY + 1):
            found += self._by_highest.get((parent, highest), ())
        return found


def room_within_min(quota: Quota, jobs: list[Entry]) -> Resources | None:
    """Return the surplus below a quota that leaves for its jobs (P12), if one of these then fits the quota's own min; else None."""
    if not jobs:
        return None
    surplus = Resources(*quota.surplus) if quota.tree.surplus_units else ZERO
    for cls, _ in jobs:
        if fits_own_min(quota, cls.request, surplus):
            return surplus
    return None
