"""One waiting job is tried: the steps of P4 in order, least disruptive first, until one works.

The same code answers `plan` and `explain` (X0): an attempt collects why each step was not enough as it goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from quotatree.core import decisions as say
from quotatree.core.changes import effects
from quotatree.core.model.job import Claim, Idle, Job, missing_core
from quotatree.core.model.quota import Quota, Shortage, idle_room, loan, protected, reserved_below, shortage
from quotatree.core.model.resources import GPU, Resources, amount_text, resources_text
from quotatree.core.model.rights import may_borrow
from quotatree.core.model.unit import Unit, UnitClass, UnitKind
from quotatree.core.model.wait_queue import Failure, WaitClass
from quotatree.core.planning.attempt_facts import (
    cost_text,
    fits_own_min,
    idle_refusal,
    needs_proof,
    passes_guard,
    running_total,
    seconds,
    victim_cost,
    why_short,
)
from quotatree.core.planning.plan_context import Surroundings, TakenInSamePlan
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.demotion import cheaper_by_turning_idle
from quotatree.core.search.eligible import (
    Clause,
    Signature,
    descendants_clause,
    own_clause,
    return_clauses,
    sibling_clauses,
)
from quotatree.core.search.one_node import with_companions
from quotatree.core.search.placement import Wanted, bounded_by_pools, find_places, free_index
from quotatree.core.search.shared_pool import best_in_pools
from quotatree.core.search.victims import Found, Request, could_ever_help, search
from quotatree.core.state import State


@dataclass(slots=True)
class Outcome:
    """What an attempt came to: decisions, or a failure and the steps that were tried."""

    decisions: list[say.Decision] = field(default_factory=list)
    failure: Failure | None = None
    tried: list[say.StepTried] = field(default_factory=list)
    first: tuple[WaitClass, Job] | None = None  # P3: this waiting job must be tried before the loan


@dataclass(slots=True)
class Attempt:
    """Everything about one try of one job."""

    state: State
    job: Job
    cls: WaitClass
    now_ms: int
    around: Surroundings
    quota: Quota = field(init=False)
    request: Resources = field(init=False)
    wanted: Wanted = field(init=False)
    past_guard: bool = field(init=False)
    avoid: frozenset[int] = field(init=False)
    outcome: Outcome = field(init=False)

    def __post_init__(self) -> None:
        job = self.job
        self.quota, self.request = job.quota, self.cls.request
        if job.running and job.claim is Claim.IDLE:  # promotion: everything that runs becomes regular (I1)
            self.request = running_total(job)
        self.wanted = [(i, job.shape_of(i)) for i in missing_core(job)]
        self.past_guard = passes_guard(self.state, job)
        self.avoid = frozenset() if self.past_guard else self.quota.root.guard_nodes
        self.outcome = Outcome()

    def run(self) -> Outcome:
        job = self.job
        if job.running and job.claim is Claim.IDLE:
            return self._promotion()
        if job.surplus and len(job.core_indexes) < job.core_replicas:
            grown = effects.grow_into_surplus(self.state, job, self.now_ms)
            if grown is not None:
                self.outcome.decisions.append(grown)
                return self.outcome
        short = self._shortage(False)
        if short is None and self._on_free(Step.FREE, because(Code.FitsFree)):
            return self.outcome
        self._why_not_free(short)
        if self._with_victims(Step.IDLE, (), loan_allowed=False):
            return self.outcome
        borrows = self._may_borrow()
        if not borrows and self.quota.shrinking and short is not None:
            refused = because(Code.LoanNotAllowed, quota=self.quota.id)
            self.outcome.tried.append(say.StepTried(Step.LOAN, refused))
        if borrows and short is not None and self._on_loan():
            return self.outcome
        if self._fits_as_idle():
            return self._fail(because(Code.StopsAtIdle), short)
        return self._preempt(short, borrows)

    # -- steps without regular victims -----------------------------------------------------------------------

    def _promotion(self) -> Outcome:
        short = self._shortage(False)
        if short is not None:
            return self._fail(why_short(self.quota, short, self.past_guard), short)
        effects.change_claim(self.state, self.job, Claim.REGULAR, self.now_ms, "promoted")
        effects.clear_guard(self.state, self.job)
        self.outcome.decisions.append(say.Promote(self.job.id, because(Code.Promoted)))
        return self.outcome

    def _shortage(self, loan_allowed: bool) -> Shortage | None:
        return shortage(self.quota, self.request, loan_allowed=loan_allowed, past_guard=self.past_guard)

    def _on_free(self, step: Step, reason: Reason, preemption: say.Preemption | None = None) -> bool:
        """Start on devices that are free now, else promise devices that are being freed."""
        state, job, root = self.state, self.job, self.quota.root
        if not job.leaving:
            places = find_places(state, root, self.wanted, now=True, avoid=self.avoid)
            if places is not None:
                decision = effects.start(
                    state,
                    job,
                    places,
                    claim=Claim.REGULAR,
                    now_ms=self.now_ms,
                    step=step,
                    reason=reason,
                    preemption=preemption,
                )
                self.outcome.decisions.append(decision)
                return True
        if not state.leaving_replicas:
            return False
        places = find_places(state, root, self.wanted, now=False, avoid=self.avoid)
        if places is None:
            return False
        if preemption is None:
            waiting = effects.leavers_on(state, places)
            reason = because(Code.WaitsForLeaving, leaving=max(1, len(waiting)))
        self.outcome.decisions.append(
            effects.hold(
                state, job, places, now_ms=self.now_ms, step=step, reason=reason, preemption=preemption
            )
        )
        return True

    def _why_not_free(self, short: Shortage | None) -> None:
        reason = why_short(self.quota, short, self.past_guard) if short is not None else self._why_no_place()
        self.outcome.tried.append(say.StepTried(Step.FREE, reason))

    def _why_no_place(self) -> Reason:
        shape = max((s for _, s in self.wanted), key=lambda s: s.gpu_milli)
        count = sum(1 for _, s in self.wanted if s == shape)
        free = free_index(self.state, shape, self.quota.root, True)
        fits = free.total - sum(free.slots[n] for n in self.avoid)
        return because(
            Code.NoPlacement, fits=min(fits, count), wanted=count, shape=resources_text(shape.resources)
        )

    def _on_loan(self) -> bool:
        """P3: beyond the own min, on what siblings do not use, after siblings that fit their own min."""
        short = self._shortage(True)
        if short is not None:
            self.outcome.tried.append(say.StepTried(Step.LOAN, why_short(self.quota, short, self.past_guard)))
            if not self.quota.surplus_units:  # idle borrowers free no quota
                return False
        first = self.around.before_loan(self.job)
        if first is not None:
            self.outcome.first = first
            return True
        if short is not None:
            return self._with_victims(Step.LOAN, (), loan_allowed=True)
        over = amount_text(GPU, loan(self.quota, GPU) + self._beyond_min(GPU))
        reason = because(Code.OnLoan, quota=self.quota.id, loan=over)
        if self._on_free(Step.LOAN, reason):
            return True
        self.outcome.tried.append(say.StepTried(Step.LOAN, self._why_no_place()))
        return self._with_victims(Step.LOAN, (), loan_allowed=True)

    def _beyond_min(self, resource: int) -> int:
        bound = self.quota.min[resource]
        if bound is None:
            return 0
        used = self.quota.used[resource]
        return max(0, used + self.request[resource] - bound) - max(0, used - bound)

    def _fits_as_idle(self) -> bool:
        job = self.job
        if job.spec.idle is not Idle.ALLOW or job.running or job.leaving:
            return False
        if idle_refusal(self.state, job, self.request) is not None:
            return False
        return find_places(self.state, self.quota.root, self.wanted, now=True, avoid=self.avoid) is not None

    # -- steps with victims ----------------------------------------------------------------------------------

    def _preempt(self, short: Shortage | None, borrows: bool) -> Outcome:
        steps = list(self._steps())
        if not steps:
            self.outcome.tried.append(say.StepTried(Step.OWN, because(Code.NoPolicy)))
            return self._fail(self.outcome.tried[0].reason, self._shortage(borrows) and short)
        delay = self.quota.preemption_delay_ms
        due = self.job.queued_ms + delay
        if self.now_ms < due:
            left = seconds(due - self.now_ms)
            reason = because(Code.PreemptionDelayed, delay=seconds(delay), left=left)
            self.outcome.tried.append(say.StepTried(steps[0][0], reason))
            return self._fail(self.outcome.tried[0].reason, None, retry_at_ms=due)
        clauses: tuple[Clause, ...] = ()
        for step, more in steps:
            if step is Step.SIBLINGS:
                clauses = tuple(c for c in clauses if c.rule is not Code.SelfLevelSibling)
            clauses += more
            if self._with_victims(step, clauses, loan_allowed=borrows):
                return self.outcome
        return self._fail(self.outcome.tried[0].reason, None)

    def _steps(self) -> list[tuple[Step, tuple[Clause, ...]]]:
        """The steps that give this job a right, each with what it adds."""
        quota, job = self.quota, self.job
        steps: list[tuple[Step, tuple[Clause, ...]]] = []
        in_own_min = self._in_own_min()
        if in_own_min and fits_own_min(quota, self.request):
            steps.append((Step.RETURN, return_clauses(quota, job.priority, self._what_is_short())))
        policy = quota.spec.self_level
        if policy is not None and policy.lets_preempt(job.priority):
            own = own_clause(quota)
            steps.append((Step.OWN, (own,) if own is not None else ()))
        below = descendants_clause(quota)
        steps.append((Step.DESCENDANTS, (below,) if below is not None else ()))
        # What siblings give up frees nothing in the own quota: without a right to a loan that must be free already.
        beside = in_own_min or self._may_borrow()
        if policy is not None and policy.lets_preempt(job.priority) and beside:
            steps.append((Step.SIBLINGS_ABOVE_MIN, sibling_clauses(quota, above_min_only=True)))
            steps.append((Step.SIBLINGS, sibling_clauses(quota, above_min_only=False)))
        return [(step, clauses) for step, clauses in steps if clauses]

    def _what_is_short(self) -> list[int]:
        """Resources that quotas above are short of; if none is, those that are wanted."""
        deficit = self._deficit(False)
        return [i for i in range(3) if deficit[i] > 0] or [i for i in range(3) if self.request[i]]

    def _in_own_min(self) -> bool:
        """Is the own quota not what is short, with what a guard keeps and children have reserved left alone?"""
        quota, request = self.quota, self.request
        for i, bound in quota.named:
            kept = 0 if self.past_guard else quota.shadow[i]
            if quota.root.shares_reserved:
                kept += sum(protected(c, i, request[i], quota) for c in quota.children)
            if request[i] and quota.used[i] + request[i] + kept > bound:
                return False
        return True

    def _may_borrow(self) -> bool:
        """P3, and nothing of what is reserved below may be put out of reach by the loan (Q8)."""
        return may_borrow(self.quota, self.job.priority) and not reserved_below(self.quota, self.request)

    def _with_victims(self, step: Step, clauses: tuple[Clause, ...], loan_allowed: bool) -> bool:
        """Search within one step and, if a set is found, take it and start or hold."""
        state, quota = self.state, self.quota
        if not clauses and not quota.root.idle_units and not quota.surplus_units:
            return False
        signature = self._signature(step, clauses)
        deficit = self._deficit(loan_allowed)
        nodes_fit = find_places(state, quota.root, self.wanted, now=False, avoid=self.avoid) is not None
        room = idle_room(quota, quota.root.min[GPU] or 0, GPU) - self.request.gpu_milli if nodes_fit else -1
        request = Request(
            state=state,
            job=self.job,
            quota=quota,
            wanted=self.wanted,
            deficit=deficit,
            signature=signature,
            now_ms=self.now_ms,
            avoid=self.avoid,
            nodes_fit=nodes_fit,
            demote_room=room,
        )
        found = search(request)
        if clauses:
            found = cheaper_by_turning_idle(request, self._signature(Step.IDLE, ()), found)
        if bounded_by_pools(quota.root) and not nodes_fit:
            found = best_in_pools(request, found, lambda offer: self._proved(offer, loan_allowed))
        if found is None:
            code = Code.NoLawfulSet if could_ever_help(request) else Code.NoEligibleVictims
            self.outcome.tried.append(say.StepTried(step, because(code, step=step.value)))
            return False
        composite = any(unit.job.composite for unit in found.units)
        if (composite or needs_proof(quota, self.wanted)) and not self._proved(found, loan_allowed):
            self.outcome.tried.append(say.StepTried(step, self._why_no_place()))
            return False
        if loan_allowed and any(self._beyond_min(i) for i in range(3)):
            first = self.around.before_loan(self.job)
            if first is not None:
                self.outcome.first = first
                return True
        self._take(step, signature, found)
        return True

    def _signature(self, step: Step, clauses: tuple[Clause, ...]) -> Signature:
        """The eligible set of a step, one object for all who share it, so that its memory and indexes live on."""
        quota, priority = self.quota, self.job.priority
        lenders = tuple(c.first for c in clauses if c.down_to_min)
        by_priority = priority if lenders or quota.surplus_units else 0
        key = ("signature", quota.id, step.value, len(clauses), by_priority, lenders)
        known: Signature | None = self.state.indexes.get(key)
        if known is None:
            known = self.state.indexes[key] = Signature(quota, priority, clauses, key)
        return known

    def _deficit(self, loan_allowed: bool) -> Resources:
        """How much quota victims must free along the path."""
        short = [0, 0, 0]
        reserving = self.quota.root.shares_reserved
        for above in self.quota.path:
            if loan_allowed and above is self.quota:
                continue
            for i, bound in above.named:
                if not self.request[i]:
                    continue
                over = above.used[i] + self.request[i] - bound
                if not self.past_guard:
                    over += above.shadow[i]
                if reserving:
                    over += sum(protected(c, i, self.request[i], self.quota) for c in above.children)
                short[i] = max(short[i], over)
        return Resources(*short)

    def _proved(self, found: Found, loan_allowed: bool) -> bool:
        """Try it and take it back: several shapes or pools may not fit together, and a quota that falls below its
        reserved part keeps for itself what its victims free (Q8)."""
        state = self.state
        pieces = with_companions(list(found.units))
        going = [u for u in pieces if u not in found.demoted]
        for unit in going:
            state.lift(unit)
        fits = find_places(state, self.quota.root, self.wanted, now=False, avoid=self.avoid) is not None
        for unit in found.demoted:  # they stay on their devices, and their share of the quota is free
            state.lift(unit)
        fits = fits and self._shortage(loan_allowed) is None
        for unit in pieces:
            state.lower(unit)
        return fits

    def _take(self, step: Step, signature: Signature, found: Found) -> None:
        state, job, now_ms = self.state, self.job, self.now_ms
        victims: list[say.VictimCost] = []
        demoted: list[Unit] = []
        evictions: list[say.Decision] = []
        reasons: dict[UnitClass, Reason] = {}
        for unit in found.units:
            if self.around.placed_now(unit.job, unit.cls.claim):
                raise TakenInSamePlan(unit.job.id, unit.cls.claim, job.id)
        for unit in found.units:
            if unit in found.demoted:
                demoted.append(unit)
                effects.change_claim(state, unit.job, Claim.IDLE, now_ms, f"demoted for {job.id}")
                evictions.append(say.Demote(unit.job.id, job.id, because(Code.Demoted, preemptor=job.id)))
                continue
            why = reasons.get(unit.cls)
            if why is None:
                why = reasons[unit.cls] = self._why_taken(signature, unit)
            eviction = effects.evict(state, unit, now_ms, why, job.id, True)
            victims.append(victim_cost(unit, eviction))
            evictions.append(eviction)
        reason = self._why_started(step, found, len(victims))
        preemption = say.Preemption(
            preemptor=job.id,
            step=step,
            victims=tuple(victims),
            demoted=tuple(u.job.id for u in demoted),
            cost=sum(v.cost for v in victims),
            cost_without_ladder=found.cost_without_ladder,
            highest_priority=found.highest,
            tried=tuple(self.outcome.tried),
        )
        self.outcome.decisions += evictions
        if not self._on_free(step, reason, preemption):
            raise AssertionError(f"{job.id} does not fit after its victims left: {found}")

    def _why_taken(self, signature: Signature, unit: Unit) -> Reason:
        entitled = signature.entitled(unit.cls)
        assert entitled is not None
        if unit.cls.kind is UnitKind.HOLD:
            return because(Code.HoldTaken, preemptor=self.job.id)
        by = self.quota
        if entitled.rule is Code.ReturnOfLoan:
            by = next(q for q in unit.job.quota.path if q.parent is self.quota.parent)
        return because(entitled.rule, preemptor=self.job.id, quota=by.id)

    def _why_started(self, step: Step, found: Found, count: int) -> Reason:
        if step in (Step.IDLE, Step.LOAN):
            freed = sum(u.footprint.gpu_milli for u in found.units)
            return because(Code.AfterIdleBorrowers, freed=amount_text(GPU, freed))
        return because(
            Code.AfterPreemption, victims=count, rule=step.value, highest=found.highest,
            cost=cost_text(found.cost),
        )  # fmt: skip

    def _fail(self, reason: Reason, short: Shortage | None, retry_at_ms: int | None = None) -> Outcome:
        """Remember why, and what must change: a release in the quota that is full, or anything in the tree."""
        if short is not None and not self.job.running and self.outcome_depends_on_tree():
            short = None
        if short is not None and short.quota.used[short.resource] + short.wanted <= (
            short.quota.min[short.resource] or 0
        ):
            short = None  # what is reserved or kept for a guard is in the way: room alone does not tell
        self.outcome.failure = Failure(reason, self.quota.root.version, short, retry_at_ms)
        return self.outcome

    def outcome_depends_on_tree(self) -> bool:
        """Could anything but a release inside the full quota change the answer? Once it shrinks no more, a loan may (Q5)."""
        return bool(
            self.quota.surplus_units or self._steps() or may_borrow(self.quota, self.job.priority) or self.quota.shrinking
            or self.quota.root.shares_reserved or not self.past_guard
        )  # fmt: skip
