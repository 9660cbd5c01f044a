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
    """A waiting job as the steps see it: what it asks of its quota, and whether a guard binds it (S10)."""

    job: Job
    quota: Quota
    request: Resources
    past_guard: bool

    def may_borrow(self) -> bool:
        """P3, and nothing of what is reserved below may be put out of reach by the loan (Q8)."""
        return may_borrow(self.quota, self.job.priority) and not reserved_below(self.quota, self.request)

    def beyond_min(self, resource: int) -> int:
        """How much of the request would stand above the quota's own min."""
        bound = self.quota.min[resource]
        if bound is None:
            return 0
        used = self.quota.used[resource]
        return max(0, used + self.request[resource] - bound) - max(0, used - bound)

    def deficit(self, loan_allowed: bool) -> Resources:
        """How much quota victims must free along the path."""
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
    """The steps with regular victims that give this job a right, in order, each with whom it adds."""
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
    # What siblings give up frees nothing in the own quota: without a right to a loan that must be free already.
    beside = in_own_min or claimant.may_borrow()
    if policy is not None and policy.lets_preempt(priority) and beside:
        steps.append((Step.SIBLINGS_ABOVE_MIN, sibling_clauses(quota, above_min_only=True)))
        steps.append((Step.SIBLINGS, sibling_clauses(quota, above_min_only=False)))
    return [(step, clauses) for step, clauses in steps if clauses]


def joined(before: tuple[Clause, ...], step: Step, more: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """Whom a step lets take: those of the steps before it and its own; all siblings replace those above their min."""
    if step is Step.SIBLINGS:
        before = tuple(c for c in before if c.rule is not Code.SelfLevelSibling)
    return before + more


def signature_of(state: State, job: Job, step: Step, clauses: tuple[Clause, ...]) -> Signature:
    """The eligible set of a step, one object for all who share it, so that its memory and indexes live on."""
    quota, priority = job.quota, job.priority
    lenders = tuple(c.first for c in clauses if c.down_to_min)
    by_priority = priority if lenders or quota.surplus_units else 0
    key = ("signature", quota.id, step.value, len(clauses), by_priority, lenders)
    known: Signature | None = state.indexes.get(key)
    if known is None:
        known = state.indexes[key] = Signature(quota, priority, clauses, key)
    return known


def _what_is_short(claimant: Claimant) -> list[int]:
    """Resources that quotas above are short of; if none is, those that are wanted."""
    deficit = claimant.deficit(False)
    return [i for i in range(3) if deficit[i] > 0] or [i for i in range(3) if claimant.request[i]]


def _in_own_min(claimant: Claimant) -> bool:
    """Is the own quota not what is short, with what a guard keeps and children have reserved left alone?"""
    quota, request = claimant.quota, claimant.request
    for i, bound in quota.named:
        kept = 0 if claimant.past_guard else quota.shadow[i]
        if quota.tree.shares_reserved:
            kept += sum(protected(c, i, request[i], quota) for c in quota.children)
        if request[i] and quota.used[i] + request[i] + kept > bound:
            return False
    return True
