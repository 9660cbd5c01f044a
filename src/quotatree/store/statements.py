"""SQL for many rows of one table at once, made once for each database and table.

The statement goes to the driver as text with plain values: with hundreds of rows in a batch, what a layer above would
do for each value is most of the time. A row is a tuple in the order of the table's columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Table, bindparam, delete
from sqlalchemy.dialects import postgresql, sqlite

FIRST_ONLY: Final = frozenset({"created_ms"})
"""Columns that an update leaves as they are."""

Rows = Sequence[tuple[Any, ...]]

_made: dict[tuple[str, str, str], str] = {}


def insert_all(connection: Connection, table: Table, rows: Rows) -> None:
    """Insert new rows; a row that is there already is a conflict."""
    if rows:
        connection.exec_driver_sql(_text(connection, table, "insert", FIRST_ONLY), list(rows))


def upsert_all(connection: Connection, table: Table, rows: Rows, fixed: frozenset[str] = frozenset()) -> None:
    """Insert or update rows; `fixed` columns are not updated, so their indexes need not be touched."""
    if rows:
        connection.exec_driver_sql(_text(connection, table, "upsert", fixed | FIRST_ONLY), list(rows))


def delete_all(connection: Connection, table: Table, keys: Rows) -> None:
    """Delete the rows with these primary keys."""
    if keys:
        connection.exec_driver_sql(_text(connection, table, "delete", FIRST_ONLY), list(keys))


def _text(connection: Connection, table: Table, what: str, fixed: frozenset[str]) -> str:
    key = (connection.dialect.name, table.name, what)
    if key not in _made:
        statement, order = _statement(connection, table, what, fixed)
        compiled = statement.compile(dialect=connection.dialect)
        if compiled.positiontup != order:
            raise RuntimeError(f"{table.name}: values go as {compiled.positiontup}, not as {order}")
        _made[key] = str(compiled)
    return _made[key]


def _statement(
    connection: Connection, table: Table, what: str, fixed: frozenset[str]
) -> tuple[Any, list[str]]:
    keys = [column.name for column in table.primary_key]
    if what == "delete":
        return delete(table).where(*(table.c[name] == bindparam(name) for name in keys)), keys
    names = [column.name for column in table.columns]
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table).values({name: bindparam(name) for name in names})
    changing = [name for name in names if name not in keys and name not in fixed]
    if what == "insert":
        return statement, names
    if not changing:
        return statement.on_conflict_do_nothing(), names
    new = {name: statement.excluded[name] for name in changing}
    return statement.on_conflict_do_update(index_elements=keys, set_=new), names
