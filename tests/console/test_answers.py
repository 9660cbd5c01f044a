"""The answers that the console's components are tested on are such as the described API gives."""

from __future__ import annotations

import copy

import pytest

from console import answers

RECORDED = answers.recorded()


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_recorded_answer_contradicts_no_description(name):
    assert answers.contradicts(RECORDED[name]) == [], "make pages records them anew"


def test_an_answer_of_another_kind_is_noticed_and_one_that_lacks_a_new_field_only_recorded_anew():
    job = copy.deepcopy(RECORDED["job"])
    job["answer"]["priority"] = "high"
    del job["answer"]["phase"]
    assert len(answers.contradicts(job)) == 1
    assert len(answers.unlike(job)) == 2
