"""What is said of a field that may be of several kinds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import Api


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "changes.0: change: is missing"),
        ({"change": "foo"}, "changes.0: change: must be one of 'submit', 'cancel', "),
    ],
)
def test_the_kinds_of_a_change_are_told(on_both: Api, change: dict[str, Any], said: str):
    assert on_both.post("/previews", {"changes": [change]}).json()["detail"].startswith(said)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"DLC": "-5s"}, "longest_run.DLC: must not be negative"),
        ("-5s", "longest_run: must not be negative"),
    ],
)
def test_of_a_field_of_several_kinds_the_kind_that_was_sent_is_told(on_both: Api, sent: Any, said: str):
    path = "/api/v1/workspaces/vision/quotas/a/centre"
    answer = on_both.ask("PUT", path, json={"longest_run": sent}, headers={"If-Match": "*"})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(said), answer.json()


@pytest.mark.parametrize("path", ["/events", "/events/stream"])
def test_a_kind_of_event_that_does_not_exist_is_refused_by_name(on_both: Api, path: str):
    """A reader would wait for it in vain."""
    answer = on_both.ask("GET", f"/api/v1{path}?kind=job.started&kind=job.satrted")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(
        "query.kind: 'job.satrted': there is no such event; there are job.alarm,"
    )


def patched(api: Api, body: Any) -> Any:
    answer = api.ask("PATCH", "/api/v1/quotas/team", json=body)
    assert answer.status_code == 422
    return answer.json()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"self_level": {"high": "urgent", "low": 1}}, "self_level.high"),
        ({"child_level": {"priorities": None}}, "child_level.priorities"),
        ({"self_level": {"high": None, "low": None}}, "self_level.high"),
        ({"self_level": [{"enabled": False}, {"enabled": True}]}, "self_level[0]"),
        (
            {"SubQuotaPreemptionConfig": {"PreemptedPriorityUpperBound": "urgent", "PreemptedProducts": ["DLC"]}},
            "SubQuotaPreemptionConfig.PreemptedPriorityUpperBound",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_policy_is_told_by_the_name_it_was_said_by(on_both: Api, body: Any, field: str):
    assert patched(on_both, body)["field"] == field


def test_two_groups_of_one_name_are_refused(on_both: Api):
    said = {
        "workspace": "vision",
        "quota": "a",
        "groups": [{"gpus": 1, "name": "x"}, {"gpus": 1, "name": "x"}],
    }
    answer = on_both.post("/jobs", said)
    assert answer.status_code == 422
    assert "two groups are called x" in answer.json()["detail"]
