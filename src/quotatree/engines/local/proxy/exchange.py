"""How does a request get to a replica and its answer back? As a stream both ways, whatever its size.

h11 reads and writes the messages, so what one side means by a message is what the other side gets. Every request has a
connection of its own to the replica: it can then be repeated elsewhere as long as nothing was sent, no idle connection
can close under it, and a replica without requests has no connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Literal

import h11

from quotatree.engines.local.proxy.backends import HOST
from quotatree.engines.local.proxy.wire import Stalled, Wire

HEAD_BYTES: Final = 64 * 1024
STALL_SECONDS: Final = 60.0  # a client that neither sends its body nor takes its answer
HALF_OPEN_SECONDS: Final = 30.0  # a tunnel whose one end has finished

REPEATABLE: Final = frozenset({b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"})
HOP_BY_HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"transfer-encoding", b"upgrade"}
)

Headers = list[tuple[bytes, bytes]]
Outcome = Literal["answered", "broken", "unsent", "tunnelled"]


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
        if self._upstream.lost:
            return "unsent"
        raw = self._upstream_http.send(head) or b""
        upload: asyncio.Task[None] | None = None
        try:
            if not has_body(request):
                self._upstream.send(raw + (self._upstream_http.send(h11.EndOfMessage()) or b""))
            elif not self._send_what_is_here(raw):
                upload = asyncio.create_task(self._upload())
        except OSError:
            pass  # the replica hung up; its answer, if any, says why
        except h11.RemoteProtocolError:
            self._client_fails()
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

    def _send_what_is_here(self, first: bytes = b"") -> bool:
        """Send on, in one piece, what has come of the body; return whether that was all of it.

        Most requests have come whole, and so need no task of their own.
        """
        parts = [first]
        while isinstance(event := self._client_http.next_event(), h11.Data):
            parts.append(self._upstream_http.send(event) or b"")
        if isinstance(event, h11.EndOfMessage):
            parts.append(self._upstream_http.send(event) or b"")
        self._upstream.send(b"".join(parts))
        return event is not h11.NEED_DATA

    async def _upload(self) -> None:
        try:
            while True:
                await self._upstream.room()
                self._client_http.receive_data(await self._client.receive(STALL_SECONDS))
                if self._send_what_is_here():
                    return
        except (Stalled, h11.RemoteProtocolError):
            self._client_fails()
        except (OSError, h11.LocalProtocolError):
            pass  # the replica hung up

    def _client_fails(self) -> None:
        """Note that the client did not send its whole request, and cut off the replica, which need not go on."""
        self._client_failed = True
        self._upstream.abort()

    # -- from the replica to the client ------------------------------------------------------------------------

    async def _download(self) -> Outcome:
        parts: list[bytes] = []  # for the client; what has come together goes out together
        while True:
            event = self._upstream_http.next_event()
            if event is h11.NEED_DATA:
                self._client.send(b"".join(parts))
                parts.clear()
                await self._client.room(STALL_SECONDS)
                self._upstream_http.receive_data(await self._upstream.receive())
            elif isinstance(event, h11.InformationalResponse):
                self._pass_on_information(event)
                if event.status_code == 101:
                    await self._tunnel()
                    return "tunnelled"
            elif isinstance(event, h11.Response | h11.Data | h11.EndOfMessage):
                parts.append(self._client_http.send(self._for_client(event)) or b"")
                if isinstance(event, h11.EndOfMessage):
                    self._client.send(b"".join(parts))
                    return "answered"
            else:
                raise ConnectionResetError("the replica closed without an answer")

    def _for_client(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> h11.Event:
        if isinstance(event, h11.Response):
            return h11.Response(status_code=event.status_code, headers=_back(event), reason=event.reason)
        if isinstance(event, h11.EndOfMessage) and self._client_http.their_http_version == b"1.0":
            return h11.EndOfMessage()  # HTTP/1.0 has no chunks, and so no trailers
        return event

    def _pass_on_information(self, event: h11.InformationalResponse) -> None:
        if self._client_http.their_http_version != b"1.0":
            headers = event.headers.raw_items() if event.status_code == 101 else _back(event)
            passed = h11.InformationalResponse(
                status_code=event.status_code, headers=headers, reason=event.reason
            )
            self._client.send(self._client_http.send(passed))

    async def _tunnel(self) -> None:
        """Pass bytes both ways, whatever they mean, until both sides have finished or one is HALF_OPEN_SECONDS late."""
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


def has_body(request: h11.Request) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in request.headers
    )


def may_repeat(request: h11.Request) -> bool:
    return request.method in REPEATABLE and not has_body(request)


def _onward(request: h11.Request, peer: bytes, port: int) -> Headers:
    """Headers as the replica gets them: without those meant for the proxy, and with the client in X-Forwarded-For."""
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
    return frozenset(words) - {b"host", b"content-length"}  # what frames a message is never dropped


def head_bytes(request: h11.Request) -> int:
    return len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers)
