"""Several self-level policies of one quota: rights come from one of them at a time (P1, P3)."""

from __future__ import annotations

import pytest

from quotatree.core.model.policy import (
    ChildLevel,
    Module,
    Priorities,
    Scope,
    SelfLevel,
    SelfLevels,
    reach,
    reaches,
)

DLC = frozenset({Module.DLC})
EAS = frozenset({Module.EAS})

PRODUCTION = SelfLevel(Priorities(8, 9), Priorities(1, 7), DLC, Scope.OWN)
RESEARCH = SelfLevel(Priorities(5, 7), Priorities(1, 2), EAS, Scope.SIBLINGS)
THREE_CLASSES = SelfLevels.of(PRODUCTION, RESEARCH)


def may(policies: SelfLevels, taker: int, victim: int, module: Module, *, beside: bool) -> bool:
    return reaches(policies.beside(taker) if beside else policies.own(taker), victim, module)


def test_each_priority_has_the_rights_of_the_policies_that_name_it():
    assert may(THREE_CLASSES, 8, 7, Module.DLC, beside=False)
    assert may(THREE_CLASSES, 5, 2, Module.EAS, beside=True)
    assert not THREE_CLASSES.lets_preempt(4)


@pytest.mark.parametrize(
    ("taker", "victim", "module", "beside"),
    [
        (5, 7, Module.DLC, False),  # the low of the other policy
        (5, 2, Module.DLC, True),  # its modules
        (5, 2, Module.EAS, False),  # its scope
        (8, 2, Module.EAS, False),
        (8, 7, Module.DLC, True),
    ],
)
def test_nothing_of_one_policy_goes_with_another(taker: int, victim: int, module: Module, beside: bool):
    """P1: each is valid by itself, and a job may take whom any *one* of them names."""
    assert not may(THREE_CLASSES, taker, victim, module, beside=beside)


def test_a_loan_needs_a_policy_that_reaches_siblings_for_this_priority():
    """P3: that another priority may reach them is not enough."""
    assert THREE_CLASSES.reaches_siblings(6)
    assert not THREE_CLASSES.reaches_siblings(9)


def test_any_lower_is_all_pairs():
    """P1: every priority over every strictly lower one, and over no other."""
    policies = SelfLevels.of(SelfLevel.over_any_lower(DLC))
    taken = {
        (t, v) for t in range(1, 10) for v in range(1, 10) if may(policies, t, v, Module.DLC, beside=True)
    }
    assert taken == {(t, v) for t in range(1, 10) for v in range(1, t)}
    assert not may(policies, 9, 1, Module.EAS, beside=True)


def test_what_is_switched_off_gives_no_right():
    off = SelfLevel(Priorities(6, 9), Priorities(1, 5), DLC, off=True)
    policies = SelfLevels.of(off)
    assert not policies.lets_preempt(9)
    assert not policies.reaches_siblings(9)
    assert (policies.own(9), policies.beside(9)) == (0, 0)
    assert policies.switched_on() == ()
    assert ChildLevel(Priorities(1, 9), DLC, off=True).reach == 0


def test_reach_is_every_pair_and_no_other():
    found = reach(Priorities(2, 4), DLC | EAS)
    named = {(p, m) for p in range(1, 10) for m in Module if reaches(found, p, m)}
    assert named == {(p, m) for p in (2, 3, 4) for m in (Module.DLC, Module.EAS)}
