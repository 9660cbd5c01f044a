"""Who gets what regular work leaves over: idle starts first (I1, I2, I4), then surplus replicas (P12)?"""

from __future__ import annotations

from quotatree.core.changes import effects
from quotatree.core.changes.evictions import evict_all
from quotatree.core.model.effort import ONE_LOOK
from quotatree.core.model.job import Claim, Idle, Job, JobId, Placed, asked_for, least_count, total_request
from quotatree.core.model.quota_arithmetic import over_while_ending, shortage
from quotatree.core.model.resources import GPU, resources_text
from quotatree.core.model.tree import Tree
from quotatree.core.model.unit import UnitKind
from quotatree.core.model.wait_queue import Failure, WaitClass
from quotatree.core.planning.claimant import kept_nodes
from quotatree.core.planning.contest import Candidate
from quotatree.core.planning.draft import Draft
from quotatree.core.planning.fair_shares import fair_order, sharing_from
from quotatree.core.planning.fair_take import fair_take, waits_for_leaving
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.outcome import Decided
from quotatree.core.planning.strategies import over_limit
from quotatree.core.planning.why import idle_refusal, kept_for_guard, why_no_part
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.placement import find_places
from quotatree.core.state import State, limits_on

_AsOf = tuple[int, int, int]


class Leftovers:
    """The second and the third round of one plan."""

    def __init__(self, draft: Draft) -> None:
        self._draft, self._hopes = draft, draft.effort.hopes
        # Who could use surplus as of then, the first of them last: thousands of services may get a replica each in one plan.
        self._line: tuple[_AsOf, list[Job]] | None = None
        self._nobody_misses: _AsOf | None = None  # as of then no job could have a wanted replica idle

    def forget_hopes(self) -> None:
        for cls, _ in self._hopes:
            self._forget(cls)

    def start_idle(self) -> bool:
        """Make one decision of the second round; return False when no job can run idle any more."""
        draft, state = self._draft, self._draft.state
        for candidate in idle_candidates(state, draft.ordering, draft.now_ms):
            cls, job = candidate.cls, candidate.job
            if draft.is_put_off(job, Claim.IDLE):
                continue
            found = idle_start(state, job)
            if not isinstance(found, Reason):
                self._start(job, found)
                return True
            if self._took_fairly(job):
                return True
            # Shares change with whatever starts; several shapes may fit where less is free.
            any_change = len(job.spec.groups) > 1 or sharing_from(job.quota) is not None
            change = state.change if any_change else None
            state.remember_idle(cls, Failure(found, job.quota.tree.version, change=change))
            if job.spec.idle is Idle.ONLY:
                draft.tell(job, found)
        return self._grow_idle() or (bool(self._hopes) and self._disappointed())

    def start_surplus(self) -> bool:
        """Start one surplus replica on what is left over (P12); return False if no job can have one."""
        draft, state = self._draft, self._draft.state
        as_of = self._as_of()
        if self._line is None or self._line[0] != as_of:
            self._line = as_of, short_of_surplus(state, draft.trees)[::-1]
        line = self._line[1]
        while line:
            job = line[-1]
            root, tree, version = job.quota.root, job.quota.tree, job.quota.tree.version
            taken = {*job.core_indexes, *job.extras, *job.leaving}
            free = next((i for i in range(job.spec.most_replicas) if i not in taken), None)
            shape = job.spec.groups[0].shape
            if (
                free is not None
                and not draft.is_put_off(job, UnitKind.SURPLUS)
                and surplus_allowed(state, job)
            ):
                places = find_places(state, root, [(free, shape)], now=True, avoid=tree.guard_nodes)
                if places is not None:
                    draft.note_place(job, UnitKind.SURPLUS)
                    draft.decisions.append(effects.start_surplus(state, job, places[0], draft.now_ms))
                    # It may have put waiting jobs over a limit: positions are counted anew (S3). And the first surplus
                    # of a tree gives its other jobs a right that they did not have: those that failed are tried again,
                    # and told why they wait (P12).
                    if state.limits or tree.surplus_units == 1:
                        draft.ordering.touch(job.quota)
                    if version == tree.version:
                        self._go_on(job, line, as_of)
                    return True
            state.remember_surplus(job, version)
            line.pop()
        return False

    def _as_of(self) -> _AsOf:
        """Return what differs after every decision, and whenever one was taken back."""
        draft = self._draft
        return draft.returns, len(draft.decisions), draft.state.change

    def _go_on(self, job: Job, line: list[Job], before: _AsOf) -> None:
        """Keep the order of those who could use surplus, now that this first one of them has got a replica: nobody else's place
        has changed, and nobody misses a wanted one who did not before."""
        if job.running_replicas >= job.spec.most_replicas:
            line.pop()
        as_of = self._as_of()
        self._line = as_of, line
        if self._nobody_misses == before:
            self._nobody_misses = as_of

    def _took_fairly(self, job: Job) -> bool:
        """Let a waiting borrower take from one that has more than its share (I4); return whether anything was decided.

        It starts when they have left: nothing is promised to it, since by then it still has the smallest share.
        """
        draft, state = self._draft, self._draft.state
        take = fair_take(state, job, draft.now_ms)
        if take is None:
            return False
        before = state.mark()
        why = because(Code.FairShare, preemptor=job.id, quota=take.quota.id)
        evictions = evict_all(state, take.units, draft.now_ms, why, job.id, counts=False)
        draft.add(job, Decided(evictions, before, taken=take.units))
        return True

    def _start(self, job: Job, places: tuple[Placed, ...]) -> None:
        draft = self._draft
        draft.note_place(job, Claim.IDLE)
        free = resources_text(total_request(job, [place.replica for place in places]))
        why = because(Code.FitsIdle, free=free)
        draft.decisions.append(
            effects.start(
                draft.state, job, places, claim=Claim.IDLE, now_ms=draft.now_ms, step=Step.FREE, reason=why
            )
        )
        draft.ordering.touch(job.quota)

    def _grow_idle(self) -> bool:
        """Start replicas that a running job is missing, if it may have them idle; return False if no job can (I1, P12)."""
        draft, as_of = self._draft, self._as_of()
        if self._nobody_misses == as_of:
            return False
        missing = short_of_idle(draft.state, draft.trees)
        if not missing:
            self._nobody_misses = as_of
        for job in missing:
            if draft.is_put_off(job, Claim.IDLE):
                continue
            found = idle_start(draft.state, job)
            if not isinstance(found, Reason):
                self._start(job, found)
                return True
            draft.state.remember_surplus(job, job.quota.tree.version)
        return False

    def _disappointed(self) -> bool:
        """Let classes that stopped at idle go on to preempt, if decisions were made since (P4); return whether any may.

        Other jobs may have taken the idle room that they counted on.
        """
        draft = self._draft
        found = False
        for cls, change in self._hopes:
            if change != draft.state.change and cls.members and self._forget(cls):
                draft.ordering.touch(cls.quota)
                found = True
        if found:
            self._hopes.clear()
        return found

    def _forget(self, cls: WaitClass) -> bool:
        """Forget that a class stopped at idle: that holds only until the idle round; return whether it was remembered."""
        if cls.failed is None or cls.failed.reason.code is not Code.StopsAtIdle:
            return False
        self._draft.state.remember(cls, None)
        return True


