"""What did a replica print? Reads the segments that the supervisor writes, while it writes them.

A segment is a file named by the offset of its first byte in all that was ever printed. The oldest are thrown away to keep
within the limit, perhaps between our looking and our opening: then what is there now is given.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from quotatree.engines.base import LogPiece
from quotatree.engines.local.files.layout import SEGMENT_SUFFIX, segment_name

MOST_BYTES: Final = 4 * 1024 * 1024


def read_log(directory: Path, offset: int, limit: int, *, closed: bool) -> LogPiece | None:
    """At most `limit` bytes from `offset` on; a negative offset counts from the end. `closed`: no more will be written.

    None if there is no log. An offset beyond the end gives an empty piece at the end.
    """
    segments = _segments(directory)
    if segments is None:
        return None
    if not segments:
        return LogPiece(0, b"", 0, closed)
    first, end = segments[0][0], segments[-1][0] + segments[-1][1]
    begin = min(max(first, end + offset if offset < 0 else offset), end)
    data = bytearray()
    room = min(max(0, limit), MOST_BYTES)
    for start, size in segments:
        if start + size <= begin + len(data) or not room:
            continue
        if start > begin + len(data):
            if data:
                break  # a gap: what comes behind it is for the next call
            begin = start
        piece = _piece(directory, start, begin + len(data) - start, room)
        if piece is None:
            if data:
                break
            continue  # thrown away meanwhile
        data += piece
        room -= len(piece)
    return LogPiece(begin, bytes(data), end, closed and begin + len(data) >= end)


def _segments(directory: Path) -> list[tuple[int, int]] | None:
    """(offset, size) of each segment, oldest first, in bytes; None if there is no log."""
    found = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                start = entry.name.removesuffix(SEGMENT_SUFFIX)
                if start != entry.name and start.isdecimal():
                    found.append((int(start), _size(entry)))
    except FileNotFoundError:
        return None
    return sorted(found)


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except FileNotFoundError:
        return 0


def _piece(directory: Path, start: int, skip: int, limit: int) -> bytes | None:
    try:
        with (directory / segment_name(start)).open("rb") as file:
            file.seek(skip)
            return file.read(limit)
    except FileNotFoundError:
        return None
