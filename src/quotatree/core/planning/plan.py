"""One plan: who starts, who must go, who waits, and when to look again (S6, S8-S10, P9, P11).

A plan goes in rounds: regular starts and evictions, then idle starts, then surplus replicas; after every decision the
order starts again from the top, and the plan ends when a whole pass decides nothing. Failures are remembered per class of
waiting jobs until something is released, so "from the top" costs what has changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.changes.effects import Stopped
from quotatree.core.changes.preemption_count import count_preemption
from quotatree.core.model.job import Claim, Idle, Job, JobId, Phase, Placed, total_request
from quotatree.core.model.quota import has_loan
from quotatree.core.model.resources import Resources, resources_text
from quotatree.core.model.tree import Tree
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.model.wait_queue import AGAIN, Failure, WaitClass
from quotatree.core.planning.allowance import Allowance
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.attempt_facts import passes_guard
from quotatree.core.planning.extra_replicas import short_of_idle, short_of_surplus, surplus_allowed
from quotatree.core.planning.fair_idle import fair_take, sharing_from
from quotatree.core.planning.idle_start import idle_start
from quotatree.core.planning.lasting import who_would_take_it_back
from quotatree.core.planning.net_effect import keep_running
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.outcome import Decided, Failed, Outcome, Overtaken
from quotatree.core.planning.plan_context import Surroundings
from quotatree.core.planning.rivals import before_loan, rival_of
from quotatree.core.planning.starvation_guard import look_after_guards, next_guard_ms, place_guards
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.free_index import free_index
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import Wanted, find_places
from quotatree.core.state import State
from quotatree.core.state.undo_log import Mark


def plan(state: State, now_ms: int) -> say.Plan:
    """Decide everything that can be decided now. The decisions are applied to the state when this returns.

    If it raises, the state is as it was (A8).
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
    """Make the plan, for each group of trees that share pools by itself: nothing that one group does concerns another."""
    state.end_protections(now_ms)
    state.end_put_off(now_ms)
    decisions: list[say.Decision] = []
    wakeups = [job.retry_ms for job in state.put_off.values() if job.retry_ms]
    for trees in dict.fromkeys([root.tree.together for root in state.roots]):
        planner = _Planner(state, now_ms, trees)
        planner.run()
        decisions += planner.decisions
        wakeups += planner.wakeups()
    return say.Plan(now_ms, tuple(decisions), min(wakeups, default=None))


class _Placing(NamedTuple):
    """A start or a hold of this plan, and where the plan stood before it."""

    mark: Mark
    decisions: int
    placings: int
    last: bool


class _NetEffect(NamedTuple):
    """Where the plan stood before it let victims stay, and what it had decided by then: that list is made shorter by it."""

    mark: Mark
    decisions: list[say.Decision]
    stopped: dict[JobId, Stopped]


