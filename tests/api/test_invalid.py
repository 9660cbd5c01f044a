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
