"""PAI's words for strategy, policies and switches: read as ours, refused in its own (P1, P2, S7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quotatree.core.errors import Refused
from quotatree.core.model.pai_words import in_our_words
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.policy_reading import read_child_level, read_self_level

BOTH = frozenset({Module.DLC, Module.DSW})
OWN = SelfLevel(Priorities(8, 9), Priorities(4, 4), frozenset({Module.EAS}), Scope.OWN)

CONFIG: dict[str, Any] = {
    "PreemptorPriorities": [8, 9],
    "PreemptedPriorities": [1, 2],
    "PreemptedProducts": ["DLC"],
}
SUB: dict[str, Any] = {"PreemptedPriorityUpperBound": 3, "PreemptedProducts": ["DLC", "DSW"]}


def test_pais_words_are_ours():
    """S7: strategy, both configurations and both switches."""
    found = in_our_words(
        {
            "id": "a",
            "QueueStrategy": "PaiStrategyBalance",
            "SelfQuotaPreemptionConfig": CONFIG,
            "SubQuotaPreemptionConfig": SUB,
            "EnableSubQuotaPreemption": False,
        }
    )
    assert (found["id"], found["strategy"]) == ("a", "balance")
    assert read_self_level(found["self_level"]) == (
        SelfLevel(Priorities(8, 9), Priorities(1, 2), frozenset({Module.DLC})),
    )
    assert read_child_level(found["child_level"]) == ChildLevel(Priorities(1, 3), BOTH, off=True)


def test_a_switch_of_pai_alone_keeps_the_settings():
    found = in_our_words({"EnableSelfQuotaPreemption": False, "EnableSubQuotaPreemption": True})
    assert read_self_level(found["self_level"], SelfLevels.of(OWN))[0].off
    assert read_child_level(found["child_level"]) == ChildLevel(Priorities(1, 9), BOTH)


def test_a_configuration_of_pai_alone_keeps_the_switch():
    found = in_our_words({"SelfQuotaPreemptionConfig": CONFIG, "SubQuotaPreemptionConfig": SUB})
    assert read_self_level(found["self_level"], SelfLevels.of(replace(OWN, off=True)))[0].off
    child = read_child_level(found["child_level"], ChildLevel(Priorities(1, 9), BOTH, off=True))
    assert child == ChildLevel(Priorities(1, 3), BOTH, off=True)
    assert not read_self_level(found["self_level"])[0].off


def test_an_empty_configuration_that_is_off_is_none():
    """What is shown of a quota without policies must not become one when it is said again."""
    shown = {"EnableSelfQuotaPreemption": False, "SelfQuotaPreemptionConfig": None}
    assert in_our_words(shown) == {"self_level": None}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"SelfQuotaPreemptionConfig": CONFIG, "self_level": "on"}, "leave one of them out"),
        ({"QueueStrategy": "PaiStrategyBalance", "strategy": "fifo"}, "leave one of them out"),
        ({"QueueStrategy": "Fastest"}, "not a queue strategy"),
        ({"EnableSelfQuotaPreemption": "yes"}, "true or false"),
        ({"SelfQuotaPreemptionConfig": {**CONFIG, "PreemptorPriorities": None}}, "null says nothing"),
        ({"SubQuotaPreemptionConfig": {**SUB, "PreemptedPriorities": [1]}}, "no such field"),
        (
            {"SubQuotaPreemptionConfig": {**SUB, "PreemptedPriorityUpperBound": [1, 2]}},
            "must be a priority, 1 to 9",
        ),
        (
            {"SubQuotaPreemptionConfig": {**SUB, "PreemptedPriorityUpperBound": "1-2"}},
            "must be a priority, 1 to 9",
        ),
        (
            {"SubQuotaPreemptionConfig": {**SUB, "PreemptedPriorityUpperBound": 10}},
            "must be a priority, 1 to 9",
        ),
        (
            {"SelfQuotaPreemptionConfig": {**CONFIG, "PreemptedPriorities": [[1]]}},
            "must be a priority, 1 to 9",
        ),
        ({"SubQuotaPreemptionConfig": [1]}, "must be a policy"),
    ],
)
def test_what_pai_would_not_say_either_is_refused(said: dict[str, Any], why: str):
    with pytest.raises(Refused, match=why):
        in_our_words(said)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"SelfQuotaPreemptionConfig": {**CONFIG, "PreemptedProducts": []}}, "SelfQuotaPreemptionConfig.PreemptedProducts"),
        ({"SelfQuotaPreemptionConfig": {**CONFIG, "PreemptorPriorities": [2]}}, "SelfQuotaPreemptionConfig.PreemptedPriorities"),
        ({"SelfQuotaPreemptionConfig": {**CONFIG, "PreemptorPriorities": [9, 10]}}, "SelfQuotaPreemptionConfig.PreemptorPriorities[1]"),
        ({"SubQuotaPreemptionConfig": {**SUB, "PreemptedProducts": "DLC"}}, "SubQuotaPreemptionConfig.PreemptedProducts"),
        ({"QueueStrategy": "Fastest"}, "QueueStrategy"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field_as_pai_does(said: dict[str, Any], field: str):
    with pytest.raises(Refused) as refused:
        in_our_words(said)
    assert refused.value.field == field
