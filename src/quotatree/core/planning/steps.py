"""Which steps of P4 give a waiting job a right, whom does each let it take, and how much quota is short?"""

from __future__ import annotations

from dataclasses import dataclass

from quotatree.core.model.job import Job
from quotatree.core.model.quota import Quota, protected, reserved_below
from quotatree.core.model.resources import Resources
from quotatree.core.model.rights import may_borrow
from quotatree.core.planning.attempt_facts import fits_own_min
from quotatree.core.reasons import Code, Step
from quotatree.core.search.eligible import (
    Clause,
    Signature,
    descendants_clause,
    own_clause,
    return_clauses,
    sibling_clauses,
)
from quotatree.core.state import State


@dataclass(frozen=True, slots=True)
class Claimant:
    """A waiting job, what it asks of its quota, and whether it may use what a guard keeps (S10)."""

    job: Job
    quota: Quota
    request: Resources
    past_guard: bool

    def may_borrow(self) -> bool:
        """Return whether the job has a right to a loan (P3) that puts no reserved part below its quota out of reach (Q8)."""
        return may_borrow(self.quota, self.job.priority) and not reserved_below(self.quota, self.request)

    def beyond_min(self, resource: int) -> int:
        """Return how much of the request, in one resource, would be above the quota's own min."""
        bound = self.quota.min[resource]
        if bound is None:
            return 0
        used = self.quota.used[resource]
        return max(0, used + self.request[resource] - bound) - max(0, used - bound)

    def deficit(self, loan_allowed: bool) -> Resources:
        """Return how much victims must free of each resource so that the request fits every quota on the path.

        `loan_allowed`: the job's own quota need not have room.
        """
        short = [0, 0, 0]
        reserving = self.quota.tree.shares_reserved
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


def preempting_steps(claimant: Claimant) -> list[tuple[Step, tuple[Clause, ...]]]:
    """Return the steps with regular victims that give this job a right, in order, each with the clauses it adds."""
    quota, priority = claimant.quota, claimant.job.priority
    steps: list[tuple[Step, tuple[Clause, ...]]] = []
    in_own_min = _in_own_min(claimant)
    if in_own_min and fits_own_min(quota, claimant.request):
        steps.append((Step.RETURN, return_clauses(quota, priority, _what_is_short(claimant))))
    policy = quota.spec.self_level
    if policy is not None and policy.lets_preempt(priority):
        own = own_clause(quota)
        steps.append((Step.OWN, (own,) if own is not None else ()))
    below = descendants_clause(quota)
    steps.append((Step.DESCENDANTS, (below,) if below is not None else ()))
    # Victims in siblings free nothing in the job's own quota: without a right to a loan it must have room already.
    beside = in_own_min or claimant.may_borrow()
    if policy is not None and policy.lets_preempt(priority) and beside:
        steps.append((Step.SIBLINGS_ABOVE_MIN, sibling_clauses(quota, above_min_only=True)))
        steps.append((Step.SIBLINGS, sibling_clauses(quota, above_min_only=False)))
    return [(step, clauses) for step, clauses in steps if clauses]


def joined(before: tuple[Clause, ...], step: Step, more: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """Return the clauses of the steps before and of this one; "all siblings" replaces "siblings above their min"."""
    if step is Step.SIBLINGS:
        before = tuple(c for c in before if c.rule is not Code.SelfLevelSibling)
    return before + more


def signature_of(state: State, job: Job, step: Step, clauses: tuple[Clause, ...]) -> Signature:
    """Return the signature of a step; jobs with equal rights share one object, so that its memory and indexes are reused."""
    quota, priority = job.quota, job.priority
    lenders = tuple(c.first for c in clauses if c.down_to_min)
    by_priority = priority if lenders or quota.surplus_units else 0
    key = ("signature", quota.id, step.value, len(clauses), by_priority, lenders)
    known: Signature | None = state.indexes.get(key)
    if known is None:
        known = state.indexes[key] = Signature(quota, priority, clauses, key)
    return known


def _what_is_short(claimant: Claimant) -> list[int]:
    """Return the resources that quotas on the path are short of; if there are none, those that are wanted."""
    deficit = claimant.deficit(False)
    return [i for i in range(3) if deficit[i] > 0] or [i for i in range(3) if claimant.request[i]]


def _in_own_min(claimant: Claimant) -> bool:
    """Return whether the request fits the job's own quota beside what a guard keeps and what children have reserved."""
    quota, request = claimant.quota, claimant.request
    for i, bound in quota.named:
        kept = 0 if claimant.past_guard else quota.shadow[i]
        if quota.tree.shares_reserved:
            kept += sum(protected(c, i, request[i], quota) for c in quota.children)
        if request[i] and quota.used[i] + request[i] + kept > bound:
            return False
    return True
