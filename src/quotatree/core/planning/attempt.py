"""One waiting job is tried: the steps of P4 in order, least disruptive first, until one works.

The same code answers `plan` and `explain` (X0): an attempt collects why each step was not enough as it goes. A step returns
how the attempt ends with it, or None: go on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.changes.evictions import settle_all
from quotatree.core.model.job import Claim, Idle, Job, Placed
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.quota_arithmetic import Shortage, over_while_ending, surplus_may_do
from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import may_borrow
from quotatree.core.model.unit import Unit, total_footprint
from quotatree.core.model.wait_queue import Failure
from quotatree.core.planning.attempt_facts import idle_refusal, seconds
from quotatree.core.planning.attempt_reasons import why_nobody, why_on_loan, why_started
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.fair_idle import fair_take, spared_in_turn, waits_for_leaving
from quotatree.core.planning.giving_way import GivenWay
from quotatree.core.planning.outcome import Decided, Failed, Outcome, Overtaken
from quotatree.core.planning.plan_context import Surroundings
from quotatree.core.planning.refused_return import why_no_return, why_too_little
from quotatree.core.planning.steps import Preempting, preempting_steps
from quotatree.core.planning.taking import search_request, take
from quotatree.core.planning.tried_again import failure_of
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.certainty import prospect_of, surely_found, surely_none
from quotatree.core.search.eligible import Clause, Signature
from quotatree.core.search.patience import OutOfPatience
from quotatree.core.search.victims import Found, NotFound, Request, Why, cost_without_ladder, search
from quotatree.core.state import State

NOBODY: Final = Found((), 0, 0, 0)
NOT_YET: Final = because(Code.NotYetTried)
FITS_FREE: Final = because(Code.FitsFree)
NO_IDLE_HELPS: Final = why_nobody(Step.IDLE, Why.NOBODY_ELIGIBLE)
NO_SURPLUS_HELPS: Final = why_nobody(Step.LOAN, Why.NOBODY_ELIGIBLE)


class Attempt:
    """One try of one waiting job, for the replicas of these numbers, with the reasons collected on the way.

    `patient`: it respects the quota's `preemption_delay` (P11).
    """

    def __init__(
        self,
        state: State,
        job: Job,
        replicas: list[int],
        now_ms: int,
        around: Surroundings,
        *,
        patient: bool = True,
    ) -> None:
        self._state, self._job, self._now_ms, self._around = state, job, now_ms, around
        self._patient = patient
        self._before = state.mark()  # moved on when others were tried first, so that what that taught is kept
        self._quota = job.quota
        self._claimant = Claimant(
            state, job, replicas, partial(around.patience, state, job, len(replicas), now_ms)
        )
        self._tried: list[say.StepTried] = []
        self._step = Step.FREE  # in which victims are sought
        self._stopped: list[effects.Stopped] = []
        self._given_way = GivenWay(state, self._claimant, now_ms)
        # For how much more, and whether beyond its min, nobody had to be tried first; and the last change by then.
        self._nobody_first: tuple[Resources, bool, int] | None = None

    def run(self) -> Outcome:
        try:
            outcome = self._walk()
        except OutOfPatience as cut:
            outcome = self._cut_short(cut.before_nodes)
        if self._given_way.gone and not isinstance(outcome, Decided):
            self._state.rollback_to(self._before)
            if isinstance(outcome, Failed):
                outcome = outcome._replace(failure=self._as_it_is_again(outcome.failure))
        return outcome

    def _as_it_is_again(self, failure: Failure) -> Failure:
        """Return a failure that was found after surplus had left, now that this was taken back, with the facts of the state.

        What it rests on is the state as it is: versions are taken back, too, and those in between will be given again.
        """
        tree = self._quota.tree
        change = None if failure.change is None else self._state.change
        return failure._replace(version=tree.version, rights=tree.rights, change=change)

    def _walk(self) -> Outcome:
        found: Outcome | None
        short = self._claimant.shortage(False)
        if short is None and (found := self._on_free(Step.FREE, FITS_FREE)):
            return found
        self._not_enough(
            Step.FREE, self._claimant.why_short(short) if short is not None else self._claimant.why_no_place()
        )
        if short is not None and not surplus_may_do(short):  # idle borrowers free no quota
            if self._quota.tree.idle_units or self._quota.tree.surplus_units:
                self._not_enough(Step.IDLE, NO_IDLE_HELPS)
        elif found := self._with_victims(Step.IDLE, (), loan_allowed=False):
            return found
        borrows = self._claimant.may_borrow()
        if not borrows and self._quota.shrinking and short is not None:
            self._not_enough(Step.LOAN, because(Code.LoanNotAllowed, quota=self._quota.id))
        if borrows and short is not None:
            as_it_is = self._claimant.shortage(True)
            self._given_way.clear()
            if found := self._on_loan(as_it_is):
                return found
        if self._fits_as_idle():
            return self._fail(because(Code.StopsAtIdle), None)  # forgotten in this plan (leftovers.py)
        return self._preempt(short, borrows)

    # -- steps without regular victims -----------------------------------------------------------------------

    def promote(self) -> Outcome:
        """Make these replicas, which run idle, regular where they stand: the core, or some beyond it (I1).

        Within min, after surplus has given way (P12), or onto a loan; neither Return nor policies help it.
        """
        try:
            return self._promoted()
        except OutOfPatience as cut:
            return self._cut_short(cut.before_nodes)

    def _promoted(self) -> Outcome:
        short = self._claimant.shortage(False)
        why = because(Code.Promoted)
        found: Found | None = None
        if short is not None:
            why_short = self._claimant.why_short(short)
            self._not_enough(Step.FREE, why_short)
            found = self._surplus_in_the_way(short)
            if found is None:
                if not self._claimant.may_borrow() or self._claimant.shortage(True) is not None:
                    # A loan may become possible, also once the quota shrinks no more (Q5): then not only room in it helps.
                    lent = self._quota.shrinking or may_borrow(self._quota, self._job.priority)
                    return self._fail(why_short, None if lent else short)
                why = why_on_loan(self._claimant)
        if over_while_ending(self._quota, self._claimant.request, self._claimant.request):
            return self._fail(because(Code.WaitsForEnding, quota=self._quota.id), None)
        if self._overtaken():
            return Overtaken()
        preemption: say.Preemption | None = None
        evictions: tuple[say.Decision, ...] = ()
        if found is not None:
            request = self._asked_for_quota_alone()
            saving = found.cost - cost_without_ladder(found)
            preemption, evictions = self._evict(Step.IDLE, request.signature, found, saving)
        numbers = [i for i, _ in self._claimant.wanted]
        promoted = effects.promote(self._state, self._job, numbers, self._now_ms, why, preemption)
        effects.clear_guard(self._state, self._job)
        taken = () if found is None else found.units
        return Decided((*evictions, promoted), self._before, tuple(self._tried), taken)

    def _surplus_in_the_way(self, short: Shortage) -> Found | None:
        """Return the surplus whose leaving gives a promotion its room in the quotas; None if there is none."""
        if not surplus_may_do(short):
            return None
        self._seek(Step.IDLE)
        found = search(self._asked_for_quota_alone())
        return found if isinstance(found, Found) else None

    def _on_free(self, step: Step, reason: Reason) -> Outcome | None:
        """Start on devices that are free now, else hold devices that are being freed; None if neither has room."""
        found = self._claimant.soonest_places()
        if found is None:
            return None
        if self._overtaken():
            return Overtaken()
        given_way = self._given_way
        preemption = self._ledger(step, [], NOBODY, 0) if given_way.gone else None
        begun = self._begin(*found, step, reason, preemption)
        tried = tuple(self._tried)
        if preemption is None:
            return Decided((begun,), self._before, tried)
        return Decided((*given_way.evictions, begun), self._before, tried, given_way.units)

    def _begin(
        self,
        places: tuple[Placed, ...],
        now: bool,
        step: Step,
        reason: Reason,
        preemption: say.Preemption | None,
    ) -> say.Start | say.Hold:
        """Start on these places, or hold them until they are free."""
        state, job = self._state, self._job
        if now and not effects.waits_for_ending(job, places):
            return effects.start(
                state, job, places, claim=Claim.REGULAR, now_ms=self._now_ms, step=step, reason=reason,
                preemption=preemption,
            )  # fmt: skip
        if preemption is None:
            waiting = effects.waited_for(state, job, places)
            reason = because(Code.WaitsForLeaving, leaving=max(1, len(waiting)))
        return effects.hold(
            state, job, places, now_ms=self._now_ms, step=step, reason=reason, preemption=preemption
        )

    def _overtaken(self, taken: tuple[Unit, ...] = ()) -> bool:
        """Let those be tried who must be tried before this job, now that it is known that it could start; return whether one
        was helped.

        `taken`: the units that would go for it; what they use of its own quota does not count as a loan.
        """
        more, quota = self._claimant.request, self._quota
        if taken:
            classes = dict.fromkeys([unit.cls for unit in taken])
            inside = {c for c in classes if c.claim is not Claim.IDLE and quota.contains(c.quota)}
            more = more.minus(total_footprint([unit for unit in taken if unit.cls in inside]))
        beyond = False
        for i, bound in quota.named:
            beyond = beyond or (more[i] > 0 and quota.used[i] + more[i] > bound)
        gave_way = bool(self._given_way.gone)
        if self._nobody_first == (more, beyond, self._state.change) and not gave_way:
            return False
        if gave_way:  # others are tried in the state as it was
            self._given_way.take_back(self._before)
        overtaken = self._around.overtakes(self._job, more, beyond)
        self._before = self._state.mark_after(self._before)
        if not overtaken:
            self._nobody_first = more, beyond, self._state.change
            if gave_way:
                self._given_way.clear()
        return overtaken

    def _on_loan(self, as_it_is: Shortage | None) -> Outcome | None:
        """Start beyond the quota's own min on what siblings do not use, after siblings' jobs that need no loan (P3).

        None: there is no room, even after idle borrowers and surplus have given way. `as_it_is`: the shortage before surplus
        gave way, which is told if it is not enough: by then the surplus is back.
        """
        short = self._claimant.shortage(True)
        if short is not None:
            self._not_enough(Step.LOAN, self._claimant.why_short(as_it_is or short))
            if not surplus_may_do(short):  # idle borrowers free no quota
                if self._quota.tree.surplus_units:
                    self._not_enough(Step.LOAN, NO_SURPLUS_HELPS)
                return None
            return self._with_victims(Step.LOAN, (), loan_allowed=True)
        found = self._on_free(Step.LOAN, why_on_loan(self._claimant))
        if found is not None:
            return found
        self._not_enough(
            Step.LOAN,
            self._claimant.why_no_place() if as_it_is is None else self._claimant.why_short(as_it_is),
        )
        return self._with_victims(Step.LOAN, (), loan_allowed=True)

    def _fits_as_idle(self) -> bool:
        job = self._job
        if job.spec.idle is not Idle.ALLOW or (job.leaving and not job.running):
            return False
        if idle_refusal(self._state, job, self._claimant.request) is None and (
            self._claimant.places(now=True) is not None
        ):
            return True
        if job.running:
            return False
        return waits_for_leaving(self._state, job) or fair_take(self._state, job, self._now_ms) is not None

    # -- steps with victims ----------------------------------------------------------------------------------

    def _preempt(self, short: Shortage | None, borrows: bool) -> Outcome:
        steps = preempting_steps(self._claimant)
        if not steps.returns() and (why := why_no_return(self._claimant, short)) is not None:
            self._not_enough(Step.RETURN, why)
        if not steps:
            self._not_enough(Step.OWN, because(Code.NoPolicy))
            return self._fail(self._tried[0].reason, self._claimant.shortage(borrows) and short)
        delay = self._quota.preemption_delay_ms
        due = self._job.queued_ms + delay
        if self._now_ms < due and self._patient:
            left = seconds(due - self._now_ms)
            self._not_enough(steps.first(), because(Code.PreemptionDelayed, delay=seconds(delay), left=left))
            return self._fail(self._tried[0].reason, None, retry_at_ms=due)
        for step, clauses in steps.one_by_one:
            found = self._with_victims(step, clauses, loan_allowed=borrows)
            if found is not None:
                return found
        found = self._below_and_beside(steps, borrows) if steps.together() else None
        return found or self._fail(self._tried[0].reason, None)

    def _below_and_beside(self, steps: Preempting, borrows: bool) -> Outcome | None:
        """Search victims among descendants and siblings together; None if there is no set.

        The widest part tells which highest priority cannot be avoided; the first part that does with it is taken (P4).
        """
        step, clauses = steps.widest()
        self._seek(step)
        request = self._asked(step, clauses, borrows)
        prospect, seen = prospect_of(request), self._state.all_changes
        if surely_found(request, prospect) and self._overtaken_anyway(clauses):
            return Overtaken()
        if self._state.all_changes != seen:  # others were tried, and what they did was taken back
            prospect = prospect_of(request)
        best = search(request, prospect)
        if isinstance(best, NotFound):
            self._not_enough(step, self._why_nobody(step, best.reason))
            return None
        self._claimant.patience.found()
        for narrower, fewer in steps.narrower():
            asked = replace(self._asked(narrower, fewer, borrows), highest=best.highest)
            found = search(asked)
            if isinstance(found, Found) and found.highest <= best.highest:
                least, higher = min(found.least, best.least), found.higher + best.higher
                return self._take(narrower, asked, replace(found, least=least, higher=higher))
            self._not_enough(narrower, because(Code.NoLawfulSet, step=narrower.value))
        return self._take(step, request, best)

    def _overtaken_anyway(self, clauses: tuple[Clause, ...]) -> bool:
        """Let those be tried who must be tried first whomever of these this job takes; return whether one was helped.

        That they are all is certain if no victim can stand in its own quota or below. Where surplus has given way, they are asked
        for with the victims: they must be tried in the state as it was.
        """
        quota = self._quota
        if any(clause.reaches_into(quota.tin, quota.tout) for clause in clauses):
            return not self._given_way.gone and self._around.surely_overtakes(
                self._job, self._claimant.request
            )
        return self._overtaken()

    def _with_victims(self, step: Step, clauses: tuple[Clause, ...], loan_allowed: bool) -> Outcome | None:
        """Search victims within one step and, if a set is found, take it and start or hold; None if there is no set."""
        if not clauses and not self._quota.tree.idle_units and not self._quota.tree.surplus_units:
            return None
        self._seek(step)
        request = self._asked(step, clauses, loan_allowed)
        prospect = prospect_of(request)
        if not clauses and not surely_none(request, prospect):
            for spared in spared_in_turn(self._quota.tree, self._claimant.request):
                sparing = self._asked(step, clauses, loan_allowed, spared)
                found = search(sparing)
                if isinstance(found, Found):
                    return self._take(step, sparing, found)
        found = search(request, prospect)
        if isinstance(found, NotFound):
            self._not_enough(step, self._why_nobody(step, found.reason))
            return None
        return self._take(step, request, found)

    def _seek(self, step: Step) -> None:
        """Note that victims are sought in this step, and none were found yet."""
        self._step = step
        self._claimant.patience.seek()

    def _asked(
        self,
        step: Step,
        clauses: tuple[Clause, ...],
        loan_allowed: bool,
        spared: frozenset[QuotaId] = frozenset(),
    ) -> Request:
        return search_request(
            self._claimant, step, clauses, self._now_ms, loan_allowed=loan_allowed, spared=spared
        )

    def _asked_for_quota_alone(self) -> Request:
        """Return what is asked of a search where the replicas have their places: they run there already (I1)."""
        return search_request(self._claimant, Step.IDLE, (), self._now_ms, loan_allowed=False, nodes_fit=True)

    def _take(self, step: Step, request: Request, found: Found) -> Decided | Overtaken:
        self._claimant.patience.found()
        if self._overtaken(found.units):
            return Overtaken()
        saving = found.cost - cost_without_ladder(found)
        if self._given_way.gone:
            self._given_way.let_stay(request, found, self._before)
        preemption, evictions = self._evict(step, request.signature, found, saving)
        reason = why_started(step, found, preemption.victims)
        places = self._claimant.soonest_places()
        if places is None:
            raise AssertionError(f"{self._job.id} does not fit after its victims left: {found}")
        begun = self._begin(*places, step, reason, preemption)
        taken = (*self._given_way.units, *found.units)
        sets, tried = request.effort.spent, tuple(self._tried)
        return Decided((*evictions, begun), self._before, tried, taken, tuple(self._stopped), sets)

    def _evict(
        self, step: Step, signature: Signature, found: Found, saving: int
    ) -> tuple[say.Preemption, tuple[say.Decision, ...]]:
        """Evict the units that were found, or turn them idle; return the entry of the ledger and what was decided.

        `saving`: how much less others would have cost without the priority ladder (P5).
        """
        taken = take(self._claimant, signature, found, self._now_ms)
        self._stopped += taken.stopped
        settle_all(self._state, (*self._given_way.units, *found.units), self._now_ms)
        ledger = self._ledger(step, taken.victims, found, saving)
        return ledger, (*self._given_way.evictions, *taken.decided)

    def _ledger(self, step: Step, victims: list[say.VictimCost], found: Found, saving: int) -> say.Preemption:
        """Return the entry of the ledger: these victims, and the surplus that gave way before a loan.

        That surplus, and what of it goes with a core after all, would have gone for other victims as well.
        """
        before = self._given_way.victims
        cost = sum(victim.cost for victim in (*before, *victims))
        return say.Preemption(
            preemptor=self._job.id,
            step=step,
            victims=(*before, *victims),
            demoted=tuple(u.job.id for u in found.units if u in found.demoted),
            cost=cost,
            cost_without_ladder=cost - saving,
            highest_priority=found.highest,
            tried=tuple(self._tried),
        )

    # -- why ---------------------------------------------------------------------------------------------------

    def _not_enough(self, step: Step, reason: Reason) -> None:
        self._tried.append(say.StepTried(step, reason))

    def _why_nobody(self, step: Step, why: Why) -> Reason:
        """Return why a search found no victims; that nodes are in the way only if quotas, as they are, are not.

        Of a return: whose policy could take the job again, if too little is left to claim for that (P15).
        """
        if step is Step.RETURN and (refused := why_too_little(self._claimant)) is not None:
            return refused
        if (
            why is not Why.NO_PLACES
            or self._given_way.gone
            or self._claimant.shortage(self._claimant.may_borrow())
        ):
            return why_nobody(step, why)
        return self._claimant.why_no_place()

    def _cut_short(self, before_nodes: bool) -> Failed:
        """Return the failure of an attempt that had spent all it may before victims were found.

        It rests on everything, and not even on that beyond this plan, since the next may give it more. But for one that may not look
        at nodes before its turn (`before_nodes`): till then nothing is found that is not found without looking.
        """
        self._tried.append(say.StepTried(self._step, NOT_YET))
        turn_ms = self._claimant.patience.turn_ms if before_nodes else None
        failed = self._fail(self._tried[0].reason, None, turn_ms)
        change = self._state.change if turn_ms is None else failed.failure.change
        return failed._replace(
            failure=failed.failure._replace(change=change, cut_short=self._claimant.patience.rounds)
        )

    def _fail(self, reason: Reason, short: Shortage | None, retry_at_ms: int | None = None) -> Failed:
        """Return the failure with what must change before the job is tried again (tried_again.py)."""
        failure = failure_of(self._state, self._claimant, self._claimant.wanted, reason, short, retry_at_ms)
        return Failed(failure, tuple(self._tried))
