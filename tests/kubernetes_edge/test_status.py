"""Statuses are written when they change, at most once a second, and say since when a resource is accepted (Q7)."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.kubernetes_edge.declaring import Declaring, Refusal
from quotatree.kubernetes_edge.resources import Declared
from quotatree.kubernetes_edge.status import Statuses, quota_figures
from tests.kubernetes_edge.conftest import Loop
from tests.kubernetes_edge.declared import quota, root

REFUSED = Refusal("Refused", "Q1", "min 99: more than company has left [Q1]")
NOW_MS = 1_700_000_000_000


class Written(list[tuple[str, dict[str, Any]]]):
    broken = False

    def __call__(self, one: Declared, patch: dict[str, Any]) -> None:
        if self.broken:
            raise OSError("gone")
        self.append((one.of, patch))


def test_a_refusal_is_a_condition_with_code_rule_and_generation():
    written = Written()
    statuses = Statuses(written)
    statuses.answer(root(meta={"generation": 4}), REFUSED, NOW_MS)
    statuses.flush(NOW_MS)
    [(of, patch)] = written
    [condition] = patch["conditions"]
    assert (of, patch["observedGeneration"], patch["rule"]) == ("quota/company", 4, "Q1")
    assert (condition["status"], condition["reason"], condition["observedGeneration"]) == (
        "False",
        "Refused",
        4,
    )
    assert condition["message"] == REFUSED.text
    assert condition["lastTransitionTime"] == "2023-11-14T22:13:20Z"


def test_the_time_of_a_condition_is_that_of_its_last_change():
    written = Written()
    statuses = Statuses(written)
    for number, refusal in enumerate([REFUSED, REFUSED._replace(text="other"), None]):
        statuses.answer(root(), refusal, NOW_MS + number * 60_000)
        statuses.flush(NOW_MS + number * 60_000)
    times = [patch["conditions"][0]["lastTransitionTime"][14:19] for _, patch in written]
    assert times == ["13:20", "13:20", "15:20"]


def test_nothing_is_written_twice_and_nothing_more_often_than_once_a_second():
    written = Written()
    statuses = Statuses(written)
    statuses.answer(root(), None, NOW_MS)
    assert statuses.flush(NOW_MS) == 1
    statuses.answer(root(), None, NOW_MS + 5_000)
    assert statuses.flush(NOW_MS + 5_000) == 0
    for step in range(10):
        statuses.show(root(), {"queuedJobs": step})
        statuses.flush(NOW_MS + 6_000 + step * 100)
    assert [patch for _, patch in written[1:]] == [{"queuedJobs": 0}]
    statuses.flush(NOW_MS + 7_100)
    assert written[-1][1] == {"queuedJobs": 9}


def test_what_a_restarted_server_finds_is_not_written_again():
    first = Written()
    statuses = Statuses(first)
    statuses.answer(root(), None, NOW_MS)
    statuses.show(root(), {"queuedJobs": 3})
    statuses.flush(NOW_MS)
    again = Written()
    restarted = Statuses(again)
    seen = root()
    seen = Declared(**{**{name: getattr(seen, name) for name in seen.__slots__}, "status": first[0][1]})
    restarted.answer(seen, None, NOW_MS + 60_000)
    restarted.show(seen, {"queuedJobs": 3})
    assert restarted.flush(NOW_MS + 60_000) == 0


def test_a_status_that_could_not_be_written_is_written_later():
    written = Written()
    statuses = Statuses(written)
    statuses.answer(root(), None, NOW_MS)
    written.broken = True
    with pytest.raises(OSError, match="gone"):
        statuses.flush(NOW_MS)
    written.broken = False
    assert statuses.flush(NOW_MS + 1) == 1


def test_an_amount_that_is_gone_is_taken_out():
    written = Written()
    statuses = Statuses(written)
    statuses.answer(root(), None, NOW_MS)
    statuses.show(root(), {"min": {"gpus": 8, "cpu": 4}})
    statuses.flush(NOW_MS)
    statuses.show(root(), {"min": {"gpus": 8}})
    statuses.flush(NOW_MS + 2_000)
    assert written[-1][1] == {"min": {"gpus": 8, "cpu": None}}


def test_figures_are_those_of_the_quota(loop: Loop):
    from quotatree.core import quota_report

    Declaring(loop.controller).apply([root(), quota("a", parent="company", min={"gpus": 8})])
    figures = loop.ask(lambda world: quota_figures(quota_report(world.state, "company")))
    assert figures["min"] == {"gpus": 16}
    assert figures["used"]["gpus"] == 0
    assert figures["queuedJobs"] == 0
    assert figures["free"]["gpus"] == 16
