"""What jobs print, and where they answer (E3): any bytes, in order, by offset; live; and only for whom it is."""

from __future__ import annotations

import dataclasses
import http.client
import threading
from typing import Any

import pytest
from starlette.testclient import TestClient

from quotatree.api.log_stream import PIECE_BYTES, start_of_last_lines
from quotatree.client import Client
from quotatree.control.commands import values as do
from quotatree.control.load_world import world_from
from quotatree.core import JobId, Settings
from quotatree.engines.base import LogPiece
from tests.api.serving import Api, app_of, job, wait_for
from tests.api.talking import TOKEN

ANY_BYTES = bytes(range(256)) * 3


def running(api: Api, user: str = "ann", **changes: Any) -> str:
    found = api.submit(user, **{"groups": [{"cpu": 0.001}], **changes})
    api.wait_phase(found, "Running")
    return found


class Follower:
    """A connection that reads as slowly as the test wants."""

    def __init__(self, api: Api, port: int, path: str, user: str = "ann") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Authorization": f"Bearer {api.token(user)}"}
        self._connection.request("GET", f"/api/v1{path}", headers=headers)
        self.response = self._connection.getresponse()
        assert self.response.status == 200

    def take(self, count: int) -> bytes:
        return self.response.read(count)

    def rest(self) -> bytes:
        try:
            return self.response.read()
        finally:
            self.close()

    def close(self) -> None:
        self.response.close()
        self._connection.close()


def test_any_bytes_come_as_they_were_printed(shared: Api):
    name = running(shared)
    shared.engine.prints(name, ANY_BYTES)
    answer = shared.get(f"/jobs/{name}/logs", "ann")
    assert answer.content == b"hello\n" + ANY_BYTES
    assert answer.headers["Content-Type"] == "application/octet-stream"
    told = {key: answer.headers[f"X-Log-{key}"] for key in ("Offset", "End", "Closed", "Run")}
    assert told == {"Offset": "0", "End": str(6 + len(ANY_BYTES)), "Closed": "false", "Run": "1"}


def test_a_part_by_offset_and_limit(shared: Api):
    name = running(shared)
    shared.engine.prints(name, b"0123456789" * 20)
    answer = shared.get(f"/jobs/{name}/logs?offset=8&limit=100", "ann")
    assert (answer.content, answer.headers["X-Log-Offset"]) == ((b"0123456789" * 20)[2:102], "8")
    assert shared.get(f"/jobs/{name}/logs?offset=100000", "ann").content == b""


def test_the_offset_says_what_was_thrown_away(shared: Api):
    name = running(shared)
    shared.engine.prints(name, b"x" * 100)
    shared.engine.throws_away(name, 50)
    answer = shared.get(f"/jobs/{name}/logs?offset=10", "ann")
    assert (answer.headers["X-Log-Offset"], len(answer.content)) == ("50", 56)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (0, b""),
        (1, b"the end"),
        (2, b"99\nthe end"),
        (101, b"0\n"),
        (102, b"hello\n0\n"),
        (5000, b"hello\n0\n"),
    ],
)
def test_the_last_lines(shared: Api, lines: int, expected: bytes):
    name = running(shared)
    shared.engine.prints(name, b"".join(b"%d\n" % i for i in range(100)) + b"the end")
    answer = shared.get(f"/jobs/{name}/logs?tail_lines={lines}", "ann").content
    assert answer[: len(expected)] == expected
    assert answer == b"" or answer.endswith(b"the end")
    assert answer.count(b"\n") == max(min(lines, 102) - 1, 0)


@pytest.mark.parametrize("ends", [b"", b"\n"])
@pytest.mark.parametrize("lines", [1, 2, 3, 700, 4000])
def test_the_last_lines_of_a_log_of_many_pieces(ends: bytes, lines: int):
    whole = b"\n".join(b"%0200d" % i for i in range(2000)) + ends
    assert len(whole) > 5 * PIECE_BYTES
    kept = 10_000  # what lies before was thrown away

    def log(offset: int, limit: int) -> LogPiece:
        start = max(kept, len(whole) + offset if offset < 0 else offset)
        return LogPiece(start, whole[start : start + min(limit, 5000)], len(whole), True)

    start = start_of_last_lines(log, lines)
    there = whole[kept:].removesuffix(b"\n").split(b"\n")
    assert start is not None
    assert whole[start:].removesuffix(b"\n").split(b"\n") == there[-lines:]


