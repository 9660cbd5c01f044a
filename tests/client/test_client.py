"""The client by itself: pages, versions and addresses."""

from __future__ import annotations

import httpx2
import pytest

from quotatree.client import Client, ClientError
from tests.client.answering import Server, page


def test_lists_turn_their_pages():
    server = Server(page("a", "b", following="c1"), page("c"))
    assert [job["id"] for job in server.client().jobs.list(phase=("Waiting",), positions=True)] == [
        "a",
        "b",
        "c",
    ]
    first, second = (dict(request.url.params) for request in server.asked)
    assert first["phase"] == "Waiting"
    assert first["positions"] == "true"
    assert "cursor" not in first
    assert second["cursor"] == "c1"


def test_a_list_ends_at_most_there():
    server = Server(page("a", "b", following="c1"))
    assert len(list(server.client().jobs.list(most=2))) == 2


def test_versions_and_names():
    server = Server(*[httpx2.Response(200, json={"id": "q", "version": 4})] * 2)
    client = server.client()
    client.quotas.update("a/b?c", {"lending": False}, version=3)
    client.quotas.set_policies("q", {"strategy": "fifo"})
    assert server.asked[0].url.raw_path == b"/api/v1/quotas/a%2Fb%3Fc"
    assert [request.headers["If-Match"] for request in server.asked] == ['"3"', "*"]


def test_a_bad_address_is_a_client_error():
    with pytest.raises(ClientError):
        Client("http://[", "t").whoami()
