"""Event streams: in order, without loss or repetition over a break, and only what is the reader's."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from quotatree.access.directory import Directory
from quotatree.access.redaction import reader
from quotatree.access.values import User
from quotatree.api.routes import events
from quotatree.store.rows import EventRow
from tests.api.serving import Api, job


class Stream:
    def __init__(self, api: Api, port: int, user: str, query: str = "", last: int | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
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


def figures(stream: Stream) -> list[str]:
    """The quotas of the next event of figures, which has no number."""
    before = ""
    for line in stream.lines():
        if before == "event: quota.figures":
            told: list[str] = json.loads(line.removeprefix("data: "))["quotas"]
            return told
        assert not line.startswith("id:"), "an event of another kind"
        before = line
    raise AssertionError("the stream has ended")


def test_work_of_others_tells_a_reader_that_figures_changed_and_nothing_else(api: Api, port: int):
    """W2, Q7: of a sibling's work a member learns only that something below the quota above both has changed."""
    theirs = Stream(api, port, "eve", "?figures=true&kind=quota.figures")
    whole = Stream(api, port, "root", "?figures=true&kind=quota.figures")
    assert next(theirs.lines()) == next(whole.lines()) == ": listening"
    api.submit(on_hold=True)
    assert figures(theirs) == ["team"]
    assert figures(whole) == ["a"]
    theirs.close()
    whole.close()


def test_figures_are_told_at_most_once_a_second():
    told = events.Figures()
    tree = {"team": None, "a": "team"}
    reads = reader(Directory().with_user(User("r", platform_admin=True)), "r", tree, lambda _: None)
    row = EventRow(1, 0, "job.started", "vision", "a", "dlc-1", {})
    assert told.wait_seconds(100.0) is None
    told.note([row], reads)
    assert told.wait_seconds(100.0) == 0
    assert told.told(100.0) == 'event: quota.figures\ndata: {"quotas":["a"]}\n\n'
    assert told.wait_seconds(100.2) is None
    told.note([row, row], reads)
    assert told.wait_seconds(100.2) == pytest.approx(0.8)
    assert told.wait_seconds(101.5) == 0