def test_each_replica_and_each_run_has_its_own(shared: Api):
    name = running(shared, groups=[{"cpu": 0.001, "replicas": 2}])
    shared.engine.prints(name, b"of one", replica=1)
    assert shared.get(f"/jobs/{name}/logs?replica=1&run=1", "ann").content == b"hello\nof one"
    for query in ("replica=2", "run=2"):
        missing = shared.get(f"/jobs/{name}/logs?{query}", "ann")
        assert (missing.status_code, "no output of replica" in missing.text) == (404, True)


def test_what_cannot_be_asked(shared: Api):
    name = running(shared)
    assert shared.get(f"/jobs/{name}/logs?offset=1&tail_lines=1", "ann").status_code == 422
    for query in ("offset=-1", "limit=0", "tail_lines=1000000", "replica=-1", "run=0", "follow=perhaps"):
        assert shared.get(f"/jobs/{name}/logs?{query}", "ann").status_code == 422
    waiting = shared.submit(on_hold=True)
    assert "has not started yet" in shared.get(f"/jobs/{waiting}/logs", "ann").json()["detail"]


def test_a_follower_sees_what_is_printed_and_ends_with_the_log(api: Api, port: int):
    name = running(api)
    follower = Follower(api, port, f"/jobs/{name}/logs?follow=true")
    assert follower.take(6) == b"hello\n"
    api.engine.prints(name, b"live\x00\xff")
    assert follower.take(6) == b"live\x00\xff"
    api.engine.prints(name, b"last words")
    api.engine.closes(name)
    assert follower.rest() == b"last words"


def test_a_follower_who_goes_is_not_read_for_any_more(api: Api, port: int, monkeypatch: pytest.MonkeyPatch):
    name = running(api)
    asked = threading.Event()
    log = api.engine.log

    def noted(*words: Any) -> Any:
        asked.set()
        return log(*words)

    monkeypatch.setattr(api.engine, "log", noted)
    follower = Follower(api, port, f"/jobs/{name}/logs?follow=true")
    assert follower.take(6) == b"hello\n"
    follower.close()

    def quiet() -> bool:
        """A follower asks at least once a second."""
        asked.clear()
        return not asked.wait(1.5)

    wait_for(quiet)


def test_a_follower_who_does_not_read_is_waited_for(api: Api, port: int, monkeypatch: pytest.MonkeyPatch):
    """Back-pressure: what he does not take is not read from the engine."""
    name = running(api)
    api.engine.most_bytes = PIECE_BYTES
    api.engine.prints(name, b"x" * (64 << 20))
    most = 0
    log = api.engine.log

    def noted(job_id: Any, run: int, replica: int, offset: int, limit: int) -> Any:
        nonlocal most
        most = max(most, offset)
        return log(job_id, run, replica, offset, limit)

    monkeypatch.setattr(api.engine, "log", noted)
    follower = Follower(api, port, f"/jobs/{name}/logs?follow=true")
    follower.take(10)
    seen = -1

    def stands() -> bool:
        nonlocal seen
        before, seen = seen, most
        return before == seen > 0 or threading.Event().wait(0.3)

    wait_for(stands)
    assert most < 32 << 20
    api.engine.closes(name)
    assert len(follower.rest()) == 6 + (64 << 20) - 10


def test_who_loses_the_right_reads_no_further(api: Api, port: int):
    """W2: a token that is revoked in the middle of a stream ends it."""
    made = api.post("/tokens", {"name": "short"}, "ann").json()
    name = running(api)
    api.tokens["ann"], before = made["token"], api.token("ann")
    follower = Follower(api, port, f"/jobs/{name}/logs?follow=true")
    assert follower.take(6) == b"hello\n"
    api.do(do.RevokeToken(actor="ann", token=made["id"]))
    api.tokens["ann"] = before
    api.engine.prints(name, b"a secret of later")
    assert follower.rest() == b""


def test_the_client_reads_on_over_gaps_and_breaks(api: Api, port: int):
    name = running(api)
    lost: list[int] = []
    with Client(f"http://127.0.0.1:{port}", api.token("ann")) as client:
        following = client.jobs.logs(name, follow=True, gap=lost.append)
        assert next(following) == b"hello\n"
        api.engine.prints(name, b"x" * 100)
        api.engine.throws_away(name, 56)
        api.engine.closes(name)
        assert b"".join(following) == b"x" * 50
        assert b"".join(client.jobs.logs(name, tail_lines=0)) == b""
        assert b"".join(client.jobs.logs(name, offset=100, limit=3)) == b"xxx"
    assert lost == [50]


