"""Would a wider preemption policy let a waiting job start, or a running one have replicas that it misses, which one, and whom
would it cost (X1, P12)?

One change at a time is supposed, the smaller ones first; before any of them the widest policy of all, for if that does not
help, none does. Changes that reach nobody new are not tried. A right to a loan may help without a victim (P3). What helps is
made narrower as long as it still does (narrowed_policy.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from quotatree.core.model.job import Idle, Job
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
from quotatree.core.model.quota import Quota
from quotatree.core.narrowed_policy import NARROWINGS, Change, Part, narrower_changes
from quotatree.core.sentences import Sentence, a_quota
from quotatree.core.state import State
from quotatree.core.supposed_policy import Begun, Help, Question

ATTEMPTS: Final = 6
"""Most attempts made to find what helps; a few more make it narrower."""
USUAL: Final = frozenset({Module.DLC, Module.DSW})
EVERY: Final = frozenset(Module)
ANY_PRIORITY: Final = Priorities(LOWEST_PRIORITY, HIGHEST_PRIORITY)


def wider_policies(state: State, job: Job, now_ms: int) -> tuple[Help, ...]:
    """Return the changes of the policies of the job's quota that would let it start or grow now, with victims and cost in words.

    Of each policy the smallest change found that helps, or a change of both, if neither helps alone; before them, where a loan would
    do, the smallest that allows it. Empty if no policy would help. The state is unchanged.
    """
    if job.spec.idle is Idle.ONLY:
        return ()
    question = Question(state, job, now_ms)
    own = list(_self_level_changes(job.quota, job.priority))
    below = list(_child_level_changes(job.quota))
    if not own and not below:
        return ()
    both = _both(own, below)
    widest = question.begun_with(both.spec, ATTEMPTS)
    if widest is None:
        return ()
    lending = [change for change in own if question.lends(change.spec)] if widest.preemption is None else []
    helpful = [_first_that_helps(question, changes) for changes in (lending, own, below)]
    found = [one for one in helpful if one is not None] or [(both, widest)]
    return tuple(dict.fromkeys(_told(job, *_narrowed(question, job, *one)) for one in found))


def _first_that_helps(question: Question, changes: list[Change]) -> tuple[Change, Begun] | None:
    for change in changes:
        begun = question.begun_with(change.spec, ATTEMPTS)
        if begun is not None:
            return change, begun
    return None


def _narrowed(question: Question, job: Job, change: Change, begun: Begun) -> tuple[Change, Begun]:
    """Return the change made narrower, if that helps as much; else as it is."""
    for narrower in narrower_changes(job.quota.spec, change, begun.took):
        found = question.begun_with(narrower.spec, ATTEMPTS + NARROWINGS)
        if found is not None and found.replicas >= begun.replicas:
            return narrower, found
    return change, begun


def _told(job: Job, change: Change, begun: Begun) -> Help:
    text = Sentence(change.text, f": {begun.text}")
    return Help(text, "policies", quota=job.quota.id, spec=change.spec)


def _self_level_changes(quota: Quota, priority: int) -> Iterator[Change]:
    """Yield wider self-level policies for jobs of this priority: one value of one policy changed at a time, then all."""
    if priority == LOWEST_PRIORITY:
        return
    policies = quota.spec.self_level
    above, under = Priorities(priority, HIGHEST_PRIORITY), Priorities(LOWEST_PRIORITY, priority - 1)
    widest = SelfLevel(above, under, EVERY, Scope.LEVEL)
    for at, policy in enumerate(policies):
        for how, wider in _widened(policy, priority):
            begins = Sentence("the self-level policy of ", a_quota(quota.id), f" {how}")
            spec = replace(quota.spec, self_level=SelfLevels.of(*policies[:at], wider, *policies[at + 1 :]))
            yield Change((Part(begins, at),), spec)
    fresh = (replace(widest, modules=USUAL, scope=Scope.OWN), replace(widest, modules=USUAL), widest)
    for made in fresh if not policies else fresh[-1:]:
        begins = Sentence(f"{'one more' if policies else 'a'} self-level policy on ", a_quota(quota.id))
        spec = replace(quota.spec, self_level=SelfLevels.of(*policies, made))
        yield Change((Part(begins, len(policies)),), spec)


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
        yield Change((Part(begins, None),), replace(quota.spec, child_level=change))


def _both(own: list[Change], below: list[Change]) -> Change:
    """Return the widest policies together."""
    if not own or not below:
        return (own or below)[-1]
    spec = replace(own[-1].spec, child_level=below[-1].spec.child_level)
    return Change((*own[-1].parts, *below[-1].parts), spec)
