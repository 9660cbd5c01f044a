"""How do two processes that may die at any moment tell each other what happened? By lines of JSON, appended to a file.

A line counts once its newline is there. What a crash tore off in the middle is skipped by every reader, and the next
writer begins a line of its own behind it. A full disk loses nothing: what could not be written waits and is tried again.
"""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Entry = dict[str, Any]

FINAL = frozenset({"exited", "lost", "over"})
"""Kinds of the last line of a journal: after it nothing of the run is left."""


def read(path: str, offset: int = 0) -> tuple[list[Entry], int]:
    """Entries of the whole lines from byte `offset` on, and the offset at which to go on. A missing file has none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return [], offset
    try:
        raw = _rest_of(fd, offset)
    finally:
        os.close(fd)
    whole = raw[: raw.rfind(b"\n") + 1]
    entries = [entry for line in whole.split(b"\n") if (entry := _parsed(line)) is not None]
    return entries, offset + len(whole)


def append(path: str, entry: Entry, *, durable: bool = False) -> None:
    """Add one line, whole or not at all. Raises OSError when there is no room for it. `durable`: wait for the disk."""
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _append_line(fd, _line(entry))
        if durable:
            os.fdatasync(fd)
    finally:
        os.close(fd)


class Journal:
    """Writes a journal, for the one process that may; the lines stay in the order of what happened."""

    __slots__ = ("_fd", "_waiting")

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._waiting: list[tuple[bytes, bool]] = []

    @property
    def behind(self) -> bool:
        """Whether an entry could not be written yet. The process must not end before it is."""
        return bool(self._waiting)

    def add(self, entry: Entry) -> bool:
        """Write the entry with the time, or keep it for `catch_up`; return whether all is written. Final lines are durable."""
        stamped = {"at_ms": time.time_ns() // 1_000_000, **entry}
        self._waiting.append((_line(stamped), entry.get("is") in FINAL))
        return self.catch_up()

    def catch_up(self) -> bool:
        while self._waiting:
            line, durable = self._waiting[0]
            try:
                _append_line(self._fd, line)
            except OSError:
                return False
            if durable:
                os.fdatasync(self._fd)
            del self._waiting[0]
        return True

    def close(self) -> None:
        os.close(self._fd)


def _append_line(fd: int, line: bytes) -> None:
    size = os.fstat(fd).st_size
    if size and os.pread(fd, 1, size - 1) != b"\n":
        line = b"\n" + line
    written = 0
    try:
        while written < len(line):
            written += os.write(fd, line[written:])
    except OSError:
        if written:
            os.ftruncate(fd, size)  # half a line must not stay behind: the whole one is tried again
        raise


def _line(entry: Entry) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes) -> Entry | None:
    if not line.strip():
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _rest_of(fd: int, offset: int) -> bytes:
    parts = []
    while part := os.pread(fd, 1 << 16, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)
