"""Which steps of P4 give a waiting job a right, and whom does each let it take?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, NamedTuple

from quotatree.core.model.job import Job
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import deficit_at, idle_room, protected_below
from quotatree.core.model.resources import GPU, ZERO, Resources
from quotatree.core.model.rights import work_of
from quotatree.core.planning.claimant import Claimant
from quotatree.core.reasons import Step
from quotatree.core.search.eligible import (
    Clause,
    Signature,
    descendants_above_min,
    descendants_clause,
    own_clause,
    return_clauses,
    sibling_clauses,
)
from quotatree.core.search.trial import Left
from quotatree.core.search.victims import Request
from quotatree.core.state import State


class Right(Enum):
    """Whose work may go in a step of P4, beside that of the steps before it."""

    NOBODY = "nobody's: free capacity must do"
    GIVES_WAY = "idle borrowers and surplus, which give way to any regular job (I3, P12)"
    LENT = "what siblings have above their min, for a job within its own (P15)"
    OWN = "lower priorities of the own quota, by self-level (P1)"
    BELOW_AND_BESIDE = "descendants by child-level, and siblings by self-level (P1, P2)"


class Row(NamedTuple):
    """A step of P4. `loan`: whether the job may go beyond its quota's own min in it; None: if it may at all (P3)."""

    step: Step
    right: Right
    loan: bool | None


P4: Final = (
    Row(Step.FREE, Right.NOBODY, loan=False),
    Row(Step.IDLE, Right.GIVES_WAY, loan=False),
    Row(Step.LOAN, Right.NOBODY, loan=True),
    Row(Step.LOAN, Right.GIVES_WAY, loan=True),
    Row(Step.RETURN, Right.LENT, loan=None),
    Row(Step.OWN, Right.OWN, loan=None),
    Row(Step.SIBLINGS, Right.BELOW_AND_BESIDE, loan=None),
)
"""The steps of P4, least disruptive first; attempt.py goes through them. A job that fits as idle stops before the first that takes regular
work (I1). In the last one the lowest highest priority decides, and only then which part of it is enough: `Preempting.narrower`."""

StepClauses = tuple[Step, tuple[Clause, ...]]
"""A step of P4 and all clauses that give a right in it: those of the steps before it are among them."""


@dataclass(frozen=True, slots=True)
class Preempting:
    """The steps with regular victims that give a job a right.

    `one_by_one`: in order; the first that works is taken. In the step that follows, descendants (`below`) and siblings (`beside`)
    stand together, and all rights of the steps before count, too (`before`). There the lowest highest priority decides, and only
    then the first part that has it (P4).
    """

    claimant: Claimant
    one_by_one: tuple[StepClauses, ...]
    before: tuple[Clause, ...]
    below: tuple[Clause, ...]
    beside: tuple[Clause, ...]

    def __bool__(self) -> bool:
        """Whether the job has a right in any step."""
        return bool(self.one_by_one or self.below or self.beside)

    def clauses_of(self, step: Step) -> tuple[Clause, ...] | None:
        """Return the clauses of one of the steps that come one by one; None if the job has no right in it."""
        return next((clauses for one, clauses in self.one_by_one if one is step), None)

    def first(self) -> Step:
        """Return the first step; there must be one."""
        if self.one_by_one:
            return self.one_by_one[0][0]
        return next(step for step, _ in (*self.narrower(), self.widest()))

    def together(self) -> bool:
        """Return whether the job has a right over descendants or siblings."""
        return bool(self.below or self.beside)

    def widest(self) -> StepClauses:
        """Return the step in which descendants and siblings stand together, with all rights."""
        return Step.SIBLINGS if self.beside else Step.DESCENDANTS, self.before + self.below + self.beside

    def narrower(self) -> list[StepClauses]:
        """Return the parts of that step that come before the widest, each with more rights than the one before it.

        Most jobs that could take somebody are overtaken before that matters, so it is asked for when it does.
        """
        quota = self.claimant.quota
        lent = sibling_clauses(quota, self.claimant.job.priority, above_min_only=True) if self.beside else ()
        above_min = descendants_above_min(quota) + lent
        found: list[StepClauses] = []
        if above_min:
            found.append((Step.SIBLINGS_ABOVE_MIN, self.before + above_min))
        if self.below and self.beside:
            found.append((Step.DESCENDANTS, self.before + self.below + lent))
        return found


def _lacking_inside(claimant: Claimant, clauses: tuple[Clause, ...]) -> Resources:
    """Return what a job that may not borrow lacks in its own quota, if it may take work beside that, which frees nothing there."""
    quota = claimant.quota
    for clause in clauses:
        if clause.first < quota.tin or clause.last > quota.tout:
            return deficit_at(quota, quota, claimant.request, past_guard=claimant.past_guard)
    return ZERO


