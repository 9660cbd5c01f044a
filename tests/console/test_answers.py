"""The answers that the console's components are tested on are such as the described API gives."""

from __future__ import annotations

import copy

import pytest

from console import answers

RECORDED = answers.recorded()


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_recorded_answer_is_as_described(name):
    assert answers.unlike(RECORDED[name]) == [], "make pages records them anew"


def test_an_answer_that_lacks_a_field_or_has_one_of_another_kind_is_noticed():
    job = copy.deepcopy(RECORDED["job"])
    job["answer"]["priority"] = "high"
    del job["answer"]["phase"]
    assert len(answers.unlike(job)) == 2
