"""How is what a job prints sent? Piece by piece, as fast as the reader takes it, and never more in memory than one piece.

What is sent is one unbroken stretch of the log. If the log was cut off in front while it was being sent, the answer ends
there: the reader asks again, and is told in the headers where what is kept begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from quotatree.core import QuotaTreeError
from quotatree.engines.base import LogPiece

PIECE_BYTES: Final = 64 * 1024
SHORTEST_PAUSE_SECONDS: Final = 0.05
LONGEST_PAUSE_SECONDS: Final = 1.0
"""Longest pause between two looks at a quiet log; the pause doubles until it is reached."""

Log = Callable[[int, int], LogPiece | None]
"""Reads the log of one replica, by offset and limit in bytes, as `Engine.log` does."""


async def pieces(
    read: Callable[[int], Awaitable[LogPiece | None]], first: LogPiece, limit: int | None, *, follow: bool
) -> AsyncIterator[bytes]:
    """The log from `first` on, at most `limit` bytes (None: no limit), up to its present end.

    With `follow`, up to where the log is closed. A QuotaTreeError of `read`, raised when the reader may no longer read,
    ends the answer.
    """
    left = limit if follow else min(first.end - first.offset, first.end if limit is None else limit)
    piece: LogPiece | None = first
    at, pause = first.offset, SHORTEST_PAUSE_SECONDS
    try:
        while piece is not None and piece.offset == at:
            data = piece.data if left is None else piece.data[:left]
            if data:
                yield data
                at, pause = at + len(data), SHORTEST_PAUSE_SECONDS
                left = None if left is None else left - len(data)
            if left == 0 or (at >= piece.end and piece.closed):
                return
            if at >= piece.end:
                if not follow:
                    return
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            piece = await read(at)
    except QuotaTreeError:
        return


def start_of_last_lines(log: Log, lines: int) -> int | None:
    """Offset at which the last `lines` lines begin, or what is kept of them; None: there is no such log.

    Reads backwards, a piece at a time. A last line without a line break counts as a line.
    """
    last = log(-PIECE_BYTES, PIECE_BYTES)
    if last is None or lines == 0:
        return None if last is None else last.end
    start, data = last.offset, _stretch(log, last.offset, last.end)
    search_end = len(data) - 1  # a line break at the very end begins no line
    while True:
        while (at := data.rfind(b"\n", 0, max(search_end, 0))) >= 0:
            lines -= 1
            if lines == 0:
                return start + at + 1
            search_end = at
        earlier = log(max(0, start - PIECE_BYTES), PIECE_BYTES) if start > 0 else None
        if earlier is None or earlier.offset >= start:
            return start
        data = _stretch(log, earlier.offset, start)
        start, search_end = earlier.offset, len(data)


def _stretch(log: Log, start: int, stop: int) -> bytes:
    """The bytes between two offsets, as far as they are kept; an engine may give fewer at a time than it is asked for."""
    found = bytearray()
    while len(found) < stop - start:
        piece = log(start + len(found), stop - start - len(found))
        if piece is None or not piece.data or piece.offset != start + len(found):
            break
        found += piece.data[: stop - start - len(found)]
    return bytes(found)
