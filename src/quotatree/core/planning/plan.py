"""One plan: who starts, who must go, who waits, and when to look again (S6, S8-S10, P9, P11).

A plan goes in rounds: regular starts and evictions, then idle starts, then surplus replicas; after every decision the
order starts again from the top, and the plan ends when a whole pass decides nothing. Failures are remembered per class of
waiting jobs until something is released, so "from the top" costs what has changed.
"""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.changes.preemption_count import count_preemption
from quotatree.core.model.job import Claim, Idle, Job, JobId, Phase, Placed, missing_core
from quotatree.core.model.quota import has_loan, shortage
from quotatree.core.model.resources import resources_text
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.model.wait_queue import AGAIN, Failure, WaitClass
from quotatree.core.planning.attempt import Attempt
from quotatree.core.planning.attempt_facts import idle_refusal, passes_guard
from quotatree.core.planning.ordering import Candidate, Ordering
from quotatree.core.planning.outcome import Conflict, Decided, Failed, Outcome, TryFirst
from quotatree.core.planning.plan_context import Surroundings
from quotatree.core.planning.rivals import before_loan, rival_of, unrivalled
from quotatree.core.planning.starvation_guard import look_after_guards, next_guard_ms, place_guards
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.free_index import free_index
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import Wanted, find_places
from quotatree.core.state import State, limits_on


def plan(state: State, now_ms: int) -> say.Plan:
    """Decide everything that can be decided now. The decisions are applied to the state when this returns.

    No job is started only to be evicted in the same plan (S8). Trying rivals first ensures that, but for chains that no
    order foresees (a loan whose return takes what was just started, a victim that frees more than its preemptor needs,
    idle room that another job took); then the plan is rolled back and made anew without that start.
    """
    if state.in_transaction:
        return _made(state, now_ms)
    state.begin()
    try:
        made = _made(state, now_ms)
    except BaseException:
        state.rollback()
        raise
    state.commit()
    return made


def _made(state: State, now_ms: int) -> say.Plan:
    postponed: dict[tuple[JobId, Claim], JobId] = {}
    while True:
        mark = state.mark()
        planner = _Planner(state, now_ms, postponed)
        try:
            conflict = planner.run()
        except BaseException:
            state.forget_attempts()  # failures are not journalled
            raise
        if conflict is None:
            return say.Plan(now_ms, tuple(planner.decisions), planner.next_wakeup())
        state.rollback_to(mark)
        postponed[conflict.started, conflict.claim] = conflict.preemptor


