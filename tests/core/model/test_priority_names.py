"""Names of priorities: read as numbers, refused where they could be mistaken for one (W6)."""

from __future__ import annotations

import pytest

from quotatree.core.errors import Refused
from quotatree.core.model.policy import Priorities, parse_priorities
from quotatree.core.model.policy_reading import policies_in_numbers, read_self_level
from quotatree.core.model.priority_names import check_names, in_numbers, in_order, name_of

NAMES = {"batch": 2, "research": 5, "production": 8, "top-prod": 9, "prod": 8}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (4, 4),
        ("6-9", "6-9"),
        (" production ", 8),
        ("batch-production", "2-8"),
        ("batch - 7", "2-7"),
        ("3-production", "3-8"),
        ("top-prod", 9),
        ("batch-top-prod", "2-9"),
        (["batch", 4, "production"], [2, 4, 8]),
    ],
)
def test_a_name_is_its_number_alone_in_a_range_and_in_a_list(said: object, meant: object):
    assert in_numbers("priority", said, NAMES) == meant


@pytest.mark.parametrize("said", ["nobody", "batch-nobody", "batch-", "", "8 or so"])
def test_an_unknown_name_is_refused_with_the_names_there_are(said: str):
    with pytest.raises(Refused, match=r"names: top-prod \(9\), prod \(8\), production \(8\)") as refused:
        in_numbers("priority", said, NAMES)
    assert (refused.value.field, refused.value.rule) == ("priority", "W6")


@pytest.mark.parametrize("name", ["8", "6-9", "-1", "", "_x", "two words", "x" * 41])
def test_a_name_that_looks_like_something_else_is_refused(name: str):
    with pytest.raises(Refused, match="begins with a letter"):
        check_names({name: 5})


@pytest.mark.parametrize(
    "name", ["none", "on", "OFF", "any", "lower", "true", "False", "null", "all", "DLC", "eas", "yes"]
)
def test_a_word_that_means_something_else_is_no_name(name: str):
    """`centre set --ceiling role:developer=none` takes a ceiling away."""
    with pytest.raises(Refused, match="means something else") as refused:
        check_names({name: 8})
    assert refused.value.value == name


@pytest.mark.parametrize("number", [0, 10, True, "8", 4.5])
def test_a_name_stands_for_a_priority(number: object):
    with pytest.raises(Refused, match="1 to 9"):
        check_names({"production": number})  # type: ignore[dict-item] # what a file may say


def test_both_ways_and_in_order():
    check_names(NAMES)
    assert [name_of(priority, NAMES) for priority in (8, 5, 1)] == ["prod", "research", None]
    assert in_order(NAMES)[0] == ("top-prod", 9)


def test_policies_take_names_too():
    said = [{"high": "production-9", "low": ["batch", "research"], "scope": "own"}, {"any": "lower"}]
    found = read_self_level(policies_in_numbers("self_level", said, NAMES))
    assert [(str(policy.high), str(policy.low)) for policy in found] == [
        ("8-9", "2"),
        ("8-9", "5"),
        ("2-9", "1-8"),
    ]
    assert parse_priorities("x", "2-8") == Priorities(2, 8)
    with pytest.raises(Refused) as refused:
        policies_in_numbers("self_level", [{"high": "nobody"}], NAMES)
    assert refused.value.field == "self_level[0].high"
