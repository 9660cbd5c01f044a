"""Which answers are sent compressed? Whole JSON answers that are worth it, to clients that take gzip.

A list of five hundred quotas is half a megabyte of JSON, and a twentieth of it compressed. Streams are sent as they are made:
what waits for a compressor to fill its window comes late. No cookie signs anyone in, so no other site can have answers made that
hold a secret beside its own words, and learn the secret from their length (ADR 0064).
"""

from __future__ import annotations

import gzip
from typing import Final

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_BYTES: Final = 1024
"""A smaller answer fits into one packet as it is."""
LEVEL: Final = 4
IN_A_THREAD_BYTES: Final = 64 * 1024
"""From this size on it takes milliseconds, in which the loop of requests goes on."""


class Compressed:
    """Compresses the whole JSON answers of an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not takes_gzip(Headers(scope=scope).get("accept-encoding", "")):
            await self._app(scope, receive, send)
            return
        start: Message | None = None

        async def packed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None:
                message = await _packed(start, message)
                begun, start = start, None
                await send(begun)
            await send(message)

        await self._app(scope, receive, packed)


def takes_gzip(accepts: str) -> bool:
    """Whether an Accept-Encoding names gzip and does not refuse it with q=0."""
    for one in accepts.split(","):
        name, _, quality = one.partition(";")
        if name.strip().lower() == "gzip":
            weight = quality.replace(" ", "").lower().removeprefix("q=")
            return not weight or weight.strip("0.") != ""
    return False


async def _packed(start: Message, message: Message) -> Message:
    """The first part of the body, compressed if it is all of a JSON answer; the headers in `start` then say so."""
    headers = MutableHeaders(raw=start["headers"])
    media = headers.get("content-type", "").partition(";")[0]
    if not media.endswith("json") or "content-encoding" in headers:
        return message
    headers.add_vary_header("Accept-Encoding")
    body: bytes = message.get("body", b"")
    if message.get("more_body", False) or len(body) < LEAST_BYTES:
        return message
    if len(body) < IN_A_THREAD_BYTES:
        small = gzip.compress(body, LEVEL, mtime=0)
    else:
        small = await to_thread.run_sync(lambda: gzip.compress(body, LEVEL, mtime=0))
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(small))
    start["headers"] = headers.raw
    return {**message, "body": small}
