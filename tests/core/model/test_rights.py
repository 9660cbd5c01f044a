"""Who could evict whom where a quota has several policies, or one that is switched off (P1, P2, P3, P15)."""

from __future__ import annotations

from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.resources import GPU
from quotatree.core.model.rights import (
    Against,
    Work,
    could_evict,
    kept_from,
    may_borrow,
    policies_against,
    rules_against,
)
from quotatree.core.reasons import Code
from quotatree.core.state import State
from tests.core.building import tree

DLC = frozenset({Module.DLC})
AT_HOME = SelfLevel(Priorities(8, 9), Priorities(1, 7), DLC, Scope.OWN)
BESIDE = SelfLevel(Priorities(5, 7), Priorities(1, 2), DLC, Scope.SIBLINGS)


def two_policies() -> State:
    return tree(a={"self_level": SelfLevels.of(AT_HOME, BESIDE)})


def quota(state: State, name: str) -> Quota:
    return state.quotas[QuotaId(name)]


def test_each_right_comes_from_one_policy() -> None:
    """P1: a p8 takes at home only, a p6 beside only, and each only whom its own policy names."""
    state = two_policies()
    a, b = quota(state, "a"), quota(state, "b")
    assert rules_against(a, 8, Work(a, 7, Module.DLC), claimable=False) == (Code.SelfLevelOwn,)
    assert rules_against(a, 6, Work(b, 2, Module.DLC), claimable=False) == (Code.SelfLevelSibling,)
    assert not could_evict(a, 8, Work(b, 2, Module.DLC))
    assert not could_evict(a, 6, Work(a, 2, Module.DLC))
    assert not could_evict(a, 6, Work(b, 3, Module.DLC))


def test_a_loan_is_for_the_priorities_that_reach_siblings() -> None:
    """P3."""
    a = quota(two_policies(), "a")
    assert [priority for priority in range(1, 10) if may_borrow(a, priority)] == [5, 6, 7]


def test_what_is_kept_from_a_claimant_goes_by_each_priority() -> None:
    """P15: only work that the policy beside would let take the claimant again."""
    state = two_policies()
    a, b = quota(state, "a"), quota(state, "b")
    a.own_by_priority[9], a.own_by_priority[6] = [4000, 0, 0], [1000, 0, 0]
    assert kept_from(a, Work(b, 2, Module.DLC), GPU) == 1000
    assert kept_from(a, Work(b, 3, Module.DLC), GPU) == 0


def test_policies_are_known_by_where_the_work_stands_that_they_name() -> None:
    """P1, P2: in the quota itself, below it, or beside it."""
    beside = SelfLevel(Priorities(6, 9), Priorities(1, 2), DLC, Scope.SIBLINGS)
    level = SelfLevel(Priorities(6, 9), Priorities(1, 1), DLC, Scope.LEVEL)
    state = tree(
        root={"child_level": ChildLevel(Priorities(1, 3), DLC)},
        a={"self_level": SelfLevels.of(beside)},
        b={"self_level": SelfLevels.of(level)},
    )
    a, b, top = quota(state, "a"), quota(state, "b"), quota(state, "root")
    low, higher = policies_against(Work(a, 1, Module.DLC)), policies_against(Work(a, 2, Module.DLC))
    assert low == Against(own=frozenset({b}), below=frozenset({top}), beside=frozenset({a, b}))
    assert higher == Against(own=frozenset(), below=frozenset({top}), beside=frozenset({a}))
    assert not any(policies_against(Work(a, 4, Module.DLC)))


def test_a_policy_that_is_off_is_against_nobody() -> None:
    """P1, P2."""
    off = ChildLevel(Priorities(1, 9), DLC, off=True)
    state = tree(a={"child_level": off, "self_level": SelfLevels.of(SelfLevel.over_any_lower(DLC, off=True))})
    a, below = quota(state, "a"), quota(state, "a.x")
    assert not could_evict(a, 9, Work(below, 1, Module.DLC))
    assert not any(policies_against(Work(below, 1, Module.DLC)))
