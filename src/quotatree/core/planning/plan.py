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

    Nothing is started only to be evicted (S8). Trying rivals first sees to it but for chains that no order foresees (a
    loan whose return takes what was just started, a victim that frees more than its taker needs, idle room that
    somebody else took); then the plan is taken back and made anew without that start.
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
        self._postponed = postponed  # by whom the job would be taken in this plan
        self._placed: set[tuple[JobId, Claim]] = set()  # who got places in this plan
        self._last = False  # everybody else has been helped; see _last_pass
        self._ordering = Ordering(state, now_ms)
        self._waits: dict[JobId, say.Wait] = {}
        self._idle_hopes: list[tuple[WaitClass, int]] = []  # stopped at idle, after so many decisions
        self._settled: set[int] = set()  # evictions, by position, whose preemption was counted
        self._conflict: Conflict | None = None  # this plan is not to be: everything ends as soon as it can
        self.decisions: list[say.Decision] = []

    def run(self) -> Conflict | None:
        """Make the plan, or say whose start must be left out of the next one."""
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
        """One decision, or False when nobody can be helped any more, or is to be."""
        if self._conflict is not None:
            return False
        return self._regular() or self._retry_expired() or self._idle() or self._surplus()

    def _between_rounds(self) -> bool:
        """What follows once nobody can be helped; True: and now somebody may be."""
        if self._conflict is not None:
            return False
        return self._fail_over_limit() or self._finish_holds() or self._guards() or self._last_pass()

    def _last_pass(self) -> bool:
        """Nobody else can be helped: who was put off may finish its hold or run idle now, since nobody wants it more.

        Who was put off for a regular start waits for another plan.
        """
        if self._last or not self._postponed:
            return False
        self._last = True
        self._finish_holds()
        return True

    def _guards(self) -> bool:
        """S10, once nobody can be helped any more; who has a guard's hold blocks nobody, so the rounds go on."""
        found = look_after_guards(self._state, self._ordering, self._now_ms)
        found += place_guards(self._state, self._ordering, self._now_ms)
        self.decisions += found
        return bool(found)

    def _news(self) -> list[say.Wait]:
        """A job that waits for the same reason as when it was last told so has nothing new to hear (P10)."""
        found = []
        for wait in self._waits.values():
            job = self._state.jobs[wait.job]
            if job.phase is Phase.WAITING and job.told != wait.reason:
                self._state.set_told(job, wait.reason)
                found.append(wait)
        return found

    # -- holds (P9) ------------------------------------------------------------------------------------------

    def _holders(self) -> list[Job]:
        """In an order that does not depend on who was entered first: a rollback enters again."""
        return sorted(self._state.held.values(), key=lambda j: (-j.priority, j.spec.submitted_ms, j.id))

    def _expire_holds(self) -> None:
        for job in self._holders():
            if job.hold is not None and job.hold.waiting_on and job.hold.expires_ms <= self._now_ms:
                reason = because(Code.HoldExpired)
                self.decisions.append(effects.release(self._state, job, self._now_ms, reason, again=True))

    def _finish_holds(self) -> bool:
        """Start whoever's places are empty now, or who fits elsewhere at once."""
        state = self._state
        decided = len(self.decisions)
        nowhere: set[tuple[object, ...]] = set()  # what did not fit elsewhere fits for no other hold alike
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
                if len(wanted) == 1:  # a gang has promised places of its own to count on
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
        """Places that are free now; for a gang also those of its promised places that are empty already."""
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
        """S8: who could evict a job that is about to leave its hold for a start takes the hold, not the start."""
        while job.hold is not None and self._conflict is None:
            rival = rival_of(self._ordering, job, job.hold.unit.footprint)
            if rival is None:
                return
            first = self._unrivalled(rival)
            self._try(first.cls, first.job)

    def _retry_expired(self) -> bool:
        """A job whose hold expired is planned anew before any of its victims is tried."""
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
        """One decision of the first round, or False when nobody can be helped any more."""
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
        """Try a job, or who must be tried before it; False if it cannot be helped."""
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
        """Somebody else took the idle room a job stopped at: it may go on to preempt (P4)."""
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
        """P12: one more replica beyond a core, on what is left over."""
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
                    # It may have put somebody over a limit: positions are counted anew (S3). And the first surplus of
                    # a quota is a right that its other jobs had not: who failed is asked again, and told why (P12).
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
        """Victims that found no other place and were preempted too often end now: they block nobody (P11)."""
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
        """Count preemptions: not for victims that found another place in this very plan (P8), and end those
        that were preempted more often than their owner allows (P11)."""
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
        """When the clock alone could change the answer."""
        times = [job.hold.expires_ms for job in self._state.held.values() if job.hold and job.hold.waiting_on]
        times += self._ordering.wakeups()
        times += next_guard_ms(self._state, self._now_ms)
        later = [t for t in times if t > self._now_ms]
        return min(later) if later else None