def idle_candidates(state: State, ordering: Ordering, now_ms: int) -> list[Candidate]:
    """Return the jobs to try in the second round: those that may run idle, even behind a blocked head (ADR 0006).

    By queue priority, submit time and id; below fair borrowing by share (I4).
    """
    found: list[tuple[int, int, JobId, Candidate]] = []
    for quota in ordering.waiting():
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
            if cls.limits and over_limit(state, cls):
                continue
            submitted, job_id = cls.members[0]
            job = state.jobs[job_id]
            if job.running or job.leaving:
                continue
            found.append((-ordering.queue_priority(cls, job), submitted, job_id, Candidate(quota, cls, job)))
    state.work.done += ONE_LOOK * len(found)
    if len(found) <= 1:
        return [found[0][3]] if found else []
    found.sort(key=lambda entry: entry[:3])
    return fair_order([entry[3] for entry in found], lambda c: c.quota, lambda c: c.job)


def idle_start(state: State, job: Job) -> tuple[Placed, ...] | Reason:
    """Return free places for as many of the replicas a job asks for as may run idle, or why not even the least may."""
    if job.leaving and not job.running:
        return because(Code.StillLeaving, replicas=len(job.leaving))
    numbers = asked_for(job)
    least = min(len(numbers), least_count(job))
    found = _places(state, job, numbers[:least])
    if isinstance(found, Reason):
        waits = not job.running and waits_for_leaving(state, job)
        return because(Code.FairTurn, leaving=state.leaving_replicas) if waits else found
    if len(numbers) == least:
        return found
    enough, too_many = least, len(numbers) + 1
    while too_many - enough > 1:
        count = len(numbers) if too_many > len(numbers) else (enough + too_many) // 2
        gpu_milli = total_request(job, numbers[:count]).gpu_milli
        more = None if beyond_limit(state, job, gpu_milli) else _places(state, job, numbers[:count])
        if more is None or isinstance(more, Reason):
            too_many = count
        else:
            found, enough = more, count
    return found


