"""How do the tables become those of this version? By migrations (Alembic, its scripts inside the package)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from alembic import command
from sqlalchemy import Connection, text

from quotatree.store.form import check_not_newer, config, tables

LOCK: Final = 0x71756F7461
"""Key of a PostgreSQL advisory lock: with it, two servers that start together migrate one after the other."""

Progress = Callable[[int, int], None]
"""Told by a step that takes long: how many of how many are done."""


def migrate(
    connection: Connection,
    progress: Progress = lambda done, of: None,
    after: Callable[[], None] = lambda: None,
) -> None:
    """Bring the tables up to date, inside the caller's transaction; `after` is called after each step.

    Raises NewerTables if they are those of a newer version.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    check_not_newer(tables(connection))
    asked = config(connection)
    asked.attributes.update(progress=progress, after=after)
    command.upgrade(asked, "head")
