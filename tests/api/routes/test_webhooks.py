"""A webhook's address is one that a delivery can go to, and those who manage it see what became of the last one (E4)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from quotatree.api.app import create_app
from quotatree.control.outbox import LastTry
from tests.api.serving import Api

HOOK = {"id": "chat", "url": "http://example.org/x", "secret": "0123456789abcdef", "workspace": "vision"}


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://[", "http://a:99999", "http://[::1]x:y/", "http://u:p@a/", "http:///"]
)
def test_an_address_that_is_none_is_refused_with_the_field(shared: Api, url: str):
    """`http://[::1` was a 500."""
    answer = shared.post("/webhooks", {**HOOK, "url": url})
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"] == "url"
    assert "[E4]" in answer.json()["detail"] or answer.json()["rule"] == "E4"


def test_the_last_try_is_seen_by_those_who_manage_the_webhook(api: Api):
    assert api.post("/webhooks", HOOK).status_code == 201
    assert api.get("/webhooks/chat", "ada").json()["last"] is None
    found = LastTry(5, None, "NoAnswer: the receiver does not speak HTTP")
    told = TestClient(
        create_app(replace(api.services, last_try=lambda hook: found if hook.id == "chat" else None))
    )
    headers = {"Authorization": f"Bearer {api.token('ada')}"}
    said = {"at_ms": 5, "status": None, "error": "NoAnswer: the receiver does not speak HTTP"}
    assert told.get("/api/v1/webhooks/chat", headers=headers).json()["last"] == said
    assert [one["last"] for one in told.get("/api/v1/webhooks", headers=headers).json()["items"]] == [said]
    assert (
        told.get("/api/v1/webhooks/chat", headers={"Authorization": f"Bearer {api.token('ann')}"}).status_code
        == 404
    )
