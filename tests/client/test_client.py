"""The client by itself: what is sent, when it is sent again, and what errors become."""

from __future__ import annotations

import json

import httpx2
import pytest

from docs import generate_client_types
from quotatree.client import Client, ClientError, errors
from quotatree.client.transport import TRIES


class Server:
    """Answers what it was told to, and remembers what it was asked."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx2.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self) -> Client:
        return Client("http://server", "qt_x", http=httpx2.MockTransport(self), sleep=self.slept.append)


def problem(status: int, code: str, **more: object) -> httpx2.Response:
    body = {"type": "urn:x", "title": "T", "status": status, "detail": "because", "code": code, **more}
    headers = {"Content-Type": "application/problem+json", "Retry-After": "2"}
    return httpx2.Response(status, content=json.dumps(body), headers=headers)


def page(*names: str, following: str | None = None) -> httpx2.Response:
    return httpx2.Response(200, json={"items": [{"id": name} for name in names], "next": following})


def test_types_are_those_of_the_description():
    written = generate_client_types.MODULE.read_text(encoding="utf-8")
    assert written == generate_client_types.module(), "run python docs/generate_client_types.py"


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


def test_a_refusal_is_not_repeated_and_says_what_and_why():
    server = Server(problem(422, "Refused", field="min.gpus", value=9, rule="Q3"))
    with pytest.raises(errors.Refused) as told:
        server.client().quotas.create({"id": "q"})
    assert (told.value.field, told.value.value, told.value.rule) == ("min.gpus", 9, "Q3")
    assert len(server.asked) == 1


@pytest.mark.parametrize(("code", "kind"), sorted(errors.BY_CODE.items()))
def test_every_code_has_its_error(code: str, kind: type[errors.ApiError]):
    with pytest.raises(kind):
        Server(*[problem(400, code)] * TRIES).client().whoami()


def test_every_problem_of_the_api_is_known_or_a_fault():
    from quotatree.api.problems import PROBLEMS

    assert set(PROBLEMS) - set(errors.BY_CODE) <= {"Fault", "MethodNotAllowed"}
    assert set(errors.BY_CODE) <= set(PROBLEMS)


@pytest.mark.parametrize(
    "answer", [httpx2.Response(200, content=b"<html>"), httpx2.Response(404, json={"a": 1})]
)
def test_what_is_not_our_server_is_told(answer: httpx2.Response):
    with pytest.raises(errors.BadAnswer):
        Server(answer).client().whoami()


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


def test_a_bad_address_is_a_client_error():
    with pytest.raises(ClientError):
        Client("http://[", "t").whoami()