def test_the_token_of_a_notebook_is_for_those_who_may_open_it(shared: Api):
    name = running(shared, module="DSW", groups=[{"cpu": 0.001}])
    told = {user: shared.get(f"/jobs/{name}/endpoint", user).json() for user in ("ann", "pat", "vic", "root")}
    assert {one["address"] for one in told.values()} == {f"http://127.0.0.1:1/{name}"}
    assert {user: one["token"] for user, one in told.items()} == {
        "ann": TOKEN, "pat": TOKEN, "vic": None, "root": TOKEN,
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {shared.token('ann', read_only=True)}"}
    seen = shared.client.get(f"/api/v1/jobs/{name}/endpoint", headers=headers).json()
    assert (seen["address"] is not None, seen["token"]) == (True, None)


def test_what_does_not_run_has_no_address(shared: Api):
    name = shared.submit(on_hold=True)
    found = shared.get(f"/jobs/{name}/endpoint", "ann").json()
    assert found == {"address": None, "token": None, "ready": 0, "in_flight": None, "unready": []}


SECRET = "swordfish-7Q"


def test_a_secret_reaches_the_engine_and_nobody_else(api: Api, capfd: pytest.CaptureFixture[str]):
    """Every answer that the API has about a job, its problems and the server's log; only the engine may know."""
    program = {"command": ["train"], "secrets": {"KEY": SECRET}, "seconds": 0.01}
    name = api.submit(program=program)
    api.wait_phase(name, "Succeeded")
    assert [order.program["secrets"]["KEY"] for order in api.engine.started] == [SECRET]
    assert SECRET not in repr(api.engine.started)

    answers = [api.get(f"/jobs/{name}{part}") for part in ("", "/runs", "/history", "/endpoint", "/logs")]
    lists = ("/jobs", "/events", "/audit", "/snapshot", "/preemptions", "/webhooks", "/quotas/a/queue")
    answers += [api.get(path) for path in lists]
    assert all(answer.status_code == 200 for answer in answers)
    assert api.get(f"/jobs/{name}").json()["program"]["secrets"] == {"KEY": "***"}

    refused = [
        api.post("/jobs", job(program={**program, "bad": 1}), "ann"),
        api.post("/jobs", job(program={**program, "seconds": "x"}), "ann"),
        api.post("/jobs", job(program={"secrets": {"KEY": [SECRET]}}), "ann"),
        api.post("/jobs", job(program={"secrets": SECRET}), "ann"),
        api.post("/jobs", job(program=program, priority=99), "ann"),
        api.post("/jobs", job(program=program, unknown=SECRET), "ann"),
        api.post("/jobs/batch", {"jobs": [job(program={**program, "bad": 1})]}, "ann"),
    ]
    preview = {"changes": [{"change": "submit", "job": job(program=program)}]}
    answers += [*refused, api.post("/previews", preview, "ann")]
    assert [answer.status_code for answer in refused] == [422] * 6 + [200]
    said = capfd.readouterr()
    for text in [answer.text for answer in answers] + [said.out, said.err]:
        assert SECRET not in text


def test_a_secret_survives_a_restart_of_the_server(api: Api):
    """It is stored with the job: one that waits now must have it when it starts, whoever leads then."""
    name = api.submit(program={"secrets": {"KEY": SECRET}}, on_hold=True)
    program = world_from(api.store.load(Settings())).cards[JobId(name)].program
    assert (program["secrets"]["KEY"], SECRET in repr(program)) == (SECRET, False)


def test_a_link_has_the_host_of_jobs(shared: Api):
    """A host that is not the console's, so that the two share no cookies."""
    name = running(shared, module="DSW", groups=[{"cpu": 0.001}])
    elsewhere = app_of(dataclasses.replace(shared.services, job_host="{job}.jobs.example.org"))
    headers = {"Authorization": f"Bearer {shared.token('ann')}"}
    seen = TestClient(elsewhere).get(f"/api/v1/jobs/{name}/endpoint", headers=headers).json()
    assert seen["address"] == f"http://{name}.jobs.example.org:1/{name}"