class _Planner(Surroundings):
    def __init__(self, state: State, now_ms: int, postponed: dict[tuple[JobId, Claim], JobId]) -> None:
        self._state = state
        self._now_ms = now_ms
        self._postponed = postponed  # starts left out of this plan, each with the job that would evict it
        self._placed: set[tuple[JobId, Claim]] = set()  # jobs that got places in this plan
        self._last = False  # no other job can be helped any more; see _last_pass
        self._ordering = Ordering(state, now_ms)
        self._waits: dict[JobId, say.Wait] = {}
        self._idle_hopes: list[tuple[WaitClass, int]] = []  # stopped at idle, number of decisions then
        self._settled: set[int] = set()  # evictions, by position, whose preemption was counted
        self._conflict: Conflict | None = None  # set: this plan will be rolled back, so all loops end early
        self.decisions: list[say.Decision] = []

    def run(self) -> Conflict | None:
        """Make the plan; return None, or the conflict that says which start the next plan must leave out."""
        self._state.end_protections(self._now_ms)
        for tree in self._state.trees:
            if tree.loans:
                self._state.set_loans(tree, any(has_loan(quota) for quota in tree.quotas()))
        self.decisions += look_after_guards(self._state, self._ordering, self._now_ms)
        self._expire_holds()
        self._retry_expired()
        self._finish_holds()
        while True:
            self._ordering.start_over()
            while self._round():
                pass
            if not self._between_rounds():
                break
        if self._conflict is not None:
            return self._conflict
        self._ordering.close()
        self._settle_victims()
        self.decisions += self._news()
        return None

    def _round(self) -> bool:
        """Make one decision; return False when no job can be helped any more, or after a conflict."""
        if self._conflict is not None:
            return False
        return self._regular() or self._retry_expired() or self._idle() or self._surplus()

    def _between_rounds(self) -> bool:
        """Do what follows once no job can be helped; return True if a job may be helped after that."""
        if self._conflict is not None:
            return False
        return self._fail_over_limit() or self._finish_holds() or self._guards() or self._last_pass()

    def _last_pass(self) -> bool:
        """Let jobs whose start was postponed finish their holds or run idle, now that no other job can be helped.

        A postponed regular start from the queue waits for another plan. Returns False if there is none, or the second time.
        """
        if self._last or not self._postponed:
            return False
        self._last = True
        self._finish_holds()
        return True

    def _guards(self) -> bool:
        """Update and place starvation guards (S10); return whether one changed.

        A guarded job does not block its queue, so the rounds go on then.
        """
        found = look_after_guards(self._state, self._ordering, self._now_ms)
        found += place_guards(self._state, self._ordering, self._now_ms)
        self.decisions += found
        return bool(found)

    def _news(self) -> list[say.Wait]:
        """Return the waits of jobs that wait for another reason than they were last told, and note those as told (P10)."""
        found = []
        for wait in self._waits.values():
            job = self._state.jobs[wait.job]
            if job.phase is Phase.WAITING and job.told != wait.reason:
                self._state.set_told(job, wait.reason)
                found.append(wait)
        return found

    # -- holds (P9) ------------------------------------------------------------------------------------------

    def _holders(self) -> list[Job]:
        """Return all jobs with a hold by priority, submit time and id, since a rollback changes the order of entries."""
        return sorted(self._state.held.values(), key=lambda j: (-j.priority, j.spec.submitted_ms, j.id))

    def _expire_holds(self) -> None:
        for job in self._holders():
            if job.hold is not None and job.hold.waiting_on and job.hold.expires_ms <= self._now_ms:
                reason = because(Code.HoldExpired)
                self.decisions.append(effects.release(self._state, job, self._now_ms, reason, again=True))

    def _finish_holds(self) -> bool:
        """Start each held job whose places are empty now or that fits elsewhere; return whether anything was decided."""
        state = self._state
        decided = len(self.decisions)
        nowhere: set[tuple[object, ...]] = set()  # requests that fit nowhere else: equal ones need no search
        for job in self._holders():
            if self._put_off(job, Claim.REGULAR):
                continue
            self._takers_first(job)
            if self._conflict is not None:
                return True
            hold = job.hold
            if hold is None:
                continue
            if not hold.waiting_on:
                if effects.wait_longer(state, job, self._now_ms):
                    continue
                reason = because(Code.HoldComplete)
                places = hold.unit.places
                self._start_held(job, places, reason)
                continue
            version = job.quota.tree.version
            if hold.checked_version == version or job.leaving:
                continue
            state.set_checked(hold, version)
            wanted = [(p.replica, p.shape) for p in hold.unit.places]
            root = job.quota.root
            avoid = frozenset() if passes_guard(state, job) else job.quota.tree.guard_nodes
            alike = (root.id, avoid, *(shape for _, shape in wanted))
            elsewhere = None
            if alike not in nowhere:
                elsewhere = self._elsewhere(hold.unit, wanted, avoid)
            if elsewhere is None:
                if len(wanted) == 1:  # a gang may use its own promised places too
                    nowhere.add(alike)
                continue
            self._start_held(job, elsewhere, because(Code.StartsElsewhere))
        return len(self.decisions) > decided

    def _start_held(self, job: Job, places: tuple[Placed, ...], reason: Reason) -> None:
        start = effects.start(
            self._state, job, places, claim=Claim.REGULAR, now_ms=self._now_ms, step=Step.FREE, reason=reason
        )
        self.decisions.append(start)
        self._placed.add((job.id, Claim.REGULAR))

    def _elsewhere(self, unit: Unit, wanted: Wanted, avoid: frozenset[int]) -> tuple[Placed, ...] | None:
        """Return places that are free now, for a gang also those of its promised places that are empty; None if too few."""
        state, root = self._state, unit.job.quota.root
        found = find_places(state, root, wanted, now=True, avoid=avoid)
        if found is not None or len(wanted) == 1:
            return found
        if not any(free_index(state, shape, root, True).total for shape in {shape for _, shape in wanted}):
            return None
        without = Overlay(state)
        without.take(unit)
        return find_places(state, root, wanted, now=True, avoid=avoid, overlay=without)

    def _takers_first(self, job: Job) -> None:
        """Try jobs that could evict this held job before it starts, so that they take its hold and not its start (S8)."""
        while job.hold is not None and self._conflict is None:
            rival = rival_of(self._ordering, job, job.hold.unit.footprint)
            if rival is None:
                return
            first = self._unrivalled(rival)
            self._try(first.cls, first.job)

    def _retry_expired(self) -> bool:
        """Try jobs whose hold expired before any of their victims; return whether anything was decided."""
        waiting = [
            self._state.jobs[job_id]
            for quota in self._state.waiting_quotas.values()
            if quota.queue.again
            for cls in quota.queue.classes.values()
            if cls.key[0] == AGAIN
            for _, job_id in cls.members
        ]
        decided = len(self.decisions)
        # Rights go from the top down and from high to low, so this is S8's order.
        for job in sorted(waiting, key=lambda j: (j.quota.depth, -j.priority, j.spec.submitted_ms, j.id)):
            while (cls := job.quota.queue.of_job.get(job.id)) is not None:
                if job.running or cls.still_fails(cls.failed, self._now_ms):
                    break
                first = self._unrivalled(Candidate(job.quota, cls, job))
                self._try(first.cls, first.job)
                if self._conflict is not None:
                    return True
        return len(self.decisions) > decided

    # -- the three rounds ------------------------------------------------------------------------------------

    def _regular(self) -> bool:
        """Make one decision of the first round; return False when no job can be helped any more."""
        while True:
            candidate = self._ordering.best()
            if candidate is None:
                return False
            candidate = self._unrivalled(candidate)
            if self._try(candidate.cls, candidate.job):
                return True

    def _unrivalled(self, candidate: Candidate) -> Candidate:
        return unrivalled(self._ordering, candidate, len(self._state.waiting_quotas) + 1)

    def _try(self, cls: WaitClass, job: Job) -> bool:
        """Try a job, or the job that must be tried before it; return False if that one cannot be helped."""
        outcome = self._attempt(cls, job)
        while isinstance(outcome, TryFirst):
            cls, job = outcome.cls, outcome.job
            outcome = self._attempt(cls, job)
        if isinstance(outcome, Conflict):
            self._conflict = outcome
        elif isinstance(outcome, Failed):
            self._remember(cls, job, outcome.failure)
            return False
        else:
            self._record(job, outcome)
        return True

    def _attempt(self, cls: WaitClass, job: Job) -> Outcome:
        preemptor = self._postponed.get((job.id, Claim.REGULAR))
        if preemptor is not None:
            reason = because(Code.WouldBeTaken, preemptor=preemptor)
            return Failed(Failure(reason, job.quota.tree.version))
        return Attempt(self._state, job, cls, self._now_ms, self).run()

    def _put_off(self, job: Job, claim: Claim) -> bool:
        return (job.id, claim) in self._postponed and not self._last

    def placed_now(self, job: Job, claim: Claim) -> bool:
        return (job.id, claim) in self._placed and (job.id, claim) not in self._postponed

    def _remember(self, cls: WaitClass, job: Job, failure: Failure) -> None:
        cls.failed = failure
        if failure.reason.code is Code.StopsAtIdle:
            self._idle_hopes.append((cls, len(self.decisions)))
        self._ordering.drop(cls)
        if job.phase is Phase.WAITING:
            self._waits[job.id] = say.Wait(job.id, failure.reason)

    def _record(self, job: Job, outcome: Decided) -> None:
        placed = [d.job for d in outcome.decisions if isinstance(d, say.Start | say.Hold)]
        self._placed.update((job_id, Claim.REGULAR) for job_id in placed)
        self.decisions += outcome.decisions
        self._ordering.touch(job.quota)

    def before_loan(self, borrower: Job) -> tuple[WaitClass, Job] | None:
        first = before_loan(self._ordering, borrower)
        return None if first is None else (first.cls, first.job)

    def _idle(self) -> bool:
        state = self._state
        for candidate in self._ordering.idle_candidates():
            cls, job = candidate.cls, candidate.job
            if self._put_off(job, Claim.IDLE):
                continue
            reason = idle_refusal(state, job, cls.request)
            if reason is None:
                wanted = [(i, job.shape_of(i)) for i in missing_core(job)]
                avoid = frozenset() if passes_guard(state, job) else job.quota.tree.guard_nodes
                places = find_places(state, job.quota.root, wanted, now=True, avoid=avoid)
                if places is not None:
                    why = because(Code.FitsIdle, free=resources_text(cls.request))
                    self.decisions.append(
                        effects.start(
                            state,
                            job,
                            places,
                            claim=Claim.IDLE,
                            now_ms=self._now_ms,
                            step=Step.FREE,
                            reason=why,
                        )
                    )
                    self._placed.add((job.id, Claim.IDLE))
                    self._ordering.touch(job.quota)
                    return True
                reason = because(Code.IdleNoPlacement, shape=resources_text(wanted[0][1].resources))
            cls.failed_idle = Failure(reason, job.quota.tree.version)
            if job.spec.idle is Idle.ONLY:
                self._waits[job.id] = say.Wait(job.id, reason)
        return self._disappointed()

    def _disappointed(self) -> bool:
        """Let classes that stopped at idle go on to preempt, if decisions were made since (P4); return whether any may.

        Other jobs may have taken the idle room that they counted on.
        """
        found = False
        for cls, decided in self._idle_hopes:
            failed = cls.failed
            if decided == len(self.decisions) or not cls.members or failed is None:
                continue
            if failed.reason.code is Code.StopsAtIdle:
                cls.failed = None
                self._ordering.touch(cls.quota)
                found = True
        self._idle_hopes.clear()
        return found

    def _surplus(self) -> bool:
        """Start one surplus replica on what is left over (P12); return False if no job can have one."""
        state = self._state
        short = [
            j
            for j in state.elastic.values()
            if j.running
            and j.hold is None
            and len(j.surplus) + len(j.core_indexes) < j.spec.total_replicas
            and len(j.core_indexes) >= j.core_replicas
            and state.surplus_failed.get(j.id) != j.quota.tree.version
        ]
        for job in sorted(short, key=lambda j: (-j.priority, j.spec.submitted_ms, j.id)):
            root, tree = job.quota.root, job.quota.tree
            taken = {*job.core_indexes, *job.surplus, *job.leaving}
            free = [i for i in range(job.spec.total_replicas) if i not in taken]
            shape = job.spec.groups[0].shape
            if free and self._surplus_allowed(job):
                avoid = tree.guard_nodes if tree.guard != job.id else frozenset()
                places = find_places(state, root, [(free[0], shape)], now=True, avoid=avoid)
                if places is not None:
                    self.decisions.append(effects.start_surplus(state, job, places[0], self._now_ms))
                    # It may have put waiting jobs over a limit: positions are counted anew (S3). And the first surplus
                    # of a quota gives its other jobs a right that they did not have: those that failed are tried again,
                    # and told why they wait (P12).
                    if state.limits or job.quota.surplus_units == 1:
                        self._ordering.touch(job.quota)
                    self._ordering.start_over()
                    return True
            state.surplus_failed[job.id] = tree.version
        return False

    def _surplus_allowed(self, job: Job) -> bool:
        request = job.spec.groups[0].shape.resources
        used = self._state.limit_used
        if self._state.limits and any(
            used.get(limit, 0) + request.gpu_milli > limit.gpu_milli for limit in limits_on(self._state, job)
        ):
            return False
        if job.claim is Claim.IDLE:
            return idle_refusal(self._state, job, request) is None
        return shortage(job.quota, request) is None

    # -- the end ---------------------------------------------------------------------------------------------

    def _fail_over_limit(self) -> bool:
        """End victims of this plan that still wait and were preempted too often (P11); return whether there were any.

        They leave their queues now, so that they do not block other jobs.
        """
        failed = False
        for position, decision in enumerate(list(self.decisions)):
            if not isinstance(decision, say.Evict) or not decision.counts or position in self._settled:
                continue
            job = self._state.jobs[decision.job]
            limit = job.spec.max_preemptions
            if job.phase is Phase.WAITING and limit is not None and len(job.preempted_ms) + 1 > limit:
                self._settled.add(position)
                self.decisions += count_preemption(self._state, job, self._now_ms)
                self._ordering.touch(job.quota)
                failed = True
        return failed

    def _settle_victims(self) -> None:
        """Count the preemptions of this plan, and end jobs that were preempted more often than their owner allows (P11).

        Victims that found another place in this plan are marked as moved and not counted (P8).
        """
        state = self._state
        for position, decision in enumerate(self.decisions):
            if not isinstance(decision, say.Evict) or decision.kind is not UnitKind.CORE:
                continue
            job = state.jobs[decision.job]
            if job.phase in (Phase.HELD, Phase.RUNNING):
                self.decisions[position] = replace(decision, moved=True, counts=False)
                continue
            if decision.counts and position not in self._settled:
                self.decisions += count_preemption(state, job, self._now_ms)

    def next_wakeup(self) -> int | None:
        """Return the next time, in ms, at which the clock alone could change the plan; None if there is none."""
        times = [job.hold.expires_ms for job in self._state.held.values() if job.hold and job.hold.waiting_on]
        times += self._ordering.wakeups()
        times += next_guard_ms(self._state, self._now_ms)
        later = [t for t in times if t > self._now_ms]
        return min(later) if later else None
