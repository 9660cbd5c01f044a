"""Is this process the only one that works on a data directory? It holds a lock on a file there, which ends with it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO, Final

LOCK_FILE: Final = "server.lock"


class AlreadyServing(Exception):
    pass


def locked(directory: Path) -> IO[str]:
    """Lock a data directory; the lock ends when the returned file is closed, or with the process. Raises AlreadyServing."""
    file = (directory / LOCK_FILE).open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        pid = file.read().strip() or "unknown"
        file.close()
        raise AlreadyServing(f"{directory}: a server works on this data already (process {pid})") from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file
