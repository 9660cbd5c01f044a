"""One reader for all edges: switches, lists and short forms (P1, P2)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core.errors import Refused
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.policy_reading import read_child_level, read_self_level

BOTH = frozenset({Module.DLC, Module.DSW})
USUAL = SelfLevel(Priorities(6, 9), Priorities(1, 5), BOTH, Scope.LEVEL)
OWN = SelfLevel(Priorities(8, 9), Priorities(4, 4), frozenset({Module.EAS}), Scope.OWN)
ON: tuple[object, ...] = (True, "on", {}, {"enabled": True}, {"enabled": "on"})
OFF = (False, "off", {"enabled": False})


@pytest.mark.parametrize("said", ON)
def test_on_without_settings_is_the_usual_policy(said: object):
    assert read_self_level(said) == (USUAL,)
    assert read_child_level(said) == ChildLevel(Priorities(1, 9), BOTH)


@pytest.mark.parametrize("said", OFF)
def test_off_keeps_the_settings_and_on_finds_them_again(said: object):
    off = read_self_level(said, SelfLevels.of(OWN, USUAL))
    assert [policy.off for policy in off] == [True, True]
    assert read_self_level("on", off) == (OWN, USUAL)
    child = read_child_level(said, ChildLevel(Priorities(1, 3), BOTH))
    assert child == ChildLevel(Priorities(1, 3), BOTH, off=True)
    assert read_child_level(True, child) == ChildLevel(Priorities(1, 3), BOTH)


def test_off_where_nothing_is_kept_is_nothing():
    assert read_self_level("off") == ()
    assert read_child_level(False) is None


def test_settings_replace_what_was_kept():
    """Only a bare switch keeps anything; `{scope: own}` is a policy with the usual priorities."""
    found = read_self_level({"scope": "own"}, SelfLevels.of(OWN))
    assert found == (SelfLevel(Priorities(6, 9), Priorities(1, 5), BOTH, Scope.OWN),)


def test_settings_alone_keep_the_switch():
    """P1, P2: whoever changes what an off policy says does not switch it on."""
    off = SelfLevels.of(replace(OWN, off=True))
    assert [policy.off for policy in read_self_level({"high": 9, "low": 1}, off)] == [True]
    assert [policy.off for policy in read_self_level([{"high": 9, "low": 1}, {"any": "lower"}], off)] == [
        True,
        True,
    ]
    assert [policy.off for policy in read_self_level({"high": 9, "low": 1, "enabled": True}, off)] == [False]
    child = ChildLevel(Priorities(1, 3), BOTH, off=True)
    assert read_child_level({"priorities": "1-4"}, child) == ChildLevel(Priorities(1, 4), BOTH, off=True)
    assert read_child_level({"priorities": "1-4"}) == ChildLevel(Priorities(1, 4), BOTH), "a new one is on"


def test_of_several_each_keeps_its_switch_and_a_new_one_is_on_beside_one_that_is():
    kept = SelfLevels.of(replace(USUAL, off=True), OWN)
    said = [
        {"high": "6-9", "low": "1-5"},
        {"high": "8-9", "low": 4, "modules": ["EAS"], "scope": "own"},
        {"any": "lower"},
    ]
    assert [policy.off for policy in read_self_level(said, kept)] == [True, False, False]


def test_settings_may_be_saved_switched_off():
    found = read_self_level({"high": "8-9", "low": 4, "modules": ["EAS"], "scope": "own", "enabled": False})
    assert [(policy.high, policy.off) for policy in found] == [(Priorities(8, 9), True)]


def test_settings_that_are_off_must_be_valid_too():
    with pytest.raises(Refused, match="must be below 4"):
        read_self_level({"high": "4-6", "low": 6, "enabled": False})


def test_several_and_the_short_form():
    found = read_self_level([{"high": "8-9", "low": "1-7"}, {"any": "lower", "modules": ["EAS"]}])
    assert [(str(policy.high), policy.any_lower) for policy in found] == [("8-9", False), ("2-9", True)]


def test_null_and_an_empty_list_take_the_policies_away():
    assert read_self_level(None, SelfLevels.of(OWN)) == read_self_level([], SelfLevels.of(OWN)) == ()
    assert read_child_level(None, ChildLevel(Priorities(1, 3), BOTH)) is None


def test_a_list_with_gaps_is_a_policy_for_each_pair_of_ranges():
    """P1: together they say exactly what the lists say."""
    found = read_self_level({"high": [9, 6, 7], "low": [1, 3]})
    assert [(str(policy.high), str(policy.low)) for policy in found] == [
        ("6-7", "1"), ("6-7", "3"), ("9", "1"), ("9", "3"),
    ]  # fmt: skip
    assert read_child_level({"priorities": [3, 1, 2]}) == ChildLevel(Priorities(1, 3), BOTH)


@pytest.mark.parametrize(
    ("said", "field", "why"),
    [
        (1, "self_level", "must be on, off, a policy or a list"),
        ("maybe", "self_level", "must be on, off"),
        ({"enabled": 3}, "self_level.enabled", "true or false"),
        ({"high": 9}, "self_level.low", "is missing beside high"),
        ({"any": "higher"}, "self_level.any", "must be lower"),
        ({"any": "lower", "low": 1}, "self_level.low", "does not go with any"),
        ({"high": 9, "low": 1, "module": []}, "self_level.module", "no such field"),
        ({"high": 9, "low": 1, "modules": []}, "self_level.modules", "at least one"),
        ({"high": 9, "low": 1, "modules": "DLC"}, "self_level.modules", "must be a list"),
        ({"high": 9, "low": 1, "modules": [["DLC"]]}, "self_level.modules", "not a module"),
        ({"high": 9, "low": 1, "scope": "all"}, "self_level.scope", "own, siblings or level"),
        ({"high": True, "low": 1}, "self_level.high", "must be a priority"),
        ({"high": [], "low": 1}, "self_level.high", "at least one priority"),
        ([{"high": 9, "low": 1}, "on"], "self_level[1]", "must be a policy"),
        ([{"enabled": False}, {"enabled": True}], "self_level[0]", "must say its priorities"),
        ([{"high": 9, "low": 1}, {}], "self_level[1]", "must say its priorities"),
        ({"high": None, "low": None}, "self_level.high", "null says nothing"),
        ({"scope": None}, "self_level.scope", "null says nothing"),
        ({"high": 9, "low": [[1]]}, "self_level.low[0]", "must be a priority, 1 to 9"),
        ({"high": 10, "low": 1}, "self_level.high", "must be a priority, 1 to 9"),
        ([{"high": 9, "low": 1}] * 21, "self_level", "20 policies"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(said: object, field: str, why: str):
    with pytest.raises(Refused, match=why) as refused:
        read_self_level(said)
    assert refused.value.field == field


def test_a_gap_of_a_child_level_policy_is_refused():
    """P2: a quota has one child-level policy, with one range."""
    with pytest.raises(Refused, match="gap at 2"):
        read_child_level({"priorities": [1, 3]})


@pytest.mark.parametrize(
    ("said", "field", "why"),
    [
        ("maybe", "child_level", "must be on, off"),
        ({"priorities": None}, "child_level.priorities", "null says nothing"),
        ({"modules": None}, "child_level.modules", "null says nothing"),
        ({"modules": 5}, "child_level.modules", "must be a list"),
        ({"enabled": 5}, "child_level.enabled", "true or false"),
        ({"priorities": {}}, "child_level.priorities", "must be a priority"),
    ],
)
def test_what_is_wrong_with_a_child_level_policy_is_a_matter_of_p2(said: object, field: str, why: str):
    with pytest.raises(Refused, match=why) as refused:
        read_child_level(said)
    assert (refused.value.field, refused.value.rule) == (field, "P2")
