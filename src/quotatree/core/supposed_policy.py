"""How would a job start if its quota, or another, had other policies (X1)?

The planner's own attempt is asked again with them, in a transaction that is rolled back. Policies that reach the same work give
the same answer, so they are tried once; and attempts are counted, since each may have to build indexes for rights that nobody has.
"""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core.decisions import Evict, Hold, Preemption, Start
from quotatree.core.model.job import Claim, Job, JobId
from quotatree.core.model.quota import Quota, QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.model.rights import Work, could_evict, may_borrow
from quotatree.core.planning.applying import apply
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.fair_take import FairTake, fair_take
from quotatree.core.planning.outcome import Decided, Proposal, alone
from quotatree.core.planning.rivals import who_would_take_it_back
from quotatree.core.planning.why import cost_text
from quotatree.core.reasons import Code, Step
from quotatree.core.state import State


class Help(NamedTuple):
    """Something that would let a waiting job start: in words, and as a change that somebody could make or preview (X3).

    `change` is "scale" (of `quota`, to `min` or, for a root, to `draws`), "policies" (of `quota`, to those of `spec`), "cancel"
    (of `job`), or "" where there is nothing to do but wait.
    """

    text: str
    change: str = ""
    quota: QuotaId | None = None
    job: JobId | None = None
    min: Bounds | None = None
    draws: tuple[tuple[str, Bounds], ...] = ()
    spec: QuotaSpec | None = None


class Begun(NamedTuple):
    """How a job would start with other policies: by which step of P4, and whom it would take; None: nobody.

    `took`: the regular work that it would take by a policy. `replicas`: how many would start of those that a running job is
    `missing`, which is 0 for one that waits (P12).
    """

    step: Step
    preemption: Preemption | None
    took: tuple[Work, ...]
    replicas: int
    missing: int

    @property
    def text(self) -> str:
        parts = []
        if self.missing:
            parts.append(f"{self.replicas} of {self.missing} missing replica(s) could start")
        elif self.step is Step.LOAN:
            parts.append("it could start")
        if self.step is Step.LOAN:
            parts[0] += " on a loan"
        if self.preemption is not None:
            found = self.preemption
            who = f"{len(found.victims)} unit(s) would be evicted, cost {cost_text(found.cost)} GPU-s"
            parts.append(who + (f", {len(found.demoted)} job(s) turned idle" if found.demoted else ""))
        return "; ".join(parts)


class Question:
    """Attempts of one job under other policies. The state is unchanged after each."""

    def __init__(self, state: State, job: Job, now_ms: int) -> None:
        self._state, self._job, self._now_ms = state, job, now_ms
        self._borrows = may_borrow(job.quota, job.priority)
        self._known: dict[object, Begun | None] = {self._rights(job.quota.spec): None}
        self.attempts = 0

    def begun_with(self, spec: QuotaSpec, at_most: int) -> Begun | None:
        """Return how the job would start if its quota had this declaration; None if it could not, not by that, or not keep what it
        takes (S8); or if that is not known after `at_most` attempts."""
        rights = self._rights(spec)
        if rights not in self._known:
            if self.attempts >= at_most:
                return None
            self.attempts += 1
            self._known[rights] = self.begun_if(self._job.quota, spec)
        return self._known[rights]

    def lends(self, spec: QuotaSpec) -> bool:
        """Return whether the job may go beyond its quota's min with this declaration, which it may not without it (P3)."""
        if self._borrows:
            return False
        with _Supposed(self._state, self._job.quota, spec):
            return may_borrow(self._job.quota, self._job.priority)

    def begun_if(self, quota: Quota, spec: QuotaSpec) -> Begun | None:
        """Do as `begun_with` for a declaration of any quota; it is not counted, and not remembered."""
        state, job, now_ms = self._state, self._job, self._now_ms
        missing = job.missing_replicas
        with _Supposed(state, quota, spec):
            outcome = attempt(state, job, job.quota.queue.of_job[job.id], now_ms, alone(state), patient=False)
            if not isinstance(outcome, Proposal):
                return None
            decided = apply(state, outcome, now_ms)
            if who_would_take_it_back(state, job, decided.taken, now_ms) is not None:
                return None
            begun = decided.decisions[-1]
            if not isinstance(begun, Start | Hold):
                return None
            if begun.preemption is None and (self._borrows or begun.step is not Step.LOAN):
                return None  # it could have started like that without them
            return Begun(
                begun.step, begun.preemption, _taken_by_policy(decided), len(begun.replicas), missing
            )

    def begun_regular(self) -> str | None:
        """Return in words how a job that is `idle: only` would start as regular work; None if it could not."""
        state, job = self._state, self._job
        state.begin()
        try:
            cls = job.quota.queue.of_job[job.id]
            outcome = attempt(state, job, cls, self._now_ms, alone(state), patient=False)
            taken = apply(state, outcome, self._now_ms).taken if isinstance(outcome, Proposal) else None
        finally:
            state.rollback()
        if taken is None:
            return None
        leave = f"; {len(taken)} unit(s) would leave for it" if taken else ""
        return f"it could start as regular work{leave}"

    def fair_take_if(self, quota: Quota, spec: QuotaSpec) -> FairTake | None:
        """Return what the job would take of others' idle work if a quota had this declaration; None if nothing (I4)."""
        with _Supposed(self._state, quota, spec):
            return fair_take(self._state, self._job, self._now_ms)

    def _rights(self, spec: QuotaSpec) -> object:
        """Return a key that declarations share under which the job may take the same running work, and borrow or not."""
        quota, priority = self._job.quota, self._job.priority
        with _Supposed(self._state, quota, spec):
            return may_borrow(quota, priority), tuple(
                cls.index
                for cls in self._state.classes_below(quota.root)
                if cls.buckets
                and cls.claim is Claim.REGULAR
                and could_evict(quota, priority, Work(cls.quota, cls.priority, cls.module))
            )


def _taken_by_policy(outcome: Decided) -> tuple[Work, ...]:
    """Return the work that was taken by a policy: neither what gives way to anybody, nor what a return took (P15)."""
    returned = {
        d.job for d in outcome.decisions if isinstance(d, Evict) and d.reason.code is Code.ReturnOfLoan
    }
    classes = [unit.cls for unit in outcome.taken if unit.cls.rung and unit.job.id not in returned]
    return tuple(dict.fromkeys(Work(cls.quota, cls.priority, cls.module) for cls in classes))


class _Supposed:
    """While it lasts, a quota has another declaration; afterwards the state and its indexes are as before."""

    def __init__(self, state: State, quota: Quota, spec: QuotaSpec) -> None:
        self._state, self._quota, self._spec = state, quota, spec
        self._indexes = state.indexes

    def __enter__(self) -> None:
        state = self._state
        state.begin()
        # All others depend on rights, and what they note must neither be used here nor stay.
        state.indexes = {kind: self._indexes[kind] for kind in ("free",) if kind in self._indexes}
        state.set_quota_spec(self._quota, self._spec)

    def __exit__(self, *_: object) -> None:
        self._state.rollback()
        self._state.indexes = self._indexes
