"""Changes that can be taken back: previews (X3) and failed commits leave no trace.

`begin()`, change what you like through the methods below, then `commit()` or `rollback()`. Outside a transaction
nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

K = TypeVar("K")
V = TypeVar("V")
Args = TypeVarTuple("Args")

Undo = tuple[Any, ...]
"""A function that takes one change back, and its arguments. A plan may record thousands, so no closures."""


class Mark(NamedTuple):
    """A point inside a transaction: how much was recorded by then, and the number of the last change."""

    recorded: int
    change: int


class Journal:
    """The undo log that the state is built on.

    `change` counts the changes: while it is the same, nothing is different but what plans remember. A rollback sets it
    back, so whatever is remembered together with it must be taken back too (`on_forget`).
    """

    def __init__(self) -> None:
        self._journal: list[Undo] | None = None
        self._kept: set[object] = set()  # whose values were recorded since the last mark
        self.change = 0
        self._change_before = 0  # the number of the last change before the transaction

    def begin(self) -> None:
        """Open a transaction: from now on every change can be taken back."""
        if self._journal is not None:
            raise RuntimeError("a transaction is open already")
        self._journal = []
        self._kept = set()
        self._change_before = self.change

    def commit(self) -> None:
        self._journal = None

    @property
    def in_transaction(self) -> bool:
        return self._journal is not None

    def mark(self) -> Mark:
        """Return a point inside the transaction to which `rollback_to` can return."""
        if self._journal is None:
            raise RuntimeError("no transaction is open")
        self._kept.clear()
        return Mark(len(self._journal), self.change)

    def rollback_to(self, mark: Mark) -> None:
        """Take back every change since the mark; the transaction stays open."""
        journal, self._journal = self._journal or [], None
        undone = journal[mark.recorded :]
        del journal[mark.recorded :]
        self._kept.clear()
        self._undo_all(undone)
        self._journal, self.change = journal, mark.change

    def rollback(self) -> None:
        """Take back every change since `begin`, and close the transaction."""
        journal, self._journal = self._journal or [], None
        self._undo_all(journal)
        self.change = self._change_before

    def _undo_all(self, journal: list[Undo]) -> None:
        if not journal:
            return
        for undo in reversed(journal):
            undo[0](*undo[1:])
        self._undone()

    def _undone(self) -> None:
        """Refresh what is remembered outside the journal; called after changes were taken back."""

    def on_undo(self, action: Callable[[*Args], object], *args: *Args) -> None:
        """Count the change being made and record the call that takes it back; outside a transaction record nothing.

        Nothing is recorded while that call is made.
        """
        self.change += 1
        if self._journal is not None:
            self._journal.append((action, *args))

    def on_forget(self, action: Callable[[*Args], object], *args: *Args) -> None:
        """Do as `on_undo` for what a plan remembers or tells, which no attempt looks at: it does not count as a change."""
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
