"""Can a waiting job be helped, and how? The steps of P4 in order, least disruptive first, until one works.

An attempt is a question: what it finds is a proposal, and nothing of it is written (applying.py). The same code answers `plan` and
`explain` (X0): an attempt collects why each step was not enough as it goes. A step returns how the attempt ends with it, or None: go on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from quotatree.core import decisions as say
from quotatree.core.model.job import Claim, Idle, Job
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.quota_arithmetic import Shortage, over_while_ending, surplus_may_do
from quotatree.core.model.rights import may_borrow
from quotatree.core.model.unit import Unit, total_footprint
from quotatree.core.model.wait_queue import Failure
from quotatree.core.planning.claimant import Claimant
from quotatree.core.planning.fair_shares import spared_in_turn
from quotatree.core.planning.fair_take import fair_take, waits_for_leaving
from quotatree.core.planning.outcome import (
    Around,
    Failed,
    Outcome,
    Proposal,
    Question,
    RivalsFirst,
    failure_of,
)
from quotatree.core.planning.steps import P4, Preempting, Right, Row, preempting_steps, search_request
from quotatree.core.planning.taking import GivenWay
from quotatree.core.planning.why import (
    idle_refusal,
    why_no_place,
    why_no_return,
    why_nobody,
    why_on_loan,
    why_short,
    why_too_little,
)
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.eligible import Clause
from quotatree.core.search.victims import (
    Found,
    NotFound,
    Request,
    Why,
    prospect_of,
    search,
    surely_found,
    surely_none,
)
from quotatree.core.state import State

BRIEFLY: Final = because(Code.SoughtBriefly)
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
        around: Around,
        *,
        patient: bool = True,
    ) -> None:
        self._state, self._job, self._now_ms, self._around = state, job, now_ms, around
        self._patient = patient
        self._quota = job.quota
        self._claimant = Claimant(state, job, replicas, around.effort)
        self._tried: list[say.StepTried] = []
        self._given_way = GivenWay(self._claimant, now_ms)
        self._steps: Preempting | None = None  # found out when regular work is to be taken
        self._loan: bool | None = None
        self._short_before: Shortage | None = None  # what is short for a loan, before surplus gave way

    def run(self) -> Outcome:
        before = self._state.mark()
        try:
            outcome = self._walk()
        finally:
            gave_way = bool(self._given_way.gone)
            if gave_way:  # it left only to see what there would be without it
                self._state.rollback_to(before)
        if gave_way and isinstance(outcome, Failed):
            return outcome._replace(failure=self._as_it_is_again(outcome.failure))
        return outcome

    def _as_it_is_again(self, failure: Failure) -> Failure:
        """Return a failure that was found after surplus had left, now that this was taken back, with the facts of the state.

        What it rests on is the state as it is: versions are taken back, too, and those in between will be given again.
        """
        tree = self._quota.tree
        change = None if failure.change is None else self._state.change
        return failure._replace(version=tree.version, rights=tree.rights, change=change)

    def _walk(self) -> Outcome:
        self._short_of_min, self._borrows = self._claimant.shortage(False), self._claimant.may_borrow()
        for row in P4:
            if (
                row.loan is None
                and self._steps is None
                and (ended := self._before_regular_work()) is not None
            ):
                return ended
            if (found := self._try(row)) is not None:
                return found
        return self._fail(self._tried[0].reason, None)

    def _try(self, row: Row) -> Outcome | None:
        """Try one step; return how the attempt ends with it, or None: it is not enough."""
        if row.loan and not self._may_go_on_loan():
            return None
        if row.right is Right.NOBODY:
            return self._on_free(row)
        if row.right is Right.GIVES_WAY:
            return self._with_what_gives_way(row)
        assert self._steps is not None
        if row.right is Right.BELOW_AND_BESIDE:
            return self._below_and_beside(self._steps) if self._steps.together() else None
        clauses = self._steps.clauses_of(row.step)
        return None if clauses is None else self._with_victims(row.step, clauses, self._borrows)

    # -- steps without regular victims -----------------------------------------------------------------------

    def promote(self) -> Outcome:
        """Make these replicas, which run idle, regular where they stand: the core, or some beyond it (I1).

        Within min, after surplus has given way (P12), or onto a loan; neither Return nor policies help it.
        """
        short = self._claimant.shortage(False)
        why = because(Code.Promoted)
        found: Found | None = None
        if short is not None:
            too_short = self._why_short(short)
            self._not_enough(Step.FREE, too_short)
            found = self._surplus_in_the_way(short)
            if found is None:
                if not self._claimant.may_borrow() or self._claimant.shortage(True) is not None:
                    # A loan may become possible, also once the quota shrinks no more (Q5): then not only room in it helps.
                    lent = self._quota.shrinking or may_borrow(self._quota, self._job.priority)
                    return self._fail(too_short, None if lent else short)
                why = why_on_loan(self._claimant)
        if over_while_ending(self._quota, self._claimant.request, self._claimant.request):
            return self._fail(because(Code.WaitsForEnding, quota=self._quota.id), None)
        return Proposal(
            self._claimant, Step.IDLE, self._question(() if found is None else found.units), tuple(self._tried), why,
            request=None if found is None else self._asked_for_quota_alone(), found=found, promotes=True,
        )  # fmt: skip

    def _surplus_in_the_way(self, short: Shortage) -> Found | None:
        """Return the surplus whose leaving gives a promotion its room in the quotas; None if there is none."""
        if not surplus_may_do(short):
            return None
        self._claimant.effort.seek()
        found = search(self._asked_for_quota_alone())
        return found if isinstance(found, Found) else None

    def _question(self, taken: tuple[Unit, ...] = ()) -> Question:
        """Return who must be tried before this job, now that it is known that it could start.

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
        return Question(more, beyond)

    def _may_go_on_loan(self) -> bool:
        """Return whether the job is short of its quota's own min and may go beyond it (P3). Then surplus there leaves: none stands on a loan
        (P12)."""
        if self._loan is None:
            short, claimant = self._short_of_min, self._claimant
            self._loan = short is not None and self._borrows
            if short is not None and not self._borrows and self._quota.shrinking:
                self._not_enough(Step.LOAN, because(Code.LoanNotAllowed, quota=self._quota.id))
            if self._loan:
                self._short_before = claimant.shortage(True)
                self._given_way.clear()
        return self._loan

    def _on_free(self, row: Row) -> Outcome | None:
        """Start on devices that are free now, else hold devices that are being freed; None if neither has room, or a quota has not.

        On a loan what was short before surplus gave way is told if that is not enough: by then the surplus is back.
        """
        claimant, loan = self._claimant, bool(row.loan)
        short = claimant.shortage(loan)
        found = None if short is not None else claimant.soonest_places()
        if found is not None:
            reason = why_on_loan(claimant) if loan else FITS_FREE
            gives_way = self._given_way.units
            return Proposal(
                claimant, row.step, self._question(), tuple(self._tried), reason, gives_way=gives_way,
                places=None if gives_way else found,
            )  # fmt: skip
        told = self._short_before if loan and self._short_before is not None else short
        self._not_enough(row.step, self._why_short(told) if told is not None else self._why_no_place())
        return None

    def _with_what_gives_way(self, row: Row) -> Outcome | None:
        """Take idle borrowers and surplus; None if they are not enough. Where only quota is short, idle borrowers free none."""
        tree, loan = self._quota.tree, bool(row.loan)
        short = self._claimant.shortage(loan)
        if short is None or surplus_may_do(short):
            return self._with_victims(row.step, (), loan_allowed=loan)
        if tree.surplus_units or (tree.idle_units and not loan):
            self._not_enough(row.step, NO_SURPLUS_HELPS if loan else NO_IDLE_HELPS)
        return None

    def _fits_as_idle(self) -> bool:
        job = self._job
        if job.spec.idle is not Idle.ALLOW or (job.leaving and not job.running):
            return False
        if idle_refusal(job, self._claimant.request) is None and (
            self._claimant.places(now=True) is not None
        ):
            return True
        if job.running:
            return False
        return waits_for_leaving(self._state, job) or fair_take(self._state, job, self._now_ms) is not None

    # -- steps with victims ----------------------------------------------------------------------------------

    def _before_regular_work(self) -> Outcome | None:
        """Return how the attempt ends before regular work is taken: the job fits as idle (I1), has no right, or not yet (P11); None: it goes
        on."""
        if self._fits_as_idle():
            return self._fail(because(Code.StopsAtIdle), None)  # forgotten in this plan (leftovers.py)
        short = self._short_of_min
        self._steps = steps = preempting_steps(self._claimant)
        if (
            steps.clauses_of(Step.RETURN) is None
            and (why := why_no_return(self._claimant, short)) is not None
        ):
            self._not_enough(Step.RETURN, why)
        if not steps:
            self._not_enough(Step.OWN, because(Code.NoPolicy))
            return self._fail(self._tried[0].reason, self._claimant.shortage(self._borrows) and short)
        delay = self._quota.preemption_delay_ms
        due = self._job.queued_ms + delay
        if self._now_ms >= due or not self._patient:
            return None
        left = f"{(due - self._now_ms) / 1000:g} s"
        self._not_enough(
            steps.first(), because(Code.PreemptionDelayed, delay=f"{delay / 1000:g} s", left=left)
        )
        return self._fail(self._tried[0].reason, None, retry_at_ms=due)

    def _below_and_beside(self, steps: Preempting) -> Outcome | None:
        """Search victims among descendants and siblings together; None if there is no set.

        The widest part tells which highest priority cannot be avoided; the first part that does with it is taken (P4).
        """
        step, clauses = steps.widest()
        self._claimant.effort.seek()
        request = self._asked(step, clauses, self._borrows)
        prospect = prospect_of(request)
        if surely_found(request, prospect) and (first := self._rivals_anyway(clauses)) is not None:
            return first
        best = search(request, prospect)
        if isinstance(best, NotFound):
            self._nobody(step, best.reason)
            return None
        self._claimant.effort.found()
        for narrower, fewer in steps.narrower():
            asked = replace(self._asked(narrower, fewer, self._borrows), highest=best.highest)
            found = search(asked)
            if isinstance(found, Found) and found.highest <= best.highest:
                least, higher = min(found.least, best.least), found.higher + best.higher
                return self._take(narrower, asked, replace(found, least=least, higher=higher))
            self._not_enough(narrower, because(Code.NoLawfulSet, step=narrower.value))
        return self._take(step, request, best)

    def _rivals_anyway(self, clauses: tuple[Clause, ...]) -> RivalsFirst | None:
        """Return that somebody must be tried first whomever of these this job takes; None if nobody must in any case.

        That they are all is certain if no victim can stand in its own quota or below. Where surplus has given way, they can only be asked
        for in the state as it was.
        """
        quota, gave_way = self._quota, bool(self._given_way.gone)
        question = self._question()
        if any(clause.reaches_into(quota.tin, quota.tout) for clause in clauses):
            if gave_way:
                return None
            question = Question(self._claimant.request, on_loan=False, by_policy=True)
        ask = self._around.anybody_first
        if ask is None or question in self._around.settled:
            return None
        return RivalsFirst(question) if gave_way or ask(self._job, question) else None

    def _with_victims(self, step: Step, clauses: tuple[Clause, ...], loan_allowed: bool) -> Outcome | None:
        """Search victims within one step and, if a set is found, take it and start or hold; None if there is no set."""
        if not clauses and not self._quota.tree.idle_units and not self._quota.tree.surplus_units:
            return None
        self._claimant.effort.seek()
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
            self._nobody(step, found.reason)
            return None
        return self._take(step, request, found)

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

    def _take(self, step: Step, request: Request, found: Found) -> Proposal:
        if not self._claimant.effort.thorough:
            self._not_enough(step, BRIEFLY)
        return Proposal(
            self._claimant, step, self._question(found.units), tuple(self._tried), request=request, found=found,
            gives_way=self._given_way.units,
        )  # fmt: skip

    # -- why ---------------------------------------------------------------------------------------------------

    def _not_enough(self, step: Step, reason: Reason) -> None:
        self._tried.append(say.StepTried(step, reason))

    def _nobody(self, step: Step, why: Why) -> None:
        """Note that victims were sought in this step and none were found, and whether more effort might have found some."""
        self._not_enough(step, self._why_nobody(step, why))
        if not self._claimant.effort.thorough:
            self._not_enough(step, BRIEFLY)

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
        return self._why_no_place()

    def _why_short(self, short: Shortage) -> Reason:
        return why_short(self._quota, short, self._claimant.past_guard)

    def _why_no_place(self) -> Reason:
        claimant = self._claimant
        return why_no_place(self._state, claimant.root, claimant.wanted, claimant.avoid)

    def _fail(self, reason: Reason, short: Shortage | None, retry_at_ms: int | None = None) -> Failed:
        """Return the failure with what must change before the job is tried again (outcome.py)."""
        failure = failure_of(self._state, self._claimant, self._claimant.wanted, reason, short, retry_at_ms)
        return Failed(failure, tuple(self._tried))
