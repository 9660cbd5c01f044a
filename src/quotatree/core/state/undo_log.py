"""Changes that can be taken back: previews (X3) and failed commits leave no trace.

`begin()`, change what you like through the methods below, then `commit()` or `rollback()`. Outside a transaction
nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

K = TypeVar("K")
V = TypeVar("V")
Args = TypeVarTuple("Args")

Undo = tuple[Any, ...]
"""A function that takes one change back, and its arguments. A plan may record thousands, so no closures."""


class Journal:
    """The undo log that the state is built on."""

    def __init__(self) -> None:
        self._journal: list[Undo] | None = None

    def begin(self) -> None:
        """Open a transaction: from now on every change can be taken back."""
        if self._journal is not None:
            raise RuntimeError("a transaction is open already")
        self._journal = []

    def commit(self) -> None:
        self._journal = None

    @property
    def in_transaction(self) -> bool:
        return self._journal is not None

    def mark(self) -> int:
        """Return a point inside the transaction to which `rollback_to` can return."""
        if self._journal is None:
            raise RuntimeError("no transaction is open")
        return len(self._journal)

    def rollback_to(self, mark: int) -> None:
        """Take back every change since the mark; the transaction stays open."""
        journal, self._journal = self._journal or [], None
        self._undo_all(journal[mark:])
        self._journal = journal[:mark]

    def rollback(self) -> None:
        """Take back every change since `begin`, and close the transaction."""
        journal, self._journal = self._journal or [], None
        self._undo_all(journal)

    def _undo_all(self, journal: list[Undo]) -> None:
        if not journal:
            return
        for undo in reversed(journal):
            undo[0](*undo[1:])
        self._undone()

    def _undone(self) -> None:
        """Refresh what is remembered outside the journal; called after changes were taken back."""

    def on_undo(self, action: Callable[[*Args], object], *args: *Args) -> None:
        """Record the call that takes back the change being made; outside a transaction do nothing.

        Nothing is recorded while that call is made.
        """
        if self._journal is not None:
            self._journal.append((action, *args))

    def put_entry(self, table: dict[K, V], key: K, value: V) -> None:
        if key in table:
            self.on_undo(table.__setitem__, key, table[key])
        else:
            self.on_undo(table.__delitem__, key)
        table[key] = value

    def drop_entry(self, table: dict[K, V], key: K) -> None:
        if key not in table:
            return
        self.on_undo(table.__setitem__, key, table.pop(key))
