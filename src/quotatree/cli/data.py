"""Where does a server keep its things? Options for the commands that work on the data itself, without a server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_UNAVAILABLE, fail

if TYPE_CHECKING:
    from quotatree.store import Store

DATABASE_FILE: Final = "quotatree.db"
DATABASE_VARIABLE: Final = "QUOTATREE_DATABASE"

F = TypeVar("F", bound=Callable[..., Any])


def default_directory() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "quotatree"


def data_options(function: F) -> F:
    function = click.option(
        "--database", metavar="URL", envvar=DATABASE_VARIABLE,
        help="The database: postgresql://…, or a file of SQLite. Without it, a file in the data directory.",
    )(function)  # fmt: skip
    return click.option(
        "--data", "data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
        help="The data directory. Without it, the user's.",
    )(function)  # fmt: skip


def database_url(data: Path | None, database: str | None) -> str:
    return database or str((data or default_directory()) / DATABASE_FILE)


@contextmanager
def opened_store(data: Path | None, database: str | None, *, must_exist: bool = False) -> Iterator[Store]:
    """The store; what is wrong with it is told, and ends the command."""
    from quotatree.store import Store
    from quotatree.store.errors import StoreError, StoreUnavailable

    url = database_url(data, database)
    if must_exist and "://" not in url and not Path(url).exists():
        fail(f"{url}: there is no such database", EXIT_BAD_INPUT)
    try:
        store = Store.open(url)
        try:
            yield store
        finally:
            store.close()
    except StoreUnavailable as error:
        fail(str(error), EXIT_UNAVAILABLE)
    except StoreError as error:
        fail(str(error), EXIT_FAILED)
