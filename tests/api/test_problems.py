"""Whatever is sent, the answer says what is wrong and never that we broke: malformed, huge, deep, wrong, unknown (E5)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from quotatree.api.problems import PROBLEMS, URN
from quotatree.api.services import Limits
from quotatree.store.pages import make_cursor
from tests.api.serving import Api, job, serving

JSON = {"Content-Type": "application/json"}


def send(api: Api, content: bytes, headers: dict[str, str] = JSON, path: str = "/api/v1/jobs") -> Any:
    return api.ask("POST", path, "ann", content=content, headers=headers)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Invalid"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"name": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested"),
        (b"[" * 40 + b"]" * 40, "nested"),
        (b'{"priority": NaN}', "NaN"),
        (b'{"priority": 1e999}', "too large"),
        (b'{"priority": ' + b"9" * 5000 + b"}", "too large"),
        (b'{"priority": 9223372036854775808}', "too large"),
        (b'{"name": "a\\u0000b"}', "NUL"),
        (b'{"name": "\\ud800"}', "surrogate"),
        (b'{"a\\u0000": 1}', "NUL"),
    ],
)
def test_a_body_that_cannot_be_read(on_both: Api, content: bytes, said: str):
    answer = send(on_both, content)
    assert answer.status_code == (422 if said == "Invalid" else 400), answer.text
    assert said in answer.text


def test_only_json_is_taken(on_both: Api):
    body = json.dumps(job()).encode()
    for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        assert send(on_both, body, {"Content-Type": media}).status_code == 415
    assert send(on_both, body, {"Content-Type": "application/json; charset=utf-8"}).status_code == 201


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(tmp_path_factory.mktemp("small"), limits=Limits(body_bytes=2000)) as api:
        yield api


def test_a_huge_body_is_not_read_to_its_end(small: Api):
    """Neither one that says its length nor one that comes in pieces and does not."""
    assert send(small, json.dumps(job()).encode()).status_code == 201
    read = 0

    def pieces() -> Iterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 1000
            yield b" " * 1000

    assert send(small, b" " * 2001).json()["code"] == "TooLarge"
    token = {"Authorization": f"Bearer {small.token('ann')}"}
    answer = small.client.post("/api/v1/jobs", content=pieces(), headers={**JSON, **token})
    assert (answer.status_code, answer.json()["code"]) == (413, "TooLarge")


def test_nothing_is_read_of_a_stranger(small: Api):
    answer = small.ask("POST", "/api/v1/jobs", None, content=b" " * 5000, headers=JSON)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"priority": 0}, "priority"),
        ({"priority": 10}, "priority"),
        ({"priority": "5"}, "priority"),
        ({"priority": True}, "priority"),
        ({"priority": 5.0}, "priority"),
        ({"module": "XXX"}, "module"),
        ({"groups": []}, "groups"),
        ({"groups": [{"gpus": -1}]}, "groups.0.gpus"),
        ({"groups": [{"gpus": "1"}]}, "groups.0.gpus"),
        ({"groups": [{"gpus": 0.0001}]}, "groups.0.gpus"),
        ({"groups": [{"gpus": 1e300}]}, "groups.0.gpus"),
        ({"groups": [{"gpus": 1e308}]}, "groups.0.gpus"),
        ({"groups": [{"memory": "64G"}]}, "groups.0.memory"),
        ({"groups": [{"memory": "9" * 400 + "Ti"}]}, "groups.0.memory"),
        ({"groups": [{"memory": 5}]}, "groups.0.memory"),
        ({"groups": [{"gpus": 1, "colour": "red"}]}, "groups.0.colour"),
        ({"groups": [{"gpus": 1, "replicas": 0}]}, "groups.0.replicas"),
        ({"grace": "5"}, "grace"),
        ({"grace": "-5s"}, "grace"),
        ({"grace": "99999999d"}, "grace"),
        ({"name": "Bad Name"}, "name"),
        ({"workspace": "../etc"}, "workspace"),
        ({"workspace": "a" * 64}, "workspace"),
        ({"program": []}, "program"),
        ({"colour": "red"}, "colour"),
        ({"requeue": "yes"}, "requeue"),
    ],
)
def test_a_field_that_is_not_what_it_must_be_is_named(on_both: Api, change: dict[str, Any], field: str):
    answer = on_both.post("/jobs", {**job(), **change}, "ann")
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert answer.json()["errors"][0]["message"]


@pytest.mark.parametrize(
    ("change", "value", "allowed"),
    [
        ({"priority": 12}, 12, "must be at most 9"),
        ({"priority": 0}, 0, "must be at least 1"),
        ({"name": "my job"}, "my job", "must be at most 63 lower-case letters, digits, '-' and '.'"),
        ({"workspace": "a b"}, "a b", "must be 1 to 63 letters, digits"),
        ({"module": "dlc"}, "dlc", "must be 'DLC', 'DSW' or 'EAS'"),
        ({"priorty": 3}, None, "no such field; there are workspace, quota, groups,"),
        ({"groups": [{"gpu": 1}]}, None, "no such field; there are replicas, gpus, cpu,"),
        ({"groups": None}, None, "must be a list"),
        (
            {"groups": [5]},
            5,
            "must be an object with some of replicas, gpus, cpu, memory, models, labels, name",
        ),
        ({"groups": [{"replicas": "3"}]}, "3", "must be a whole number, not a text"),
        ({"autoscale": 5}, 5, "must be an object with some of min, max, target, down_after"),
        ({"requeue": "yes"}, "yes", "must be true or false, not a text"),
        ({"priority": None}, None, "must be a priority, 1 to 9, or the name of one"),
        ({"priority": "5"}, "5", "must be a priority, 1 to 9, or the name of one"),
    ],
)
def test_it_is_said_what_was_sent_and_what_is_allowed(
    on_both: Api, change: dict[str, Any], value: Any, allowed: str
):
    said = on_both.post("/jobs", {**job(), **change}, "ann").json()
    assert said.get("value") == value
    assert allowed in said["errors"][0]["message"], said


def test_the_fields_of_one_change_among_several_kinds_are_told(on_both: Api):
    changes = [{"change": "update-quota", "quota": "a", "to": {"stratgy": "fifo"}}]
    said = on_both.post("/previews", {"changes": changes}).json()
    assert "no such field; there are strategy, self_level, " in said["detail"], said
    assert "EnableSubQuotaPreemption" in said["detail"], "PAI's fields by PAI's names"
    assert "pai_" not in said["detail"]
    rules: list[Any] = [{"change": "centre", "workspace": "vision", "quota": "a", "module": ["DLC"]}]
    said = on_both.post("/previews", {"changes": rules}).json()
    assert said["detail"].endswith(
        "there are modules, roles, amounts, ceilings, longest_run, longest_wait"
    ), said
    rules = [
        {"change": "centre", "workspace": "vision", "quota": "a", "ceilings": [{"who": "ann", "priority": 5}]}
    ]
    assert (
        "must be role:<role> or user:<name>" in on_both.post("/previews", {"changes": rules}).json()["detail"]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"change": "create-quota", "quota": {"id": "x", "parent": "team", "draws": {"default": {"gpus": 1}}}}, "only a root draws"),
        ({"change": "create-quota", "quota": {"id": "x", "draws": {"nosuch": {"gpus": 1}}}}, "no such pool; there are: p"),
        ({"change": "scale", "quota": "team", "draws": {"nosuch": {"gpus": 1}}}, "a root keeps its pools"),
        ({"change": "update-quota", "quota": "a", "to": {"weight": 48}}, "must be an object with some of gpus, cpu, memory"),
    ],
)  # fmt: skip
def test_a_refusal_shows_nothing_of_how_things_are_kept(on_both: Api, change: Any, said: str):
    answer = on_both.post("/previews", {"changes": [change]}).json()
    assert said in answer["detail"], answer
    assert "Bounds(" not in str(answer)
    assert "[" not in answer["detail"]


def test_a_secret_is_not_said_back(on_both: Api):
    said = on_both.post("/jobs", {**job(), "program": "swordfish"}, "ann")
    assert (said.status_code, "swordfish" in said.text) == (422, False)


def test_a_rule_that_refuses_names_field_value_and_rule(on_both: Api):
    said = on_both.post("/jobs", job(gpus=1.5), "ann").json()
    assert (said["code"], said["field"], said["value"], said["rule"]) == ("Refused", "gpus", 1.5, "R1")
    said = on_both.post("/jobs", job(quota="b"), "ann").json()
    assert (said["code"], said["rule"]) == ("Refused", "W1")


@pytest.mark.parametrize(
    "path",
    [
        "/jobs?limit=0",
        "/jobs?limit=501",
        "/jobs?limit=x",
        "/jobs?phase=Nope",
        "/jobs?owner=%00",
        "/jobs?submitted_from_ms=-1",
        "/jobs?submitted_from_ms=" + "9" * 30,
        "/jobs/no-such-shape",
        "/quotas/%00",
        "/quotas/%ff",
        "/events?after=-1",
        "/audit?target=%00",
        "/audit?action=%00",
        "/jobs?cursor=%00",
    ],
)
def test_a_bad_query_is_refused(on_both: Api, path: str):
    answer = on_both.get(path)
    assert answer.status_code == 422, answer.text
    check_problem(answer)


def test_a_cursor_is_good_for_its_own_list_only(on_both: Api):
    for _ in range(3):
        on_both.submit()
    first = on_both.get("/jobs?limit=1&workspace=vision").json()
    assert first["next"]
    second = on_both.get(f"/jobs?limit=1&workspace=vision&cursor={first['next']}").json()
    assert second["items"][0]["id"] != first["items"][0]["id"]
    for path in (
        f"/jobs?cursor={first['next']}",
        f"/audit?cursor={first['next']}",
        "/jobs?cursor=xxxx",
        "/jobs?cursor=W10",
    ):
        answer = on_both.get(path)
        assert (answer.status_code, answer.json()["code"]) == (400, "BadCursor"), path


def test_a_cursor_that_was_tampered_with_is_a_bad_cursor_on_either_store(on_both: Api):
    """What a database would choke on never reaches it: it would look as if the store were away, or as a bug of ours."""
    for _ in range(2):
        on_both.submit()
    jobs, audit = (on_both.get(f"{path}?limit=1").json()["next"] for path in ("/jobs", "/audit"))
    queue = make_cursor(("queue", "a"), [1])
    tampered = [
        *(("/jobs", changed(jobs, *last)) for last in (["x", "y"], [1, 1], [1, "a\0b"], [1, "\ud800"], [True, "a"])),
        *(("/audit", changed(audit, *last)) for last in (["x"], [None], [1 << 63], [1.5], [])),
        *(("/quotas/a/queue", changed(queue, last)) for last in ((1 << 63) - 1, (1 << 53) + 1, -1, "x")),
    ]  # fmt: skip
    for path, cursor in tampered:
        answer = on_both.get(f"{path}?cursor={cursor}")
        assert (answer.status_code, answer.json()["code"]) == (400, "BadCursor"), (path, answer.text)
    assert on_both.get(f"/quotas/a/queue?cursor={changed(queue, 1 << 53)}").json()["items"] == []


def changed(cursor: str, *last: object) -> str:
    """The same cursor, after another entry."""
    asked = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))[0]
    return base64.urlsafe_b64encode(json.dumps([asked, *last]).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "header", ["Basic abc", "Bearer", "Bearer x", "Bearer qt_" + "x" * 43, "Bearer \xe9", ""]
)
def test_a_wrong_token_opens_nothing(on_both: Api, header: str):
    answer = on_both.client.get("/api/v1/jobs", headers={b"Authorization": header.encode("latin-1")})
    assert answer.status_code == 401
    check_problem(answer)


def test_unknown_addresses_and_methods(on_both: Api):
    assert on_both.get("/nothing").json()["code"] == "NotFound"
    assert on_both.ask("DELETE", "/api/v1/jobs").json()["code"] == "MethodNotAllowed"
    assert on_both.ask("GET", "/api/v1/jobs/").status_code == 404


def check_problem(answer: Any) -> None:
    """RFC 9457."""
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert said["type"] == URN + said["code"]
    assert (said["status"], said["title"]) == PROBLEMS[said["code"]]
    assert said["status"] == answer.status_code
    assert said["detail"]
    assert said["instance"].startswith("/")


def test_every_answer_keeps_browsers_careful(on_both: Api):
    for answer in (on_both.get("/jobs"), on_both.get("/nothing"), on_both.ask("GET", "/healthz", None)):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
    preflight = on_both.client.options(
        "/api/v1/jobs", headers={"Origin": "http://x", "Access-Control-Request-Method": "POST"}
    )
    assert (preflight.status_code, "access-control-allow-origin" in preflight.headers) == (405, False)


def test_while_the_store_is_away_nothing_is_taken_and_it_says_so(tmp_path: Path):
    """A6: the answer is 503 with Retry-After, and health tells; reads of the live state go on."""
    with serving(tmp_path) as api:
        token = api.token("ann")
        away = api.controller
        away.stop()
        answer = api.client.post("/api/v1/jobs", json=job(), headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()["code"]) == (503, "Unavailable")
        assert answer.headers["retry-after"] == "1"
        assert api.client.get("/readyz").status_code == 503
        assert api.client.get("/healthz").status_code == 503


def test_a_parameter_that_a_route_does_not_have_is_refused_by_name(on_both: Api):
    answer = on_both.ask("GET", "/api/v1/jobs?phas=Running", "ann")
    assert answer.status_code == 422
    assert "query.phas: no such parameter; there are active" in answer.json()["detail"]


def test_attempts_without_the_right_are_logged_and_counted(on_both: Api):
    counted = on_both.services.controller.metrics.refused
    before = {code: counted.labels(code)._value.get() for code in ("Unauthenticated", "NotFound")}
    with structlog.testing.capture_logs() as told:
        on_both.ask("GET", "/api/v1/jobs", None)
        on_both.ask("GET", "/api/v1/workspaces/nobodys", "ann")
    refused = [(line["status"], line["user"]) for line in told if line["event"] == "attempt_refused"]
    assert refused == [(401, ""), (404, "ann")]
    assert {code: counted.labels(code)._value.get() - n for code, n in before.items()} == dict.fromkeys(
        before, 1
    )
