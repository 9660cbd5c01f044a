"""What is sent, and when it is sent again."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from quotatree.client import errors
from quotatree.client.transport import TRIES, Transport
from tests.client.answering import Server, problem


def test_a_read_is_repeated_until_it_works():
    server = Server(
        httpx2.ConnectError("no"), problem(503, "Unavailable"), httpx2.Response(200, json={"items": []})
    )
    assert server.client().quotas.list() == []
    assert server.slept == [0.2, 2.0], "the server's own wish to wait is followed"


def test_a_create_is_repeated_with_the_same_key():
    server = Server(httpx2.ReadTimeout("slow"), httpx2.Response(201, json={"id": "dlc-1", "repeated": True}))
    server.client().jobs.submit({"workspace": "w", "quota": "q", "groups": [{"gpus": 1}]})
    keys = [request.headers["Idempotency-Key"] for request in server.asked]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_change_without_a_key_is_sent_once():
    server = Server(httpx2.ReadTimeout("slow"))
    with pytest.raises(errors.NotReachable):
        server.client().quotas.scale("q", {"min": {"gpus": 1}})
    assert len(server.asked) == 1


def test_it_gives_up_after_a_few_tries():
    server = Server(*[problem(503, "Unavailable")] * TRIES)
    with pytest.raises(errors.Unavailable):
        server.client().whoami()
    assert len(server.asked) == TRIES


@pytest.mark.parametrize("gpus", [float("nan"), float("inf"), {1}, "\ud800"])
def test_what_json_cannot_say_is_not_sent(gpus: Any) -> None:
    server = Server()
    with pytest.raises(errors.NotSent):
        server.client().jobs.submit({"workspace": "w", "quota": "q", "groups": [{"gpus": gpus}]})
    assert not server.asked


@pytest.mark.parametrize("text", ["é", "a\nb"])
def test_a_header_has_only_printable_ascii_and_the_secret_is_not_told(text: str) -> None:
    with pytest.raises(errors.NotSent) as refused:
        Transport("http://127.0.0.1:1", text)
    assert text not in str(refused.value)
    with pytest.raises(errors.NotSent):
        Server().client().jobs.submit({"workspace": "w", "quota": "q", "groups": [{"gpus": 1}]}, key=text)
