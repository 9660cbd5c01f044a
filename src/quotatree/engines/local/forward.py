"""How does a request get to a replica and its answer back? As a stream both ways, whatever its size.

h11 reads and writes the messages, so what one side means by a message is what the other side gets. Every request has a
connection of its own to the replica: it can then be repeated elsewhere as long as nothing was sent, no idle connection
can close under it, and a replica without requests has no connections.

A request is tried on another replica only if that cannot do anything twice: nobody took the connection, or the method
is one that may be repeated, has no body, and its client has seen nothing yet.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Literal

import h11

from quotatree.engines.local.backends import HOST, Backend, Backends, Key
from quotatree.engines.local.wire import Stalled, Wire

HEAD_BYTES: Final = 64 * 1024
HEAD_SECONDS: Final = 30.0  # from the first byte of a request to the end of its head
KEEP_ALIVE_SECONDS: Final = 75.0
STALL_SECONDS: Final = 60.0  # a client that neither sends its body nor takes its answer
CONNECT_SECONDS: Final = 5.0
LINGER_SECONDS: Final = 2.0  # for what a client still sends after its answer
HALF_OPEN_SECONDS: Final = 30.0  # a tunnel whose one end has finished
RETRY_AFTER_SECONDS: Final = 1

REPEATABLE: Final = frozenset({b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"})
HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"transfer-encoding", b"upgrade"}
)
URN: Final = "urn:quotatree:problem:"

Headers = list[tuple[bytes, bytes]]
Outcome = Literal["answered", "broken", "unsent", "tunnelled"]


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
        except (OSError, h11.LocalProtocolError):  # gone, stalled, or told what cannot be told any more
            self._wire.abort()
        finally:
            self._wire.close()

    async def _one(self) -> bool:
        """Answer one request. False: the connection is over."""
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
        if not _has_body(request):
            self._http.next_event()  # its end; a repeated request has then nothing left to read
        if request.method == b"CONNECT":
            await self._refuse(501, "NotImplemented", "this is not a proxy to other hosts")
            return False
        if _head_bytes(request) > HEAD_BYTES:
            await self._refuse(431, "HeadTooLarge", f"the head of a request may have {HEAD_BYTES} bytes")
            return False
        self.talking = True
        try:
            return await self._answer(request)
        finally:
            self.talking = False

    async def _request(self) -> h11.Request | None:
        """The next head; None if the client has nothing more to ask."""
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
        tried: set[Key] = set()
        outcome: Outcome = "unsent"
        while (backend := self._backends.choose(tried)) is not None or await self._backends.soon():
            if backend is None:
                tried.clear()
                continue
            with self._backends.busy(backend):
                outcome = await self._try(request, backend)
            if outcome in ("answered", "tunnelled"):
                return outcome == "answered" and await self._can_go_on()
            if outcome == "broken" and not _may_repeat(request):
                break
            tried.add(backend.key)
        if outcome == "broken":
            return await self._problem(502, "BadGateway", "the replica broke off before it answered")
        return await self._unavailable()

    async def _try(self, request: h11.Request, backend: Backend) -> Outcome:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, upstream = await asyncio.get_running_loop().create_connection(Wire, HOST, backend.port)
        except ConnectionRefusedError:
            self._backends.refused(backend)
            return "unsent"
        except (TimeoutError, OSError):
            return "unsent"
        self._wire.when_gone = upstream.abort  # nobody waits for the answer any more: let the replica know
        if self._wire.ended:
            upstream.abort()
        try:
            return await Exchange(self._wire, self._http, upstream, backend.port, self._peer).run(request)
        finally:
            self._wire.when_gone = None
            upstream.close()

    async def _can_go_on(self) -> bool:
        """After the answer: can the same connection carry another request?"""
        await self._wire.room(STALL_SECONDS)
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            return True
        await self._linger()
        return False

    async def _linger(self) -> None:
        """Closing on a client that still sends would throw away the answer on its way to it."""
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
        title = TITLES[status]
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
        """A small body that is here already need not cost the connection."""
        with suppress(h11.RemoteProtocolError):
            while isinstance(self._http.next_event(), h11.Data):
                pass


class Exchange:
    """One request on one connection to one replica."""

    def __init__(self, client: Wire, http: h11.Connection, upstream: Wire, port: int, peer: bytes) -> None:
        self._client = client
        self._client_http = http
        self._upstream = upstream
        self._upstream_http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        self._port = port
        self._peer = peer
        self._client_failed = False

    async def run(self, request: h11.Request) -> Outcome:
        head = h11.Request(
            method=request.method, target=request.target, headers=_onward(request, self._peer, self._port)
        )
        raw = self._upstream_http.send(head) or b""
        if not _has_body(request):
            raw += self._upstream_http.send(h11.EndOfMessage()) or b""
        try:
            self._upstream.send(raw)
        except OSError:
            return "unsent"
        upload: asyncio.Task[None] | None = None
        if _has_body(request) and not self._send_what_is_here():
            upload = asyncio.create_task(self._upload())
        try:
            return await self._download()
        except (h11.RemoteProtocolError, OSError) as error:
            begun = self._client_http.our_state is not h11.SEND_RESPONSE
            if begun or self._client_failed or self._client.ended:
                raise ConnectionResetError("cut off in the middle of an answer") from error
            return "broken"
        finally:
            if upload is not None:
                upload.cancel()

    # -- from the client to the replica ------------------------------------------------------------------------

    def _send_what_is_here(self) -> bool:
        """Most requests have come whole: they need no task of their own. True if that was all."""
        try:
            while True:
                event = self._client_http.next_event()
                if isinstance(event, h11.Data | h11.EndOfMessage):
                    self._upstream.send(self._upstream_http.send(event))
                if event is h11.NEED_DATA:
                    return False
                if not isinstance(event, h11.Data):
                    return True
        except h11.RemoteProtocolError:
            self._client_failed = True
            self._upstream.abort()
        except OSError:
            pass  # the replica hung up; its answer, if there is one, says why
        return True

    async def _upload(self) -> None:
        try:
            while not self._send_what_is_here():
                await self._upstream.room()
                self._client_http.receive_data(await self._client.receive(STALL_SECONDS))
        except (Stalled, h11.RemoteProtocolError):
            self._client_failed = True
            self._upstream.abort()
        except OSError:
            pass

    # -- from the replica to the client ------------------------------------------------------------------------

    async def _download(self) -> Outcome:
        while True:
            event = self._upstream_http.next_event()
            if event is h11.NEED_DATA:
                await self._client.room(STALL_SECONDS)
                self._upstream_http.receive_data(await self._upstream.receive())
            elif isinstance(event, h11.InformationalResponse):
                self._pass_on_information(event)
                if event.status_code == 101:
                    await self._tunnel()
                    return "tunnelled"
            elif isinstance(event, h11.Response):
                self._client.send(
                    self._client_http.send(
                        h11.Response(status_code=event.status_code, headers=_back(event), reason=event.reason)
                    )
                )
            elif isinstance(event, h11.Data):
                self._client.send(self._client_http.send(event))
            elif isinstance(event, h11.EndOfMessage):
                trailers = event.headers if self._client_http.their_http_version != b"1.0" else None
                self._client.send(self._client_http.send(h11.EndOfMessage(headers=trailers)))
                return "answered"
            else:
                raise ConnectionResetError("the replica closed without an answer")

    def _pass_on_information(self, event: h11.InformationalResponse) -> None:
        if self._client_http.their_http_version != b"1.0":
            headers = event.headers.raw_items() if event.status_code == 101 else _back(event)
            passed = h11.InformationalResponse(
                status_code=event.status_code, headers=headers, reason=event.reason
            )
            self._client.send(self._client_http.send(passed))

    async def _tunnel(self) -> None:
        """Both sides speak something else now: bytes go both ways until both have finished."""
        self._client.when_gone = None
        self._upstream.send(self._client_http.trailing_data[0])
        self._client.send(self._upstream_http.trailing_data[0])
        ways = {
            asyncio.create_task(_pump(self._client, self._upstream)),
            asyncio.create_task(_pump(self._upstream, self._client)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait(ways, timeout=HALF_OPEN_SECONDS)
        finally:
            for way in ways:
                way.cancel()


async def _pump(source: Wire, sink: Wire) -> None:
    with suppress(OSError):
        while data := await source.receive():
            sink.send(data)
            await sink.room()
    sink.end()


def _has_body(request: h11.Request) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in request.headers
    )


def _may_repeat(request: h11.Request) -> bool:
    return request.method in REPEATABLE and not _has_body(request)


def _onward(request: h11.Request, peer: bytes, port: int) -> Headers:
    """The head as the replica gets it: what was meant for us is left out, and whom it is for is added."""
    chunked = any(name == b"transfer-encoding" for name, _ in request.headers)
    drop = _named_by_connection(request.headers) | HOP_BY_HOP | {b"x-forwarded-for"}
    if chunked:
        drop |= {b"content-length"}  # two lengths would let two servers read two different requests
    headers = [(name, value) for name, value in request.headers.raw_items() if name.lower() not in drop]
    upgrade = [value for name, value in request.headers if name == b"upgrade"]
    asks_upgrade = upgrade and b"upgrade" in _named_by_connection(request.headers)
    if asks_upgrade:
        headers += [(b"Connection", b"Upgrade"), *((b"Upgrade", value) for value in upgrade)]
    else:
        headers.append((b"Connection", b"close"))
    if chunked:
        headers.append((b"Transfer-Encoding", b"chunked"))
    if not any(name == b"host" for name, _ in request.headers):  # HTTP/1.0 did without
        headers.append((b"Host", f"{HOST}:{port}".encode()))
    before = [value for name, value in request.headers if name == b"x-forwarded-for"]
    headers.append((b"X-Forwarded-For", b", ".join([*before, peer])))
    return headers


def _back(response: h11.Response | h11.InformationalResponse) -> Headers:
    drop = _named_by_connection(response.headers) | HOP_BY_HOP
    return [(name, value) for name, value in response.headers.raw_items() if name.lower() not in drop]


def _named_by_connection(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    words = {
        word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")
    }
    return frozenset(words) - {b"host", b"content-length"}  # nobody may name away what frames a message


def _head_bytes(request: h11.Request) -> int:
    return len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers)


TITLES: Final = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
}
