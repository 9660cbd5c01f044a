"""Large JSON answers are compressed for clients that take it; small ones, files and streams are sent as they are."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.testclient import TestClient

from quotatree.api.compression import IN_A_THREAD_BYTES, LEAST_BYTES, Compressed, takes_gzip
from tests.api.serving import Api


def answered(response: Response, accepts: str = "gzip") -> tuple[Any, bytes]:
    """The headers and the body as they cross the wire."""
    client = TestClient(Compressed(response))
    with client.stream("GET", "/", headers={"Accept-Encoding": accepts}) as answer:
        return answer.headers, b"".join(answer.iter_raw())


@pytest.mark.parametrize("size", [LEAST_BYTES, IN_A_THREAD_BYTES])
def test_a_large_answer_is_smaller_on_the_wire_and_the_same_when_unpacked(size: int):
    told = {"items": ["quota"] * (size // 8)}
    headers, sent = answered(JSONResponse(told))
    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
    assert int(headers["content-length"]) == len(sent) < size / 5
    assert json.loads(gzip.decompress(sent)) == told


def test_small_answers_files_and_streams_are_sent_as_they_are():
    async def parts() -> AsyncIterator[bytes]:
        yield b"[" + b" " * LEAST_BYTES
        yield b"]"

    as_they_are = (
        JSONResponse({"id": "a"}),
        Response(b"x" * 5000, media_type="application/octet-stream"),
        JSONResponse({"id": "a" * 5000}, headers={"Content-Encoding": "br"}),
        StreamingResponse(parts(), media_type="application/json"),
        StreamingResponse(parts(), media_type="text/event-stream"),
    )
    for response in as_they_are:
        headers, _ = answered(response)
        assert headers.get("content-encoding") != "gzip"


def test_a_client_that_does_not_take_gzip_gets_none():
    headers, sent = answered(JSONResponse({"id": "a" * 5000}), "br, gzip;q=0")
    assert ("content-encoding" in headers, len(sent)) == (False, 5009)
    assert [takes_gzip(one) for one in ("", "br", "gzip", "br, GZIP;q=0.5", "gzip; q=0.0")] == [
        False, False, True, True, False,
    ]  # fmt: skip


def test_the_servers_answers_pass_through_it(api: Api):
    answer = api.get("/quotas", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert [one["id"] for one in answer.json()["items"]] == ["team", "a", "b"]
