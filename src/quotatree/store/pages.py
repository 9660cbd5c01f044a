"""Lists in pages: a cursor says after which entry the next page begins, so nothing is skipped or told twice while
others write.

A cursor is only good for the list it came from: it carries what was asked for.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Column, Connection, Label, RowMapping, Select, Table, select, tuple_, union_all

from quotatree.store.errors import BadCursor

T = TypeVar("T")

MOST: Final = 1000
BRANCHES: Final = 32
FARTHEST: Final = 1 << 53
"""Largest place in a list that a cursor may name; with a page added, it must still be a number that slices take."""
NOT_OURS: Final = "not a cursor that a page of this list gave out"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list. `next` is the cursor of the next page, None on the last."""

    items: tuple[T, ...]
    next: str | None


def fetch(
    connection: Connection, branches: Sequence[Select[Any]], keys: Sequence[Column[Any] | Label[Any]], asked: object,
    cursor: str | None, limit: int, ascending: bool = False, *, make: Callable[[RowMapping], T],
) -> Page[T]:  # fmt: skip
    """One page of all branches together, largest `keys` first, or smallest if `ascending`. Raises BadCursor.

    `cursor` None: the first page.

    Each branch is a part of the list that an index has in this order already.
    """
    limit = max(1, min(limit, MOST))
    after = None if cursor is None else open_cursor(cursor, asked, [key.type.python_type for key in keys])
    plain = [key.element if isinstance(key, Label) else key for key in keys]
    in_order = [key.asc() if ascending else key.desc() for key in plain]
    parts = []
    for branch in branches:
        if after is not None:
            place, last = (tuple_(*plain), tuple_(*after)) if len(keys) > 1 else (plain[0], after[0])
            branch = branch.where(place > last if ascending else place < last)
        parts.append(branch.order_by(*in_order).limit(limit + 1))
    if len(parts) == 1:
        rows = connection.execute(parts[0]).mappings().all()
    else:
        together = union_all(*(select(part.subquery()) for part in parts)).subquery()
        order = [together.c[key.name].asc() if ascending else together.c[key.name].desc() for key in keys]
        rows = connection.execute(select(together).order_by(*order).limit(limit + 1)).mappings().all()
    more = len(rows) > limit
    rows = rows[:limit]
    end = [rows[-1][key.name] for key in keys] if more else None
    return Page(tuple(make(row) for row in rows), None if end is None else make_cursor(asked, end))


def by_each(table: Table, *wanted: tuple[str, Sequence[str] | None]) -> list[Select[Any]]:
    """One branch for each combination of values, so that an index that begins with the columns has its rows in order.

    Values None: any. A column that would make more than BRANCHES branches is only filtered by.
    """
    branches = [select(table)]
    for column, values in wanted:
        if values is None:
            continue
        if len(values) * len(branches) > BRANCHES:
            branches = [branch.where(table.c[column].in_(values)) for branch in branches]
        else:
            branches = [
                branch.where(table.c[column] == value) for branch in branches for value in sorted(set(values))
            ]
    return branches


def make_cursor(asked: object, last: Sequence[Any]) -> str:
    text = json.dumps([_fingerprint(asked), *last], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def open_cursor(cursor: str, asked: object, kinds: Sequence[type]) -> list[Any]:
    """Keys of the last entry, one of each of `kinds`. They may be forged. Raises BadCursor for a cursor of another list."""
    try:
        data = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        raise BadCursor(NOT_OURS) from None
    if type(data) is not list or len(data) != len(kinds) + 1 or data[0] != _fingerprint(asked):
        raise BadCursor("a cursor of another list: ask with the same filter as for the page before")
    if not all(type(one) is kind and _can_be_asked(one) for one, kind in zip(data[1:], kinds, strict=True)):
        raise BadCursor(NOT_OURS)
    return data[1:]


def open_place(cursor: str, asked: object) -> int:
    """How many entries come before the page, for a list that is not stored. Raises BadCursor."""
    place: int = open_cursor(cursor, asked, [int])[0]
    if not 0 <= place <= FARTHEST:
        raise BadCursor(NOT_OURS)
    return place


def _can_be_asked(value: object) -> bool:
    """Whether a database takes the value: a number of 64 bits, or a text without NUL and lone surrogates."""
    if isinstance(value, int):
        return abs(value) < 1 << 63
    return isinstance(value, str) and not re.search("[\x00\ud800-\udfff]", value)


def _fingerprint(asked: object) -> str:
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:12]
