"""Where does a server keep its things? Options for the commands that work on the data itself,
without a server.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_UNAVAILABLE, fail

if TYPE_CHECKING:
    from quotatree.api.settings import ServerSettings
    from quotatree.store import Store

DATABASE_FILE: Final = "quotatree.db"

F = TypeVar("F", bound=Callable[..., Any])


def default_directory() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "quotatree"


def data_options(function: F) -> F:
    for option in (
        click.option(
            "--config", type=click.Path(path_type=Path), metavar="FILE",
            help="Settings. Without it, quotatree.toml in the data directory, if it is there.",
        ),
        click.option(
            "--database", metavar="URL",
            help="The database: postgresql://…, or a file of SQLite. Without it, a file in the data directory.",
        ),
        click.option(
            "--data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
            help="The data directory. Without it, the user's.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def server_settings(data: Path | None, database: str | None, config: Path | None) -> ServerSettings:
    """The settings of the server: options win over variables, those over the file. `data` and
    `database` are never None.
    """
    from quotatree.api.settings import FILE, BadSettings, read_settings

    directory = data or Path(os.environ.get("QUOTATREE_DATA") or default_directory())
    usual = directory / FILE
    try:
        found = read_settings(config or (usual if os.path.exists(usual) else None), os.environ)
    except BadSettings as error:
        fail(str(error), EXIT_BAD_INPUT)
    where = data or found.data or default_directory()
    return replace(found, data=where, database=database or found.database or str(where / DATABASE_FILE))


def database_of(data: Path | None, database: str | None, config: Path | None) -> str:
    url = server_settings(data, database, config).database
    assert url is not None
    return url


@contextmanager
def opened_store(url: str, *, must_exist: bool = False, beside: bool = False) -> Iterator[Store]:
    """Open the store, and close it in the end. What goes wrong with it is told, and ends the
    command.

    `beside`: a file that is missing appears in the end, if all went well.
    """
    from quotatree.store import Store
    from quotatree.store.errors import InUse, StoreError, StoreUnavailable
    from quotatree.store.new_file import written_beside

    if must_exist and "://" not in url and not os.path.exists(url):
        fail(f"{url}: there is no such database", EXIT_BAD_INPUT)
    try:
        with (
            written_beside(url) if beside else nullcontext(url) as there,
            closing(Store.open(there)) as store,
        ):
            yield store
    except (StoreUnavailable, InUse) as error:
        fail(str(error), EXIT_UNAVAILABLE)
    except StoreError as error:
        fail(str(error), EXIT_FAILED)
