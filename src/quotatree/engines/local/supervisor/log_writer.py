"""Where does the output of a replica go? Into segments of a log whose offsets never begin anew, the oldest thrown away.

Bytes are bytes: nothing is decoded, no line is waited for. A segment is named by the offset of its first byte, so what is
missing between two is known from their names: output thrown away to keep within the limit, or dropped because the disk
was full. Nothing here ever raises because of the disk: a job does not stop because its output cannot be kept.
"""

from __future__ import annotations

import contextlib
import os
import time

from quotatree.engines.local.files.layout import segment_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SEGMENTS = 8
SMALLEST_SEGMENT_BYTES = 16 * 1024
RETRY_SECONDS = 1.0
"""How long a full disk is left alone; what is printed meanwhile is dropped without trying."""


class ReplicaLog:
    """The log of one replica, through all its attempts."""

    def __init__(
        self,
        directory: str,
        limit_bytes: int,
        *,
        trouble: Callable[[str], None],
        write: Callable[[int, memoryview], int] = os.write,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._directory = directory
        self._limit_bytes = limit_bytes
        self._segment_bytes = max(SMALLEST_SEGMENT_BYTES, limit_bytes // SEGMENTS)
        self._trouble = trouble
        self._write = write
        self._clock = clock
        self._fd = -1
        self._segment_end = 0
        self._starts: list[int] = []  # of the segments kept, oldest first
        self._quiet_until = 0.0
        self.end = 0
        """How many bytes were ever printed, kept or not."""
        self.dropped = 0
        with contextlib.suppress(OSError):  # what printed nothing yet has an empty log, not none
            os.makedirs(directory, mode=0o700, exist_ok=True)

    def add(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            if not self._ready():
                self._drop(len(rest))
                return
            try:
                written = self._write(self._fd, rest[: self._segment_end - self.end])
            except OSError as error:
                self._give_up(error)
                continue
            self.end += written
            rest = rest[written:]

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _ready(self) -> bool:
        """Open a segment with room, unless one is open. False if the disk does not let us, or did not a moment ago."""
        if self._fd >= 0 and self.end < self._segment_end:
            return True
        if self._clock() < self._quiet_until:
            return False
        self.close()
        try:
            self._begin_segment()
        except OSError as error:
            self._give_up(error)
            return False
        return True

    def _begin_segment(self) -> None:
        if not self._starts:
            for path in (
                os.path.dirname(self._directory),
                self._directory,
            ):  # but not the run's: if removed, it stays so
                with contextlib.suppress(FileExistsError):
                    os.mkdir(path, 0o700)
        self._throw_away()
        path = self._path(self.end)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._segment_end = self.end + self._segment_bytes
        if not self._starts or self._starts[-1] != self.end:
            self._starts.append(self.end)

    def _throw_away(self) -> None:
        """Delete the oldest segments, so that the new one fits below the limit even when full."""
        room = max(1, self._limit_bytes // self._segment_bytes) - 1
        while len(self._starts) > room:
            oldest = self._starts.pop(0)
            with contextlib.suppress(OSError):
                os.unlink(self._path(oldest))

    def _give_up(self, error: OSError) -> None:
        self.close()
        self._segment_end = 0
        self._quiet_until = self._clock() + RETRY_SECONDS
        if not self.dropped:
            self._trouble(f"output is dropped while it cannot be written: {error.strerror}")

    def _drop(self, count: int) -> None:
        self.end += count
        self.dropped += count

    def _path(self, start: int) -> str:
        return os.path.join(self._directory, segment_name(start))