def preempting_steps(claimant: Claimant) -> Preempting:
    quota, priority = claimant.quota, claimant.job.priority
    one_by_one: list[StepClauses] = []
    clauses: tuple[Clause, ...] = ()
    in_own_min = _in_own_min(claimant)
    if in_own_min and quota.tree.loans:
        asked_for = tuple(i for i in range(3) if claimant.request[i])
        clauses = return_clauses(claimant.state, work_of(claimant.job), claimant.lacks(), asked_for)
        if clauses:
            one_by_one.append((Step.RETURN, clauses))
    own = own_clause(quota, priority)
    if own is not None:
        clauses = (*clauses, own)
        one_by_one.append((Step.OWN, clauses))
    everybody_below = descendants_clause(quota)
    below = (everybody_below,) if everybody_below is not None else ()
    # Victims in siblings free nothing in the job's own quota: without a right to a loan it must have room, or others must make it.
    has_room = in_own_min or claimant.may_borrow()
    makes_room = own is not None or bool(below) or any(quota.surplus)
    siblings = sibling_clauses(quota, priority, above_min_only=False) if has_room or makes_room else ()
    return Preempting(claimant, tuple(one_by_one), clauses, below, siblings)


def search_request(
    claimant: Claimant,
    step: Step,
    clauses: tuple[Clause, ...],
    now_ms: int,
    *,
    loan_allowed: bool,
    nodes_fit: bool = False,
    spared: frozenset[QuotaId] = frozenset(),
) -> Request:
    """Return what a search for victims needs to know; `nodes_fit`: True if the replicas have their places already.

    `spared`: quotas whose own idle borrowers are not to be taken (I4).
    """
    state, job, quota = claimant.state, claimant.job, claimant.quota
    inside = ZERO if loan_allowed else _lacking_inside(claimant, clauses)
    short_at, deficit, fits = claimant.lacking(loan_allowed or any(inside))
    nodes_fit = nodes_fit or fits
    room = -1
    if nodes_fit:
        room = idle_room(quota, claimant.root.min[GPU] or 0, GPU) - claimant.request.gpu_milli
    gives_way = None
    if clauses and quota.tree.idle_units:
        gives_way = signature_of(state, job, Step.IDLE, (), short_at)
    request = Request(
        state=state,
        quota=quota,
        signature=signature_of(state, job, step, clauses, short_at, spared),
        deficit=deficit,
        inside=inside,
        now_ms=now_ms,
        job=job,
        wanted=claimant.wanted,
        amount=claimant.request,
        avoid=claimant.avoid,
        nodes_fit=nodes_fit,
        demote_room=room,
        loan_allowed=loan_allowed,
        past_guard=claimant.past_guard,
        gives_way=gives_way,
        effort=claimant.effort,
    )
    return request if claimant.effort.thorough else replace(request, exact=Left(0))


def signature_of(
    state: State,
    job: Job,
    step: Step,
    clauses: tuple[Clause, ...],
    short_at: Quota,
    spared: frozenset[QuotaId] = frozenset(),
) -> Signature:
    """Return the signature of a step; jobs with equal rights share one object, so that its memory and indexes are reused.

    `short_at`: the lowest quota without room; only surplus below it frees what is short. `spared`: quotas whose own idle
    borrowers are not taken (I4).
    """
    quota, priority = job.quota, job.priority
    lenders = tuple((c.rule, c.first, c.asked_for) for c in clauses if c.down_to_min)
    module = job.spec.module if lenders else None
    reached = tuple(c.reach for c in clauses if not c.down_to_min)
    if not quota.tree.surplus_units:
        short_at = quota.root  # nothing stands anywhere that it would matter for
    of_lenders = (priority if lenders else 0, module, lenders)
    key = ("signature", quota.id, step.value, *of_lenders, reached, short_at.id, *sorted(spared))
    known: Signature | None = state.indexes.get(key)
    if known is None:
        known = state.indexes[key] = Signature(work_of(job), clauses, key, short_at, spared)
    return known


def _in_own_min(claimant: Claimant) -> bool:
    """Return whether the request fits the job's own quota beside what a guard keeps and what children have reserved."""
    quota, request = claimant.quota, claimant.request
    for i, bound in quota.named:
        kept = 0 if claimant.past_guard else quota.shadow[i]
        if quota.tree.shares_reserved:
            kept += protected_below(quota, i)
        if request[i] and quota.used[i] + request[i] + kept > bound:
            return False
    return True
