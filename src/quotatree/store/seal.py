"""The mark of a finished backup: which format it has, when it was taken, and a digest of all its rows.

A file that was damaged since would restore into a history that never was, or stop half-way with a word about the wrong
database. So the digest is compared before anything is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from quotatree.store.errors import BadBackup
from quotatree.store.form import is_known

SCHEMA: Final = "quotatree.backup/1"
MARK: Final = "backup"
"""The key of the mark in the table `meta`."""


def seal(part: Path, at_ms: int) -> None:
    """Mark the file as a finished backup, make it a single file (no WAL beside it), and sync it to the disk."""
    with closing(sqlite3.connect(part)) as file:
        file.execute("PRAGMA journal_mode=DELETE")
        mark = json.dumps({"schema": SCHEMA, "at_ms": at_ms, "rows": digest(file)})
        file.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (MARK, mark))
        file.commit()
    with part.open("rb") as written:
        os.fsync(written.fileno())


def look_at(path: Path) -> int:
    """When the backup was taken, in ms. Raises BadBackup for a file that this version cannot restore."""
    if not path.is_file():
        raise BadBackup(f"{path}: there is no such file")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as file:
            row = file.execute("SELECT value FROM meta WHERE key = ?", (MARK,)).fetchone()
            version = file.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        raise BadBackup(f"{path} is not a backup of QuotaTree, or is damaged") from None
    mark = _parsed(row[0]) if row is not None else {}
    if mark.get("schema") != SCHEMA or not isinstance(mark.get("at_ms"), int) or version is None:
        raise BadBackup(f"{path} is not a finished backup of QuotaTree ({SCHEMA})")
    if not is_known(version[0]):
        raise BadBackup(
            f"{path} was made by a newer QuotaTree (revision {version[0]}): restore it with that version"
        )
    _check_rows(path, mark.get("rows"))
    taken_ms: int = mark["at_ms"]
    return taken_ms


def digest(file: sqlite3.Connection) -> str:
    """A digest of all rows of all tables but the mark's, whatever order they are read in."""
    file.text_factory = bytes
    tables = [
        name.decode() for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    total = 0
    for table in tables:
        for row in file.execute(f'SELECT * FROM "{table}"'):
            if table != "meta" or row[0] != MARK.encode():
                total += int.from_bytes(hashlib.sha256(repr((table, row)).encode()).digest(), "big")
    return f"{total % (1 << 256):064x}"


def _check_rows(path: Path, expected: object) -> None:
    """Raise BadBackup unless all rows are as they were written; an older version wrote no digest, only reading tells."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as file:
            found = digest(file)
    except (sqlite3.Error, UnicodeError) as problem:
        raise BadBackup(f"{path} is damaged: {problem}") from problem
    if expected is not None and found != expected:
        raise BadBackup(f"{path} is damaged: its rows are not those that were written")


def _parsed(text: object) -> dict[str, Any]:
    """The mark as it was written; empty if this is none."""
    try:
        mark = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        mark = None
    return mark if isinstance(mark, dict) else {}
