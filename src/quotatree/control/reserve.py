"""What is done when the disk is full? A reserve, kept aside in small files, lets jobs be stopped; the largest one is named.

Each piece is given back to the disk at the moment in which a stop is to be committed: a job that fills the disk would
have a larger one in no time. Pieces are put aside again when there is room.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

log = structlog.get_logger(__name__)

PIECES: Final = 8
PIECE_BYTES: Final = 1024 * 1024
NAME: Final = "reserve"


class Reserve:
    """Room on the disk of one directory, held by files that say nothing."""

    def __init__(
        self, directory: Path, culprit: Callable[[], str] = str, piece_bytes: int = PIECE_BYTES
    ) -> None:
        """`culprit` returns which job takes the most room, "" if none is known; it may take its time."""
        self._directory = directory
        self._culprit = culprit
        self._piece_bytes = piece_bytes
        self._looking = threading.Lock()
        self.largest = ""

    def fill(self) -> None:
        """Put aside what is missing, if the disk has room for that several times over."""
        missing = [path for path in self._paths() if not path.exists()]
        with contextlib.suppress(OSError):
            if shutil.disk_usage(self._directory).free < 4 * PIECES * self._piece_bytes:
                return
            for path in missing:
                _allocate(path, self._piece_bytes)

    @property
    def left(self) -> bool:
        return any(path.exists() for path in self._paths())

    def give(self) -> bool:
        """Give one piece back to the disk; False if there is none left."""
        for path in self._paths():
            try:
                path.unlink()
            except OSError:
                continue
            return True
        return False

    def name_culprit(self, error: str) -> None:
        """Find out, in a thread of its own, which job takes the most room, and log it as an error."""
        if self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, args=(error,), name="disk-full", daemon=True).start()

    def _look(self, error: str) -> None:
        try:
            self.largest = self._culprit()
            log.error("disk_full", error=error, largest=self.largest or "no job is known to fill it")
        except Exception:
            log.exception("disk_full", error=error)
        finally:
            self._looking.release()

    def _paths(self) -> list[Path]:
        return [self._directory / f"{NAME}.{number}" for number in range(PIECES)]


class NoReserve(Reserve):
    """Where the store is not on a disk of ours."""

    def __init__(self) -> None:
        super().__init__(Path("/nonexistent"))

    def fill(self) -> None:
        """Put nothing aside."""


def _allocate(path: Path, size: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(fd, 0, size)
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(fd)