class _Planner(Surroundings):
    def __init__(self, state: State, now_ms: int, trees: tuple[Tree, ...]) -> None:
        self._state, self._now_ms, self._trees = state, now_ms, trees
        self._postponed: dict[
            tuple[JobId, Claim], JobId
        ] = {}  # starts left out, each with who would evict it
        self._barred: set[tuple[JobId, Claim]] = set()  # starts that are not made even in the last pass
        self._stopped: dict[JobId, Stopped] = {}  # the first eviction of each core in this plan
        self._placed: dict[tuple[JobId, Claim], _Placing] = {}  # jobs that got places in this plan
        self._chain: list[JobId] = []  # jobs being tried, each for the sake of the one before it
        self._last = False  # no other job can be helped any more; see _last_pass
        self._ordering = Ordering(state, now_ms, trees)
        self._waits: dict[JobId, say.Wait] = {}
        self._idle_hopes: list[tuple[WaitClass, int]] = []  # stopped at idle, and the last change by then
        self._left_out: list[WaitClass] = []  # of postponed starts: the next plan tries them again
        self._resting_on_all: list[WaitClass] = []  # their failures: any change makes them void
        self._settled: set[JobId] = set()  # victims whose preemption was counted
        self._net_effects: list[_NetEffect] = []  # before each time that victims were let stay
        self._allowance = Allowance()
        self._returns = 0  # how often the plan went back to an earlier point; see _go_back
        self.decisions: list[say.Decision] = []

    def run(self) -> None:
        for tree in self._trees:
            if tree.loans:
                self._state.set_loans(tree, any(has_loan(quota) for quota in tree.quotas()))
        self.decisions += look_after_guards(self._state, self._ordering, self._now_ms)
        self._expire_holds()
        while True:
            returns = self._returns
            while self._retry_expired() or self._finish_holds():
                pass
            while self._returns == returns and self._round():
                pass
            if self._returns != returns:
                continue
            if not self._allowance.used_up and self._between_rounds():
                continue
            if not self._net_effect():
                break
        self._ordering.close()
        for cls, _ in self._idle_hopes:
            self._forget_hope(cls)
        for cls in self._left_out:
            self._state.remember(cls, None)
        self._settle_victims()
        self.decisions += self._news()

    def _round(self) -> bool:
        """Make one decision; return False when no job can be helped any more, or none may be in this plan.

        Then nothing else is started either: it might only be taken for a job whose turn has not come.
        """
        if self._allowance.used_up:
            return False
        return self._regular() or self._retry_expired() or self._idle() or self._surplus()

    def _between_rounds(self) -> bool:
        """Do what follows once no job can be helped; return True if a job may be helped after that."""
        return (
            self._fail_over_limit()
            or self._finish_holds()
            or self._look_again()
            or self._guards()
            or self._last_pass()
        )

    def _look_again(self) -> bool:
        """Let classes whose failure any change makes void be tried again; return whether there are any (S9)."""
        found = False
        for cls in self._resting_on_all:
            failed = cls.failed
            if cls.members and failed is not None and failed.change not in (None, self._state.change):
                self._ordering.touch(cls.quota)
                found = True
        self._resting_on_all.clear()
        return found

    def _last_pass(self) -> bool:
        """Let jobs whose start was postponed finish their holds or run idle, now that no other job can be helped.

        A postponed regular start from the queue waits for another plan. Returns False if there is none, or the second time.
        """
        if self._last or not self._postponed:
            return False
        self._last = True
        self._finish_holds()
        return True

    def _net_effect(self) -> bool:
        """Let victims that were promised other places stay where they are (P8); return whether one does.

        Then others stand elsewhere than they would have, and a job that found no place before may find one now.
        """
        if not self._stopped:
            return False
        before = _NetEffect(self._state.mark(), list(self.decisions), dict(self._stopped))
        kept = keep_running(self._state, self._now_ms, self.decisions, list(self._stopped.values()))
        if not kept:
            return False
        self._net_effects.append(before)
        for job_id in kept:
            del self._stopped[job_id]
        for tree in self._trees:
            self._state.bump(tree.root)
        self._ordering = Ordering(self._state, self._now_ms, self._trees)
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
        """Return the waits of jobs that were first tried in this plan since they began to wait, as they were told.

        Oldest first: in which order they were tried depends on what was remembered.
        """
        jobs = self._state.jobs
        found = [wait for wait in self._waits.values() if jobs[wait.job].told is wait.reason]
        return sorted(found, key=lambda wait: (jobs[wait.job].spec.submitted_ms, wait.job))

    # -- holds (P9) ------------------------------------------------------------------------------------------

    def _holders(self) -> list[Job]:
        """Return all jobs with a hold by priority, submit time and id, since a rollback changes the order of entries."""
        held = [job for tree in self._trees if tree.held for job in tree.held.values()]
        return (
            held if len(held) <= 1 else sorted(held, key=lambda j: (-j.priority, j.spec.submitted_ms, j.id))
        )

    def _expire_holds(self) -> None:
        for job in self._holders():
            if job.hold is not None and job.hold.waiting_on and job.hold.expires_ms <= self._now_ms:
                reason = because(Code.HoldExpired)
                self.decisions.append(effects.release(self._state, job, self._now_ms, reason, again=True))

    def _finish_holds(self) -> bool:
        """Start each held job whose places are empty now or that fits elsewhere; return whether anything was decided."""
        state = self._state
        decided, returns = len(self.decisions), self._returns
        nowhere: set[tuple[object, ...]] = set()  # requests that fit nowhere else: equal ones need no search
        for job in self._holders():
            if self._put_off(job, Claim.REGULAR):
                continue
            self._takers_first(job)
            if self._returns > returns:
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
        self._placed[job.id, Claim.REGULAR] = self._here()
        start = effects.start(
            self._state, job, places, claim=Claim.REGULAR, now_ms=self._now_ms, step=Step.FREE, reason=reason
        )
        self.decisions.append(start)

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
        returns = self._returns
        while job.hold is not None and self._returns == returns:
            rival = rival_of(self._ordering, job, job.hold.unit.footprint)
            if rival is None:
                return
            self._try(rival.cls, rival.job)

    def _retry_expired(self) -> bool:
        """Try jobs whose hold expired before any of their victims; return whether anything was decided."""
        again = [quota for quota in self._ordering.waiting() if quota.queue.again]
        if not again:
            return False
        waiting = [
            self._state.jobs[job_id]
            for quota in again
            for cls in quota.queue.classes.values()
            if cls.key[0] == AGAIN
            for _, job_id in cls.members
        ]
        decided, returns = len(self.decisions), self._returns
        # Rights go from the top down and from high to low, so this is S8's order.
        for job in sorted(waiting, key=lambda j: (j.quota.depth, -j.priority, j.spec.submitted_ms, j.id)):
            while (cls := job.quota.queue.of_job.get(job.id)) is not None:
                if job.running or self._ordering.fails(cls):
                    break
                self._try(cls, job)
                if self._returns > returns:
                    return True
        return len(self.decisions) > decided

    # -- the three rounds ------------------------------------------------------------------------------------

    def _regular(self) -> bool:
        """Make one decision of the first round; return False when no job can be helped any more."""
        while True:
            candidate = self._ordering.best()
            if candidate is None:
                return False
            if self._try(candidate.cls, candidate.job):
                return True

    def _try(self, cls: WaitClass, job: Job) -> bool:
        """Try a job, after those that must be tried before it if it could start; return False if none could be helped."""
        self._chain.append(job.id)
        try:
            outcome = self._attempt(cls, job)
        finally:
            self._chain.pop()
        if isinstance(outcome, Overtaken):
            return True
        if isinstance(outcome, Failed):
            self._remember(cls, job, outcome.failure)
            return False
        if not self._went_back(job, outcome):
            self._record(job, outcome)
        return True

    def _attempt(self, cls: WaitClass, job: Job) -> Outcome:
        state = self._state
        preemptor = self._postponed.get((job.id, Claim.REGULAR))
        if preemptor is None:
            outcome = attempt(state, job, cls, self._now_ms, self)
            if not isinstance(outcome, Decided):
                return outcome
            preemptor = who_would_take_it_back(state, job, outcome.taken, self._now_ms)
            if preemptor is None:
                return outcome
            state.rollback_to(outcome.before)
        else:
            self._left_out.append(cls)
        reason = because(Code.WouldBeTaken, preemptor=preemptor)
        return Failed(Failure(reason, job.quota.tree.version, change=state.change))

    def overtakes(self, job: Job, request: Resources, on_loan: bool) -> bool:
        while True:
            first = rival_of(self._ordering, job, request, self._chain)
            if first is None and on_loan:
                first = before_loan(self._ordering, job, self._chain)
            if first is None:
                return False
            if self._try(first.cls, first.job):
                return True

    def _put_off(self, job: Job, claim: Claim) -> bool:
        started = (job.id, claim)
        return (started in self._postponed and not self._last) or started in self._barred

    def _remember(self, cls: WaitClass, job: Job, failure: Failure) -> None:
        self._state.remember(cls, failure)
        if failure.change is not None:
            self._resting_on_all.append(cls)
        if failure.reason.code is Code.StopsAtIdle:
            self._idle_hopes.append((cls, self._state.change))
        self._ordering.drop(cls)
        self._tell(job, failure.reason)

    def _tell(self, job: Job, reason: Reason) -> None:
        """Tell a job why it waits, unless it was told in an earlier plan since it began to wait."""
        if job.phase is Phase.WAITING and (job.told is None or job.id in self._waits):
            self._state.set_told(job, reason)
            self._waits[job.id] = say.Wait(job.id, reason)

    def _record(self, job: Job, outcome: Decided) -> None:
        before = self._here(outcome.before)
        for decision in outcome.decisions:
            if isinstance(decision, say.Start | say.Hold):
                self._placed[decision.job, Claim.REGULAR] = before
        self.decisions += outcome.decisions
        for victim in outcome.stopped:
            self._stopped.setdefault(victim.unit.job.id, victim)
        if outcome.taken:
            self._allowance.charge(self._ordering, job)
        self._ordering.touch(job.quota)

    # -- going back (S8) -------------------------------------------------------------------------------------

    def _here(self, mark: Mark | None = None) -> _Placing:
        """Return where the plan stands now, or at this mark, since when nothing was recorded."""
        mark = self._state.mark() if mark is None else mark
        return _Placing(mark, len(self.decisions), len(self._placed), self._last)

    def _went_back(self, job: Job, outcome: Decided) -> bool:
        """Go back if the job took what was given out in this plan; return whether it did.

        Nothing is started only to be evicted. Trying rivals first ensures that, but for chains that no order foresees: then
        the plan goes back to where the victim was started, and goes on without that start.
        """
        for unit in outcome.taken:
            started = (unit.job.id, unit.cls.claim)
            if started in self._placed:
                self._go_back(self._placed[started])
                if started in self._postponed:
                    self._barred.add(started)  # nor can it be started last
                self._postponed[started] = job.id
                return True
        return False

    def _go_back(self, to: _Placing) -> None:
        while self._net_effects and self._net_effects[-1].mark.recorded >= to.mark.recorded:
            before = self._net_effects.pop()
            self.decisions[:], self._stopped = before.decisions, before.stopped
        self._state.rollback_to(to.mark)
        del self.decisions[to.decisions :]
        self._placed = dict(list(self._placed.items())[: to.placings])
        self._last = to.last
        evicted = {decision.job for decision in self.decisions if isinstance(decision, say.Evict)}
        failed = {decision.job for decision in self.decisions if isinstance(decision, say.Fail)}
        self._settled &= failed
        self._stopped = {name: victim for name, victim in self._stopped.items() if name in evicted}
        self._waits = {
            name: wait for name, wait in self._waits.items() if self._state.jobs[name].told is wait.reason
        }
        self._ordering = Ordering(self._state, self._now_ms, self._trees)
        self._returns += 1

    def _idle(self) -> bool:
        state = self._state
        for candidate in self._ordering.idle_candidates():
            cls, job = candidate.cls, candidate.job
            if self._put_off(job, Claim.IDLE):
                continue
            found = idle_start(state, job)
            if not isinstance(found, Reason):
                self._start_idle(job, found)
                return True
            if self._took_fairly(job):
                return True
            # Shares change with whatever starts; several shapes may fit where less is free.
            any_change = len(job.spec.groups) > 1 or sharing_from(job.quota) is not None
            change = state.change if any_change else None
            state.remember_idle(cls, Failure(found, job.quota.tree.version, change=change))
            if job.spec.idle is Idle.ONLY:
                self._tell(job, found)
        return self._grow_idle() or self._disappointed()

    def _took_fairly(self, job: Job) -> bool:
        """Let a waiting borrower take from one that has more than its share (I4); return whether anything was decided.

        It starts when they have left: nothing is promised to it, since by then it still has the smallest share.
        """
        state = self._state
        take = fair_take(state, job, self._now_ms)
        if take is None:
            return False
        before = state.mark()
        why = because(Code.FairShare, preemptor=job.id, quota=take.quota.id)
        evictions = effects.evict_all(state, take.units, self._now_ms, why, job.id, counts=False)
        outcome = Decided(evictions, before, taken=take.units)
        if not self._went_back(job, outcome):
            self._record(job, outcome)
        return True

    def _start_idle(self, job: Job, places: tuple[Placed, ...]) -> None:
        self._placed[job.id, Claim.IDLE] = self._here()
        free = resources_text(total_request(job, [place.replica for place in places]))
        why = because(Code.FitsIdle, free=free)
        self.decisions.append(
            effects.start(
                self._state, job, places, claim=Claim.IDLE, now_ms=self._now_ms, step=Step.FREE, reason=why
            )
        )
        self._ordering.touch(job.quota)

    def _grow_idle(self) -> bool:
        """Start replicas that a running job is missing, if it may have them idle; return False if no job can (I1, P12)."""
        for job in short_of_idle(self._state, self._trees):
            if self._put_off(job, Claim.IDLE):
                continue
            found = idle_start(self._state, job)
            if not isinstance(found, Reason):
                self._start_idle(job, found)
                return True
            self._state.remember_surplus(job, job.quota.tree.version)
        return False

    def _disappointed(self) -> bool:
        """Let classes that stopped at idle go on to preempt, if decisions were made since (P4); return whether any may.

        Other jobs may have taken the idle room that they counted on.
        """
        found = False
        for cls, change in self._idle_hopes:
            if change != self._state.change and cls.members and self._forget_hope(cls):
                self._ordering.touch(cls.quota)
                found = True
        if found:
            self._idle_hopes.clear()
        return found

    def _forget_hope(self, cls: WaitClass) -> bool:
        """Forget that a class stopped at idle: that holds only until the idle round; return whether it was remembered."""
        if cls.failed is None or cls.failed.reason.code is not Code.StopsAtIdle:
            return False
        self._state.remember(cls, None)
        return True

    def _surplus(self) -> bool:
        """Start one surplus replica on what is left over (P12); return False if no job can have one."""
        state = self._state
        for job in short_of_surplus(state, self._trees):
            root, tree = job.quota.root, job.quota.tree
            taken = {*job.core_indexes, *job.extras, *job.leaving}
            free = [i for i in range(job.spec.most_replicas) if i not in taken]
            shape = job.spec.groups[0].shape
            if free and surplus_allowed(state, job):
                places = find_places(state, root, [(free[0], shape)], now=True, avoid=tree.guard_nodes)
                if places is not None:
                    self.decisions.append(effects.start_surplus(state, job, places[0], self._now_ms))
                    # It may have put waiting jobs over a limit: positions are counted anew (S3). And the first surplus
                    # of a tree gives its other jobs a right that they did not have: those that failed are tried again,
                    # and told why they wait (P12).
                    if state.limits or tree.surplus_units == 1:
                        self._ordering.touch(job.quota)
                    return True
            state.remember_surplus(job, tree.version)
        return False

    # -- the end ---------------------------------------------------------------------------------------------

    def _fail_over_limit(self) -> bool:
        """End victims of this plan that still wait and were preempted too often (P11); return whether there were any.

        They leave their queues now, so that they do not block other jobs.
        """
        failed = False
        for decision in list(self.decisions):
            if not isinstance(decision, say.Evict) or not decision.counts or decision.job in self._settled:
                continue
            job = self._state.jobs[decision.job]
            limit = job.spec.max_preemptions
            if job.phase is Phase.WAITING and limit is not None and len(job.preempted_ms) + 1 > limit:
                self._settled.add(job.id)
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
            if decision.counts and job.id not in self._settled:
                self.decisions += count_preemption(state, job, self._now_ms)

    def wakeups(self) -> list[int]:
        """Return the times, in ms, at which a plan may decide more though nothing happens: now, if starts were put off or
        the plan ended before all had their turn."""
        if self._allowance.used_up:
            return [self._now_ms]
        if self._postponed and any(not isinstance(decision, say.Wait) for decision in self.decisions):
            return [self._now_ms]
        times = [job.hold.expires_ms for job in self._holders() if job.hold and job.hold.waiting_on]
        times += self._ordering.wakeups()
        times += next_guard_ms(self._state, self._ordering, self._now_ms)
        return [t for t in times if t > self._now_ms]
