"""`quotatree migrate`, `backup`, `restore`: the tables and all that is in them, without a server."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from quotatree.cli.run.data import data_options, database_of, opened_store


def _file(ctx: click.Context, param: click.Parameter, value: Path) -> Path:
    """The path, which may lead to nothing yet. One that cannot be looked at ends the command."""
    try:
        os.stat(value)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise click.BadParameter(f"{value}: {error.strerror}", ctx, param) from None
    return value


@click.command()
@data_options
def migrate(data: Path | None, database: str | None, config: Path | None) -> None:
    """Bring the tables of the database up to date, or make them. Doing it twice changes nothing."""
    with opened_store(database_of(data, database, config)) as store:
        before, after = store.migrate()
        if before == after:
            click.echo(f"{store.url} is up to date, at revision {after}")
        else:
            click.echo(f"{store.url}: from {before or 'nothing'} to revision {after}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), callback=_file)
@data_options
def backup(file: Path, data: Path | None, database: str | None, config: Path | None) -> None:
    """Write everything that is stored to FILE, as of one moment. The server may go on working meanwhile."""
    with opened_store(database_of(data, database, config), must_exist=True) as store:
        store.backup(file, time.time_ns() // 1_000_000)
    click.echo(f"{file}: {file.stat().st_size:,} bytes")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), callback=_file)
@click.option("--force", is_flag=True, help="Replace what is there, also under a server that still runs.")
@data_options
def restore(file: Path, force: bool, data: Path | None, database: str | None, config: Path | None) -> None:
    """Fill an empty database from FILE, a backup of either kind of database. If it fails, everything stays as it was."""
    from quotatree.store.database import parse_url, shown

    url = database_of(data, database, config)
    with opened_store(url, beside=True) as store:
        taken_ms = store.restore(file, time.time_ns() // 1_000_000, force=force)
    when = datetime.fromtimestamp(taken_ms / 1000, UTC).isoformat(" ", "seconds")
    click.echo(f"{shown(parse_url(url))}: as it was at {when}")