def _places(state: State, job: Job, numbers: list[int]) -> tuple[Placed, ...] | Reason:
    """Return free places for exactly these replicas, or why they cannot start on idle capacity."""
    refusal = idle_refusal(job, total_request(job, numbers))
    if refusal is not None:
        return refusal
    tree = job.quota.tree
    wanted = job.shaped(numbers)
    avoid = kept_nodes(state, job)
    places = find_places(state, tree.root, wanted, now=True, avoid=avoid)
    if places is not None:
        return places
    if avoid and tree.guard is not None and find_places(state, tree.root, wanted, now=True) is not None:
        return kept_for_guard(state, job)
    part = why_no_part(state, tree.root, wanted, avoid)
    if part is not None:
        return part
    return because(Code.IdleNoPlacement, shape=resources_text(wanted[0][1].resources))


def short_of_idle(state: State, trees: tuple[Tree, ...]) -> list[Job]:
    """Return the running jobs that may have replicas idle and want more, in the order in which they get them."""
    wanting = [
        job
        for job in _elastic(trees)
        if job.spec.idle is not Idle.NEVER and job.missing_replicas and not _over_one(state, job)
    ]
    return _in_order(state, wanting)


def short_of_surplus(state: State, trees: tuple[Tree, ...]) -> list[Job]:
    """Return the running jobs that have all they want and could use more, in the order in which they get it (P12)."""
    contented = [
        job
        for job in _elastic(trees)
        if job.spec.wanted_replicas <= job.running_replicas < job.spec.most_replicas
    ]
    return _in_order(state, contented)


def surplus_allowed(state: State, job: Job) -> bool:
    """Return whether quotas and limits have room for one more replica of this job, which must not be a loan."""
    request = job.spec.groups[0].shape.resources
    if _over_one(state, job):
        return False
    if job.claim is Claim.IDLE:
        return idle_refusal(job, request) is None
    return shortage(job.quota, request) is None and not over_while_ending(job.quota, request, request)


def _elastic(trees: tuple[Tree, ...]) -> list[Job]:
    return [job for tree in trees if tree.elastic for job in tree.elastic.values()]


def _in_order(state: State, jobs: list[Job]) -> list[Job]:
    """Return those of the jobs that have not failed since something was released, by priority, submit time and id."""
    fresh = [
        job
        for job in jobs
        if job.running and job.hold is None and state.surplus_failed.get(job.id) != job.quota.tree.version
    ]
    return sorted(fresh, key=lambda job: (-job.priority, job.spec.submitted_ms, job.id))


def _over_one(state: State, job: Job) -> bool:
    return beyond_limit(state, job, job.spec.groups[0].shape.gpu_milli)


def beyond_limit(state: State, job: Job, gpu_milli: int) -> bool:
    """Return whether so much more would be beyond an amount limit of the job (W4)."""
    if not state.limits:
        return False
    used = state.limit_used
    return any(used.get(limit, 0) + gpu_milli > limit.gpu_milli for limit in limits_on(state, job))
