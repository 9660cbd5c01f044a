"""Who answers a client, and what if nobody can? Its requests come one after another, and each finds a replica.

A request is tried on another replica only if that cannot do anything twice: nobody took the connection, or the method
is one that may be repeated, has no body, and its client has seen nothing yet.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Final

import h11

from quotatree.engines.local.proxy.backends import HOST, Backend, Backends, Key
from quotatree.engines.local.proxy.exchange import (
    HEAD_BYTES,
    STALL_SECONDS,
    Exchange,
    Headers,
    Outcome,
    has_body,
    head_bytes,
    may_repeat,
)
from quotatree.engines.local.proxy.wire import Stalled, Wire

HEAD_SECONDS: Final = 30.0  # from the first byte of a request to the end of its head
KEEP_ALIVE_SECONDS: Final = 75.0
CONNECT_SECONDS: Final = 5.0
LINGER_SECONDS: Final = 2.0  # for what a client still sends after its answer
RETRY_AFTER_SECONDS: Final = 1

URN: Final = "urn:quotatree:problem:"


class Client:
    """One connection of a client, and its requests one after another."""

    def __init__(self, wire: Wire, backends: Backends) -> None:
        self._wire = wire
        self._backends = backends
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        peer = wire.transport.get_extra_info("peername")
        self._peer = str(peer[0]).encode() if peer else b"unknown"
        self._method = b""
        self.talking = False  # a request is being answered

    async def serve(self) -> None:
        try:
            while await self._one():
                self._http.start_next_cycle()
        except (OSError, h11.LocalProtocolError):  # gone, stalled, or past the point where it can be answered
            self._wire.abort()
        finally:
            self._wire.close()

    async def _one(self) -> bool:
        """Answer one request; return whether the connection can carry another."""
        try:
            request = await self._request()
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint, "BadRequest", str(error))
            return False
        except Stalled:
            if self._http.trailing_data[0]:
                await self._refuse(408, "RequestTimeout", "the head of the request did not arrive in time")
            return False
        if request is None:
            return False
        self._method = request.method
        if not has_body(request):
            self._http.next_event()  # its end; a repeated request has then nothing left to read
        if request.method == b"CONNECT":
            await self._refuse(501, "NotImplemented", "this is not a proxy to other hosts")
            return False
        if head_bytes(request) > HEAD_BYTES:
            await self._refuse(431, "HeadTooLarge", f"the head of a request may have {HEAD_BYTES} bytes")
            return False
        self.talking = True
        try:
            return await self._answer(request)
        finally:
            self.talking = False

    async def _request(self) -> h11.Request | None:
        """Head of the next request; None if the client has nothing more to ask."""
        loop = asyncio.get_running_loop()
        until: float | None = None
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                return event
            if event is not h11.NEED_DATA:
                return None
            if until is None and self._http.trailing_data[0]:
                until = loop.time() + HEAD_SECONDS
            wait_seconds = KEEP_ALIVE_SECONDS if until is None else max(0.001, until - loop.time())
            self._http.receive_data(await self._wire.receive(wait_seconds))

    async def _answer(self, request: h11.Request) -> bool:
        with self._backends.load.one():
            outcome = await self._pass_on(request)
        if outcome in ("answered", "tunnelled"):
            return outcome == "answered" and await self._can_go_on()
        if outcome == "broken":
            return await self._problem(502, "BadGateway", "the replica broke off before it answered")
        return await self._unavailable()

    async def _pass_on(self, request: h11.Request) -> Outcome:
        tried: set[Key] = set()
        outcome: Outcome = "unsent"
        while (backend := self._backends.choose(tried)) is not None or await self._backends.soon():
            if backend is None:
                tried.clear()
                continue
            with self._backends.busy(backend):
                outcome = await self._try(request, backend)
            if outcome in ("answered", "tunnelled") or (outcome == "broken" and not may_repeat(request)):
                break
            tried.add(backend.key)
        return outcome

    async def _try(self, request: h11.Request, backend: Backend) -> Outcome:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, upstream = await asyncio.get_running_loop().create_connection(Wire, HOST, backend.port)
        except ConnectionRefusedError:
            self._backends.refused(backend)
            return "unsent"
        except (TimeoutError, OSError):
            return "unsent"
        self._wire.when_gone = upstream.abort  # a client that goes needs no answer: let the replica know
        if self._wire.ended:
            upstream.abort()
        try:
            return await Exchange(self._wire, self._http, upstream, backend.port, self._peer).run(request)
        finally:
            self._wire.when_gone = None
            upstream.close()

    async def _can_go_on(self) -> bool:
        """Return, after the answer, whether the same connection can carry another request; if not, end it gently."""
        await self._wire.room(STALL_SECONDS)
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            return True
        await self._linger()
        return False

    async def _linger(self) -> None:
        """Take in what the client still sends, for LINGER_SECONDS: closing at once would throw away the answer on its way."""
        self._wire.end()
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(LINGER_SECONDS):
                while await self._wire.receive():
                    pass

    # -- answers of our own ------------------------------------------------------------------------------------

    async def _unavailable(self) -> bool:
        return await self._problem(
            503, "NoReplicaReady", "no replica of this service is ready; try again",
            [(b"retry-after", str(RETRY_AFTER_SECONDS).encode())],
        )  # fmt: skip

    async def _refuse(self, status: int, code: str, detail: str) -> None:
        with suppress(h11.LocalProtocolError):
            await self._problem(status, code, detail, [(b"connection", b"close")])
        await self._linger()

    async def _problem(self, status: int, code: str, detail: str, headers: Headers | None = None) -> bool:
        title = TITLES.get(status, "Bad Request")
        body = json.dumps(
            {"type": URN + code, "title": title, "status": status, "code": code, "detail": detail}
        )
        data = body.encode()
        head = [
            (b"content-type", b"application/problem+json"),
            (b"content-length", str(len(data)).encode()),
            (b"cache-control", b"no-store"),
            *(headers or []),
        ]
        self._wire.send(
            self._http.send(h11.Response(status_code=status, headers=head, reason=title.encode()))
        )
        if self._method != b"HEAD":
            self._wire.send(self._http.send(h11.Data(data=data)))
        self._wire.send(self._http.send(h11.EndOfMessage()))
        await self._drop_body()
        return await self._can_go_on()

    async def _drop_body(self) -> None:
        """Skip what has already come of the body, so that a small one does not cost the connection."""
        with suppress(h11.RemoteProtocolError):
            while isinstance(self._http.next_event(), h11.Data):
                pass


TITLES: Final = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
}
