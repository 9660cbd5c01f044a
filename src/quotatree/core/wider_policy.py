"""Would a wider preemption policy let a waiting job start, or a running one have replicas that it misses, which one, and whom
would it cost (X1, P12)?

The planner's own attempt is asked again with other policies of the job's quota, in a transaction that is rolled back. One
change at a time is supposed, the smaller ones first; before any of them the widest policy of all, for if that does not
help, none does. Changes that reach nobody new are not tried. A right to a loan may help without a victim (P3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from quotatree.core.decisions import Hold, Preemption, Start
from quotatree.core.model.job import Claim, Idle, Job, JobId
from quotatree.core.model.policy import (
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    ChildLevel,
    Module,
    Priorities,
    Scope,
    SelfLevel,
    SelfLevels,
)
from quotatree.core.model.quota import Quota, QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.model.rights import Work, could_evict, may_borrow
from quotatree.core.planning.asking import attempt
from quotatree.core.planning.attempt_facts import cost_text
from quotatree.core.planning.lasting import who_would_take_it_back
from quotatree.core.planning.outcome import Decided
from quotatree.core.planning.plan_context import Surroundings
from quotatree.core.reasons import Step
from quotatree.core.sentences import Sentence, a_quota
from quotatree.core.state import State

ATTEMPTS: Final = 6
"""Most attempts made for one answer: each may have to build indexes for rights that nobody has."""
USUAL: Final = frozenset({Module.DLC, Module.DSW})
EVERY: Final = frozenset(Module)
ANY_PRIORITY: Final = Priorities(LOWEST_PRIORITY, HIGHEST_PRIORITY)


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


class Change(NamedTuple):
    """Another policy for a quota, in words, and the quota's declaration with it."""

    text: str
    spec: QuotaSpec


class Begun(NamedTuple):
    """How a job would start with other policies: by which step of P4, and whom it would take; None: nobody.

    `replicas`: how many would start of those that a running job is `missing`, which is 0 for one that waits (P12).
    """

    step: Step
    preemption: Preemption | None
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


def wider_policies(state: State, job: Job, now_ms: int) -> tuple[Help, ...]:
    """Return the changes of the policies of the job's quota that would let it start or grow now, with victims and cost in words.

    Of each policy the smallest change that helps, or a change of both, if neither helps alone; before them, where a loan would do,
    the smallest change that allows it. Empty if no policy would help. The state is unchanged.
    """
    if job.spec.idle is Idle.ONLY:
        return ()
    question = _Question(state, job, now_ms)
    own = list(_self_level_changes(job.quota, job.priority))
    below = list(_child_level_changes(job.quota))
    if not own and not below:
        return ()
    both = _both(own, below)
    widest = question.begun_with(both)
    if widest is None:
        return ()
    lending = [change for change in own if question.lends(change)] if widest.preemption is None else []
    found = [question.first_that_helps(changes) for changes in (lending, own, below)]
    return tuple(dict.fromkeys(one for one in found if one is not None)) or (question.told(both, widest),)


class _Question:
    """Attempts of one job under other policies of its quota."""

    def __init__(self, state: State, job: Job, now_ms: int) -> None:
        self._state, self._job, self._now_ms = state, job, now_ms
        self._attempts = 0
        self._borrows = may_borrow(job.quota, job.priority)
        self._known: dict[object, Begun | None] = {self._rights(job.quota.spec): None}

    def first_that_helps(self, changes: list[Change]) -> Help | None:
        for change in changes:
            begun = self.begun_with(change)
            if begun is not None:
                return self.told(change, begun)
        return None

    def told(self, change: Change, begun: Begun) -> Help:
        text = Sentence(change.text, f": {begun.text}")
        return Help(text, "policies", quota=self._job.quota.id, spec=change.spec)

    def lends(self, change: Change) -> bool:
        """Return whether the job may go beyond its quota's min with this change, which it may not without it (P3)."""
        if self._borrows:
            return False
        with _Supposed(self._state, self._job.quota, change.spec):
            return may_borrow(self._job.quota, self._job.priority)

    def begun_with(self, change: Change) -> Begun | None:
        """Return how the job would start with this change; None if it could not, or if too many changes were tried already."""
        rights = self._rights(change.spec)
        if rights not in self._known:
            if self._attempts >= ATTEMPTS:
                return None
            self._attempts += 1
            self._known[rights] = self._begun(change.spec)
        return self._known[rights]

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

    def _begun(self, spec: QuotaSpec) -> Begun | None:
        """Return how the job would start with these policies; None if it could not, not by them, or not keep what it takes (S8)."""
        state, job, now_ms = self._state, self._job, self._now_ms
        missing = job.missing_replicas
        with _Supposed(state, job.quota, spec):
            cls = job.quota.queue.of_job[job.id]
            outcome = attempt(state, job, cls, now_ms, Surroundings(), patient=False)
            if not isinstance(outcome, Decided):
                return None
            if who_would_take_it_back(state, job, outcome.taken, now_ms) is not None:
                return None
            begun = outcome.decisions[-1]
            if not isinstance(begun, Start | Hold):
                return None
            if begun.preemption is None and (self._borrows or begun.step is not Step.LOAN):
                return None  # it could have started like that without them
            return Begun(begun.step, begun.preemption, len(begun.replicas), missing)


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


