"""Connections: SQLite or PostgreSQL by URL, with the settings that make a commit durable; errors in our own words.

SQLite: WAL (readers never wait for the writer), synchronous=FULL (an acknowledged commit survives a power cut, at the
price of one fsync for each batch), foreign keys on. PostgreSQL: psycopg 3; its own defaults are durable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc, make_url

from quotatree.store.errors import DiskFull, NotMigrated, StoreConflict, StoreError, StoreUnavailable

BUSY_MS: Final = 10_000
"""How long to wait for another process that writes."""


def parse_url(text: str) -> URL:
    """The URL in `sqlite:///path`, a bare path, or `postgresql://…`. Raises StoreError for anything else."""
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except (exc.ArgumentError, ValueError):
        raise StoreError("not a database URL; allowed: sqlite:///path, a path, postgresql://…") from None
    backend = url.get_backend_name()
    if backend == "sqlite" and url.database and url.database != ":memory:":
        return url.set(drivername="sqlite")
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise StoreError(f"{shown(url)}: allowed are sqlite:///path, a path, and postgresql://…")


def shown(url: URL) -> str:
    """The URL for people and logs, with stars for a password, also for one in its query."""
    query = {key: "***" if "pass" in key.lower() else value for key, value in url.query.items()}
    return url.set(query=query).render_as_string(hide_password=True)


def connect(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        return _sqlite(url)
    defaults = {"connect_timeout": "5", "keepalives_idle": "10", "tcp_user_timeout": "15000"}
    missing = {key: value for key, value in defaults.items() if key not in url.query}
    engine = create_engine(
        url, paramstyle="format", pool_pre_ping=True, pool_size=10, max_overflow=10, connect_args=missing,
        hide_parameters=True,
    )  # fmt: skip

    @event.listens_for(engine, "connect")
    def settings(connection: Any, record: Any) -> None:
        del record
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {BUSY_MS}")
        connection.commit()

    return engine


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": BUSY_MS / 1000}, pool_size=10, max_overflow=10,
        hide_parameters=True,  # errors are logged, and rows of jobs have secrets in them
    )  # fmt: skip
    _private_file(Path(url.database or ""))

    @event.listens_for(engine, "connect")
    def settings(connection: Any, record: Any) -> None:
        del record
        connection.isolation_level = None  # the listener below begins transactions, not the driver
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _private_file(path: Path) -> None:
    """Make the file if it is missing, for its owner's eyes only: it holds hashes of tokens and passwords."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as problem:
        raise StoreUnavailable(f"{path}: {problem.strerror}") from problem


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A read transaction, which sees the store as it was at one moment."""
    with translated(engine), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A write transaction, committed at the end of the block, or rolled back if the block raises."""
    with (
        translated(engine),
        engine.connect() as connection,
        connection.execution_options(writes=True).begin(),
    ):
        yield connection


@contextmanager
def translated(engine: Engine) -> Iterator[None]:
    """Raise the driver's errors as StoreErrors, with their first line only: the rest may hold parameters."""
    try:
        yield
    except exc.DBAPIError as problem:
        told = str(problem.orig).strip().splitlines()
        text = f"{shown(engine.url)}: {told[0] if told else type(problem.orig).__name__}"
        if "no such table" in text or type(problem.orig).__name__ == "UndefinedTable":
            raise NotMigrated(f"{text}: run `quotatree migrate` first") from problem
        if isinstance(problem, exc.IntegrityError | exc.DataError | exc.ProgrammingError):
            raise StoreConflict(text) from problem
        if "disk is full" in text or type(problem.orig).__name__ == "DiskFull":
            raise DiskFull(text) from problem
        raise StoreUnavailable(text) from problem
    except (OverflowError, UnicodeError) as problem:
        raise StoreConflict(f"{shown(engine.url)}: a value that no column can hold: {problem}") from problem
    except exc.TimeoutError as problem:
        raise StoreUnavailable(f"{shown(engine.url)}: no free connection") from problem
