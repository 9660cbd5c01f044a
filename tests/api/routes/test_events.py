"""Event streams: in order, without loss or repetition over a break, and only what is the reader's."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from quotatree.api.routes import events
from tests.api.serving import Api, job


class Stream:
    def __init__(self, api: Api, port: int, user: str, query: str = "", last: int | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        headers = {"Authorization": f"Bearer {api.token(user)}"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self._connection.request("GET", f"/api/v1/events/stream{query}", headers=headers)
        self.response = self._connection.getresponse()
        assert self.response.status == 200

    def lines(self) -> Iterator[str]:
        while line := self.response.readline():
            yield line.decode().rstrip("\n")

    def take(self, count: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for line in self.lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                break
        return found

    def close(self) -> None:
        self._connection.close()


def test_a_stream_goes_on_where_it_was_cut_off(api: Api, port: int):
    first = Stream(api, port, "ann")
    assert next(first.lines()) == ": listening"
    api.submit(on_hold=True)
    seen = first.take(1)
    first.close()
    for _ in range(5):
        api.submit(on_hold=True)
    second = Stream(api, port, "ann", last=seen[-1]["seq"])
    for _ in range(5):
        api.submit(on_hold=True)
    wanted = [
        one["seq"] for one in api.get(f"/events?after={seen[0]['seq'] - 1}&limit=500", "ann").json()["items"]
    ]
    seen += second.take(len(wanted) - 1)
    second.close()
    assert [one["seq"] for one in seen] == wanted
    assert len(wanted) == 11


def test_each_reader_sees_what_is_his(api: Api, port: int):
    theirs, mine = Stream(api, port, "eve"), Stream(api, port, "ann", "?kind=job.submitted")
    for stream in (theirs, mine):
        assert next(stream.lines()) == ": listening"
    vision = api.submit(on_hold=True)
    speech = api.post("/jobs", job(workspace="speech", quota="b", on_hold=True), "eve").json()["id"]
    again = api.submit(on_hold=True)
    assert {one["job"] for one in theirs.take(1)} == {speech}
    assert [one["job"] for one in mine.take(2)] == [vision, again]
    for stream in (theirs, mine):
        stream.close()


def test_a_quiet_stream_has_a_heartbeat_and_ends_with_its_token(
    api: Api, port: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.05)
    stream = Stream(api, port, "ann")
    lines = stream.lines()
    told = [next(lines) for _ in range(5)]
    assert told[0] == ": listening"
    assert told[2].startswith(": ")
    (token,) = api.get("/tokens", "ann").json()["items"]
    api.ask("DELETE", f"/api/v1/tokens/{token['id']}", "ann")
    assert len(list(lines)) < 100  # it ends
    stream.close()


def test_pages_of_events_rise_over_what_is_not_ones_own(api: Api):
    start = api.get("/events?limit=500", "eve").json()["last"]
    for _ in range(3):
        api.submit(on_hold=True)
    page = api.get(f"/events?after={start}", "eve").json()
    assert page["items"] == []
    assert page["last"] == start + 3
    step = api.get(f"/events?after={start}&limit=2", "ann").json()
    assert len(step["items"]) == 2
    assert step["last"] == step["items"][-1]["seq"]