def _self_level_changes(quota: Quota, priority: int) -> Iterator[Change]:
    """Yield wider self-level policies for jobs of this priority: one value of one policy changed at a time, then all."""
    if priority == LOWEST_PRIORITY:
        return
    policies = quota.spec.self_level
    above, under = Priorities(priority, HIGHEST_PRIORITY), Priorities(LOWEST_PRIORITY, priority - 1)
    widest = SelfLevel(above, under, EVERY, Scope.LEVEL)
    for at, policy in enumerate(policies):
        for how, wider in _widened(policy, priority):
            text = Sentence(
                "the self-level policy of ", a_quota(quota.id), f" {how} ({_self_level_text(wider)})"
            )
            yield _with_self_level(quota, text, *policies[:at], wider, *policies[at + 1 :])
    fresh = (replace(widest, modules=USUAL, scope=Scope.OWN), replace(widest, modules=USUAL), widest)
    for made in fresh if not policies else fresh[-1:]:
        which = "one more" if policies else "a"
        text = Sentence(f"{which} self-level policy on ", a_quota(quota.id), f" ({_self_level_text(made)})")
        yield _with_self_level(quota, text, *policies, made)


def _widened(policy: SelfLevel, priority: int) -> Iterator[tuple[str, SelfLevel]]:
    """Yield the policy switched on, or changed in one value so that a job of this priority may take more, each with how."""
    if policy.off:
        yield "switched on", replace(policy, off=False)
        return
    least = policy
    if not policy.any_lower:
        high = policy.high
        if not policy.lets_preempt(priority):
            high = Priorities(min(priority, high.low), max(priority, high.high))
        all_below = Priorities(LOWEST_PRIORITY, high.low - 1)
        kept = Priorities(policy.low.low, min(policy.low.high, high.low - 1))
        least = replace(policy, high=high, low=kept if kept.low <= kept.high else all_below)
        yield "made wider", least
        yield "made wider", replace(least, low=all_below)
    yield "made wider", replace(least, scope=Scope.LEVEL)
    yield "made wider", replace(least, modules=EVERY)


def _with_self_level(quota: Quota, text: str, *policies: SelfLevel) -> Change:
    return Change(text, replace(quota.spec, self_level=SelfLevels.of(*policies)))


def _self_level_text(policy: SelfLevel) -> str:
    pairs = "any lower" if policy.any_lower else f"high {policy.high}, low {policy.low}"
    return f"{pairs}, {_modules(policy.modules)}, scope {policy.scope.value}"


def _child_level_changes(quota: Quota) -> Iterator[Change]:
    """Yield wider child-level policies: switched on, or one value changed at a time, then both."""
    if not quota.children:
        return
    policy = quota.spec.child_level
    widest = ChildLevel(ANY_PRIORITY, EVERY)
    this = Sentence("the child-level policy of ", a_quota(quota.id))
    begins = (
        Sentence(this, " made wider") if policy else Sentence("a child-level policy on ", a_quota(quota.id))
    )
    changes = [ChildLevel(ANY_PRIORITY, USUAL)]
    if policy is not None and policy.off:
        begins, changes = Sentence(this, " switched on"), [replace(policy, off=False)]
    elif policy is not None:
        changes = [replace(policy, priorities=ANY_PRIORITY), replace(policy, modules=EVERY)]
    for change in (*changes, widest):
        text = Sentence(begins, f" (priorities {change.priorities}, {_modules(change.modules)})")
        yield Change(text, replace(quota.spec, child_level=change))


def _both(own: list[Change], below: list[Change]) -> Change:
    """Return the widest policies together."""
    if not own or not below:
        return (own or below)[-1]
    spec = replace(own[-1].spec, child_level=below[-1].spec.child_level)
    return Change(Sentence(own[-1].text, " and ", below[-1].text), spec)


def _modules(modules: frozenset[Module]) -> str:
    return "+".join(sorted(module.value for module in modules))
