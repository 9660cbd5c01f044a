"""`quotatree migrate`, `backup`, `restore`: the tables and all that is in them, without a server."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from quotatree.cli.output import EXIT_UNAVAILABLE, fail
from quotatree.cli.run.data import (
    DATABASE_FILE,
    data_options,
    database_of,
    opened_store,
    server_settings,
)


def _file(ctx: click.Context, param: click.Parameter, value: Path) -> Path:
    """The path, which may lead to nothing yet. One that cannot be looked at ends the command."""
    try:
        os.stat(value)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise click.BadParameter(f"{value}: {error.strerror}", ctx, param) from None
    return value


@contextmanager
def _alone_in(directory: Path | None) -> Iterator[None]:
    """Hold the lock of a data directory that is there; the command ends if a server has it."""
    from quotatree.server.directory_lock import AlreadyServing, locked

    if directory is None or not directory.is_dir():
        yield
        return
    try:
        lock = locked(directory)
    except AlreadyServing as error:
        fail(str(error), EXIT_UNAVAILABLE)
    with lock:
        yield


@click.command()
@data_options
def migrate(data: Path | None, database: str | None, config: Path | None) -> None:
    """Bring the tables of the database up to date, or make them, while no server leads. Doing it
    twice changes nothing.

    `serve` does so by itself. Of an SQLite file with tables of an older version a backup is written
    beside it first.
    """
    settings = server_settings(data, database, config)
    assert settings.data is not None
    assert settings.database is not None
    own_file = settings.database == str(settings.data / DATABASE_FILE)
    with _alone_in(settings.data if own_file else None), opened_store(settings.database) as store:
        holder = f"quotatree migrate ({socket.gethostname()}:{os.getpid()})"
        before, after = store.migrate(holder, lambda line: click.echo(line, err=True))
        if before == after:
            click.echo(f"{store.url} is up to date, at revision {after}")
        else:
            click.echo(f"{store.url}: from {before or 'nothing'} to revision {after}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), callback=_file)
@data_options
def backup(file: Path, data: Path | None, database: str | None, config: Path | None) -> None:
    """Write everything that is stored to FILE, as of one moment. The server may go on working
    meanwhile.
    """
    with opened_store(database_of(data, database, config), must_exist=True) as store:
        store.backup(file, time.time_ns() // 1_000_000)
    click.echo(f"{file}: {file.stat().st_size:,} bytes")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), callback=_file)
@click.option("--force", is_flag=True, help="Replace what is there, also under a server that still runs.")
@data_options
def restore(file: Path, force: bool, data: Path | None, database: str | None, config: Path | None) -> None:
    """Fill an empty database from FILE, a backup of either kind of database. If it fails,
    everything stays as it was.
    """
    from quotatree.store.database import parse_url, shown

    url = database_of(data, database, config)
    with opened_store(url, beside=True) as store:
        taken_ms = store.restore(file, time.time_ns() // 1_000_000, force=force)
    when = datetime.fromtimestamp(taken_ms / 1000, UTC).isoformat(" ", "seconds")
    click.echo(f"{shown(parse_url(url))}: as it was at {when}")
