"""A request whose head does not come is not waited for, however slowly it trickles; a slow answer is."""

from __future__ import annotations

import asyncio

from uvicorn import Config
from uvicorn.server import ServerState

from quotatree.server.patient_protocol import PatientProtocol


class Hurried(PatientProtocol):
    header_seconds = 0.05


async def app(scope: object, receive: object, send: object) -> None:
    await asyncio.sleep(0.2)
    await send({"type": "http.response.start", "status": 204, "headers": []})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": b""})  # type: ignore[operator]


async def talk(*parts: bytes) -> bytes:
    """Say these parts, the last of them again and again, until the server closes; return what it said."""
    config = Config(app, http=Hurried, lifespan="off", log_level="error")
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Hurried(config, state, {}, loop), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
    heard = asyncio.ensure_future(reader.read())
    for part in parts:
        writer.write(part)
    while not heard.done():
        writer.write(parts[-1] if len(parts) > 1 else b"")
        await asyncio.wait([heard], timeout=0.01)
    writer.close()
    listening.close()
    try:
        return heard.result()
    except ConnectionResetError:  # closed while we were still talking
        return b""


def test_headers_that_trickle_are_not_waited_for() -> None:
    assert asyncio.run(asyncio.wait_for(talk(b"GET / HTTP/1.1\r\n", b"X: y\r\n"), 20)) == b""


def test_an_answer_that_takes_longer_is_given() -> None:
    said = asyncio.run(asyncio.wait_for(talk(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 20))
    assert said.startswith(b"HTTP/1.1 204")
