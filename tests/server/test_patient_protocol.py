"""A request that does not come is not waited for, however slowly it trickles; a slow answer is."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar, cast
from unittest.mock import MagicMock

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from quotatree.server.patient_protocol import LEAST_BODY_BYTES, MOST_HEAD_BYTES, MOST_SLOW, PatientProtocol


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


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        (b"GET / HTTP/1.1\r\n", b"X: %s\r\n" % (b"y" * 65_000)),
        (b"GET / HTTP/1.1\r\nX: ", b"y" * 65_000),
        (b"GET /", b"y" * 65_000),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"X: %s\r\n" % (b"y" * 65_000)),
        (CHUNKED + b"1;", b"y" * 65_000),
    ],
    ids=["headers", "header", "address", "trailers", "size of a chunk"],
)
def test_a_head_without_an_end_is_not_kept(begins: bytes, goes_on: bytes) -> None:
    """Whoever reaches the port could fill the memory, at the speed of the network."""
    connection = Connection()
    connection.say(b"x" * 1_000_000 + begins)
    connection.protocol.cycle.response_complete = True
    for _ in range(MOST_HEAD_BYTES // len(goes_on) + 1):
        assert not connection.closed
        connection.say(goes_on)
    assert connection.closed


def test_all_cookies_of_a_host_may_come_and_a_large_body_behind_them() -> None:
    connection = Connection()
    connection.say(b"x" * 1_000_000)
    cookies = b"; ".join(b"c%d=%s" % (number, b"v" * 4090) for number in range(180))
    connection.say(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\nCookie: %s\r\n\r\n" % cookies)
    for _ in range(30):
        connection.say(b"x" * 100_000)
    assert not connection.closed


def test_an_answer_that_takes_longer_is_given() -> None:
    said = asyncio.run(asyncio.wait_for(talk(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 20))
    assert said.startswith(b"HTTP/1.1 204")


# -- bodies: the timer is a fake one, so nothing here takes time ---------------------------------------------------------

POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"


class Clock:
    """The part of an event loop that the protocol needs; its timers go off when the test says so."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Timer]] = []

    def call_later(self, delay: float, callback: Any, *args: Any, **_: Any) -> Any:
        timer = Timer(callback)
        self.timers.append((delay, timer))
        return timer

    def create_task(self, coroutine: Any, **_: Any) -> Any:
        coroutine.close()
        return MagicMock()

    def pass_time(self) -> None:
        """Let all timers go off that are set now."""
        due, self.timers = self.timers, []
        for _, timer in due:
            timer.go_off()


class Timer:
    def __init__(self, callback: Any) -> None:
        self._callback: Any = callback

    def cancel(self) -> None:
        self._callback = None

    def go_off(self) -> None:
        if self._callback is not None:
            self._callback()


class Counting(PatientProtocol):
    slow: ClassVar[Counter[str]] = Counter()


@pytest.fixture(autouse=True)
def none_slow() -> None:
    Counting.slow.clear()


class Connection:
    def __init__(self, address: str = "10.0.0.1") -> None:
        config = Config(app, http=Counting, lifespan="off", log_level="error")
        config.load()
        self.clock = Clock()
        self.transport = MagicMock()
        self.transport.is_closing.side_effect = lambda: self.closed
        self.transport.get_extra_info.side_effect = {
            "peername": (address, 1),
            "sockname": ("10.0.0.0", 2),
        }.get
        self.protocol = Counting(config, ServerState(), {}, cast(asyncio.AbstractEventLoop, self.clock))
        self.protocol.connection_made(self.transport)
        self.say(POST)

    @property
    def closed(self) -> bool:
        return bool(self.transport.close.called)

    def say(self, data: bytes) -> None:
        self.protocol.data_received(data)
        self.protocol.flow.resume_reading()  # as the app does when it reads

    def end(self) -> None:
        self.protocol.connection_lost(None)


def test_a_body_that_drips_is_not_waited_for():
    connection = Connection()
    for _ in range(6):
        connection.say(b"x")
    connection.clock.pass_time()
    assert connection.closed


def test_a_body_that_comes_fast_enough_is_waited_for_and_one_that_ceases_is_not():
    connection = Connection()
    for _ in range(10):
        connection.say(b"x" * LEAST_BODY_BYTES)
        connection.clock.pass_time()
        assert not connection.closed
    connection.say(b"x" * (LEAST_BODY_BYTES - 1))
    connection.clock.pass_time()
    assert connection.closed


def test_a_whole_body_has_all_the_time_for_its_answer():
    connection = Connection()
    connection.say(b"x" * 1_000_000)
    connection.clock.pass_time()
    assert not connection.closed


def test_a_body_that_we_do_not_read_is_not_blamed_on_its_client():
    connection = Connection()
    connection.protocol.flow.pause_reading()
    connection.clock.pass_time()
    assert not connection.closed


def test_an_address_has_only_so_many_slow_bodies_at_once():
    """300 connections that keep just above the rate cannot keep 300 bodies in the memory."""
    connections = [Connection() for _ in range(300)]
    other = Connection("10.0.0.2")
    for _ in range(3):
        for one in [*connections, other]:
            if not one.closed:
                one.say(b"x" * LEAST_BODY_BYTES)
                one.clock.pass_time()
    assert sum(not one.closed for one in connections) == MOST_SLOW
    assert not other.closed
    for one in connections:
        one.end()
    other.end()
    assert not Counting.slow, "a connection that is gone counts no more"


def test_a_slow_body_that_has_ended_counts_no_more():
    connection = Connection()
    connection.say(b"x" * LEAST_BODY_BYTES)
    connection.clock.pass_time()
    assert Counting.slow == {"10.0.0.1": 1}
    connection.say(b"x" * (1_000_000 - LEAST_BODY_BYTES))
    assert not Counting.slow
