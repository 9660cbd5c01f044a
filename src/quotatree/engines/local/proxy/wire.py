"""How do bytes come and go on one connection, without more of them in memory than both ends can take?

A thin layer over asyncio's transports: what is not fetched stops being read, and whoever sends waits for room. It tells
at once when the other end has gone, which streams tell only to those who read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, cast

HELD_BYTES: Final = 256 * 1024  # received and not fetched: beyond this, reading stops


class Stalled(OSError):
    """The other end neither sent nor took anything for too long."""


class Wire(asyncio.Protocol):
    """One connection. One task at a time may `receive`, and one may wait for `room`."""

    def __init__(self, opened: Callable[[Wire], None] | None = None) -> None:
        self.transport: asyncio.Transport
        self.ended = False  # nothing more will come
        self.lost = False  # nothing more can be sent
        self.when_gone: Callable[[], None] | None = None  # told once, when the other end closes or is lost
        self._opened = opened
        self._held = bytearray()
        self._held_back = False
        self._full = False
        self._receiver: asyncio.Future[None] | None = None
        self._sender: asyncio.Future[None] | None = None

    # -- for users ---------------------------------------------------------------------------------------------

    async def receive(self, stall_seconds: float | None = None) -> bytes:
        """Wait until something has come, and return it; empty at the end. Raises Stalled after `stall_seconds`, if given."""
        if not self._held and not self.ended:
            self._receiver = asyncio.get_running_loop().create_future()
            await _within(stall_seconds, self._receiver)
        got = bytes(self._held)
        self._held.clear()
        if self._held_back and not self.ended:
            self._held_back = False
            self.transport.resume_reading()
        return got

    def send(self, data: bytes | None) -> None:
        if self.lost:
            raise ConnectionResetError("the other end has gone")
        if data:
            self.transport.write(data)

    async def room(self, stall_seconds: float | None = None) -> None:
        """Wait until more may be sent. Raises Stalled after `stall_seconds`, if given."""
        if self._full and not self.lost:
            self._sender = asyncio.get_running_loop().create_future()
            await _within(stall_seconds, self._sender)
        if self.lost:
            raise ConnectionResetError("the other end has gone")

    def end(self) -> None:
        """Tell the other end that we send nothing more; it may still send."""
        if not self.lost and self.transport.can_write_eof():
            self.transport.write_eof()

    def close(self) -> None:
        """Close the connection once what was sent has gone out."""
        self.when_gone = None
        self.transport.close()

    def abort(self) -> None:
        self.when_gone = None
        self.transport.abort()

    # -- for asyncio -------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if self._opened is not None:
            self._opened(self)

    def data_received(self, data: bytes) -> None:
        self._held += data
        if len(self._held) > HELD_BYTES and not self._held_back:
            self._held_back = True
            self.transport.pause_reading()
        _wake(self._receiver)

    def eof_received(self) -> bool:
        self.ended = True
        _wake(self._receiver)
        self._gone()
        return True  # our own half stays open

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = self.lost = True
        _wake(self._receiver)
        _wake(self._sender)
        self._gone()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        _wake(self._sender)

    def _gone(self) -> None:
        told, self.when_gone = self.when_gone, None
        if told is not None:
            told()


async def _within(seconds: float | None, wake: asyncio.Future[None]) -> None:
    if seconds is None:
        await wake
        return
    try:
        async with asyncio.timeout(seconds):
            await wake
    except TimeoutError:
        raise Stalled(f"nothing moved for {seconds:g} seconds") from None


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
