"""A watch goes on where it was cut."""

from __future__ import annotations

import httpx2
import pytest

from quotatree.client import errors
from tests.client.answering import Server, problem


def stream(*events: int, status: int = 200) -> httpx2.Response:
    text = ": listening\n\n" + "".join(
        f'id: {seq}\nevent: job.started\ndata: {{"seq": {seq}, "kind": "job.started"}}\n\n' for seq in events
    )
    return httpx2.Response(status, content=text.encode(), headers={"Content-Type": "text/event-stream"})


def test_a_watch_goes_on_where_it_was_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("quotatree.client.history.PAUSE_SECONDS", 0)
    server = Server(stream(5, 6), httpx2.ConnectError("cut"), stream(7))
    opened: list[int] = []
    events = server.client().events.watch(after=4, opened=lambda: opened.append(1))
    assert [next(events)["seq"] for _ in range(3)] == [5, 6, 7]
    assert [dict(request.url.params)["after"] for request in server.asked] == ["4", "6", "6"]
    assert len(opened) == 2


def test_a_watch_that_is_not_allowed_ends():
    with pytest.raises(errors.Unauthenticated):
        next(Server(problem(401, "Unauthenticated")).client().events.watch())
