"""How does a database that is not there yet come to be whole or not at all? It is written beside its place, then moved there.

Only a file that is missing is written so. One that is there may have a server at work on it, which would go on writing into
the file that was moved away; it is replaced in one transaction instead, as PostgreSQL is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from quotatree.store.database import parse_url
from quotatree.store.errors import NotEmpty, StoreUnavailable

SUFFIX = ".restoring"


@contextmanager
def written_beside(url: str) -> Iterator[str]:
    """Yield the URL to write a store to. If its file is missing, it appears when the block ends well.

    What a process that was killed left beside is removed. Where another process is writing it, StoreUnavailable is raised.
    """
    place = parse_url(url)
    file = Path(os.path.realpath(place.database or ""))
    if place.get_backend_name() != "sqlite" or file.exists():
        yield url
        return
    beside = file.with_name(file.name + SUFFIX)
    try:
        with _only_writer(beside):
            yield str(beside)
            _make_single(beside)
            os.link(beside, file)  # not a rename: it would replace what came to be there meanwhile
    except BlockingIOError:
        raise StoreUnavailable(f"{file}: another restore is writing there") from None
    except FileExistsError:
        raise NotEmpty(f"{file} has come to be meanwhile: restore into a new one, or force it") from None
    except (OSError, sqlite3.Error) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise StoreUnavailable(f"{file}: {why}") from problem
    _sync(file.parent)


@contextmanager
def _only_writer(file: Path) -> Iterator[None]:
    """Let no other process write the file meanwhile. It is not there at the beginning, nor in the end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = file.with_name(file.name + ".lock")
    fd = _locked(lock)
    try:
        _remove(file)
        yield
    finally:
        with contextlib.suppress(OSError):
            _remove(file)
            lock.unlink()
        os.close(fd)


def _locked(file: Path) -> int:
    """The descriptor of the file, which is made if it is missing, with a lock that ends with its process. Raises
    BlockingIOError if another process holds it.
    """
    while True:
        fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(file), os.fstat(fd)):
                    return fd
        except BlockingIOError:
            os.close(fd)
            raise
        os.close(fd)  # that one has ended just now, and taken the file away


def _make_single(file: Path) -> None:
    """Take what stands in the log beside a database into it, check it, and sync it to the disk."""
    with closing(sqlite3.connect(file)) as found:
        found.execute("PRAGMA journal_mode=DELETE")
        said = found.execute("PRAGMA quick_check").fetchone()[0]
        if said != "ok":
            raise StoreUnavailable(f"{file} was not written as it should be: {said}")
    _sync(file)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _remove(file: Path) -> None:
    for name in (file, *(file.with_name(file.name + suffix) for suffix in ("-wal", "-shm", "-journal"))):
        name.unlink(missing_ok=True)
