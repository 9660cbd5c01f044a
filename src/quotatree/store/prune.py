"""What is deleted because its time is over: answers to repeat, and deliveries that went out or were given up.

A few rows at a time, oldest first, so that the one writer never waits long for it. History is never pruned (P13).
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, TextClause, delete, select, text, tuple_

from quotatree.store import tables as t


def answers(connection: Connection, before_ms: int, most: int) -> int:
    return _oldest(connection, t.IDEMPOTENCY, t.IDEMPOTENCY.c.at_ms, before_ms, most)


def deliveries(connection: Connection, before_ms: int, most: int) -> int:
    """Delete deliveries that are not pending and whose last attempt was due before `before_ms`; return how many."""
    return _oldest(connection, t.DELIVERIES, t.DELIVERIES.c.due_ms, before_ms, most, text(t.DONE))


def _oldest(
    connection: Connection, table: Table, column: ColumnElement[int], before_ms: int, most: int, *also: TextClause
) -> int:  # fmt: skip
    keys = table.primary_key.columns
    old = select(*keys).where(column < before_ms, *also).order_by(column).limit(most)
    # The conditions are repeated for the row itself: they are checked again on a row rewritten meanwhile, which stays.
    gone = delete(table).where(tuple_(*keys).in_(old), column < before_ms, *also)
    return connection.execute(gone).rowcount
