"""The whole store as one file, taken while the server works, and back into either database.

The file is an SQLite database with the same tables, so a backup of SQLite restores into PostgreSQL and the other way
round. It shows one moment: SQLite copies it by its online backup, PostgreSQL reads it in one REPEATABLE READ transaction.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table, delete, func, insert, select

from quotatree.store.database import connect, parse_url, reading, writing
from quotatree.store.errors import NotEmpty, StoreError, StoreUnavailable
from quotatree.store.form import check
from quotatree.store.migrate import migrate
from quotatree.store.seal import MARK, look_at, seal
from quotatree.store.tables import ENGINE, LEASE, META, METADATA, RUNS

ROWS_AT_ONCE: Final = 1000
OF_THE_STORE: Final = (LEASE, META)
"""Tables that a restore does not copy row by row: the lease says who works with a store, not what is in it, and of the
facts about the whole store all but the mark of a backup go along: which engine has the open runs, too (A7).
"""
UNKNOWN_ENGINE: Final = {"id": "", "where": "an unknown place (the backup does not say)"}


def backup(engine: Engine, path: Path, at_ms: int, *, of_any_form: bool = False) -> None:
    """Write the backup file, whole or not at all. Raises StoreError if the file exists already.

    `of_any_form`: also of tables of an older version, which only SQLite can copy.
    """
    if path.exists():
        raise StoreError(f"{path} exists already: name another file")
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with reading(engine) as connection:
            if not of_any_form:
                check(connection)
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            if engine.dialect.name == "sqlite":
                _copy_pages(connection, part)
            else:
                _copy_tables(connection, part)
        seal(part, at_ms)
        os.link(part, path)
    except (OSError, sqlite3.Error) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise StoreUnavailable(f"{path}: {why}") from problem
    finally:
        part.unlink(missing_ok=True)


def _copy_pages(connection: Connection, part: Path) -> None:
    source: Any = connection.connection.dbapi_connection
    with closing(sqlite3.connect(part)) as target:
        source.backup(target)


def _copy_tables(connection: Connection, part: Path) -> None:
    copy = connect(parse_url(str(part)))
    try:
        with writing(copy) as target:
            migrate(target)
            for table in [*_copied(), LEASE, META]:
                _copy_rows(connection, target, table)
    finally:
        copy.dispose()


def _copied() -> list[Table]:
    """The tables that a restore copies, parents before children."""
    return [table for table in METADATA.sorted_tables if table not in OF_THE_STORE]


def _copy_rows(source: Connection, target: Connection, table: Table) -> None:
    query = select(table).execution_options(yield_per=ROWS_AT_ONCE)
    for rows in source.execute(query).mappings().partitions():
        target.execute(insert(table), [dict(row) for row in rows])


def restore(engine: Engine, path: Path, now_ms: int, *, force: bool = False) -> int:
    """Fill an empty store from a backup; `force`: replace what is there. Returns when the backup was taken, in ms.

    The lease gets a new epoch and no holder, so a server that is still running cannot write into the restored history.
    """
    taken_ms = look_at(path)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "backup.db"
        shutil.copyfile(path, file)
        copy = connect(parse_url(str(file)))
        try:
            with writing(copy) as source:
                migrate(source)
            with reading(copy) as source, writing(engine) as target:
                migrate(target)
                _make_room(target, now_ms, force)
                for table in _copied():
                    _copy_rows(source, target, table)
                _copy_facts(source, target)
                _new_epoch(source, target)
        finally:
            copy.dispose()
    return taken_ms


def _make_room(target: Connection, now_ms: int, force: bool) -> None:
    lease = target.execute(select(LEASE).with_for_update()).mappings().first()
    if lease is not None and lease["holder"] and lease["until_ms"] > now_ms and not force:
        raise NotEmpty(f"{lease['holder']} is working on this store: stop it first")
    full = [
        table.name for table in _copied() if target.execute(select(func.count()).select_from(table)).scalar()
    ]
    if full and not force:
        raise NotEmpty(f"the store is not empty ({', '.join(full)}): restore into a new one, or force it")
    for table in reversed(_copied()):
        target.execute(delete(table))


def _copy_facts(source: Connection, target: Connection) -> None:
    """Copy the facts about the whole store; open runs of which nobody says where they run are nobody's to start again."""
    known = source.execute(select(META.c.key, META.c.value).where(META.c.key != MARK))
    facts: dict[str, str] = {str(key): str(value) for key, value in known}
    open_runs = select(func.count()).select_from(RUNS).where(RUNS.c.ended_ms.is_(None))
    if ENGINE not in facts and source.execute(open_runs).scalar():
        facts[ENGINE] = json.dumps(UNKNOWN_ENGINE)
    target.execute(delete(META))
    if facts:
        target.execute(insert(META), [{"key": key, "value": value} for key, value in facts.items()])


def _new_epoch(source: Connection, target: Connection) -> None:
    then = source.execute(select(LEASE)).mappings().first()
    now = target.execute(select(LEASE)).mappings().first()
    epoch = 1 + max(row["epoch"] if row is not None else 0 for row in (then, now))
    target.execute(delete(LEASE))
    batch = then["batch"] if then is not None else 0
    target.execute(insert(LEASE).values(id=1, holder="", epoch=epoch, until_ms=0, batch=batch))
