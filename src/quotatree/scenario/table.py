"""One TOML table being read: every field is taken once, by its type, and what is left over is refused.

A misspelt field that were ignored would make a story pass that tests nothing, so nothing is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TypeVar

from quotatree.core import Refused
from quotatree.scenario.amounts import Unreadable, as_count, as_text
from quotatree.scenario.errors import RuleBroken, ScenarioError

T = TypeVar("T")
D = TypeVar("D")


class Table:
    """A TOML table and where it stands. Call `end` when all known fields have been taken."""

    def __init__(self, where: str, fields: object) -> None:
        if not isinstance(fields, Mapping):
            raise ScenarioError(where, f"must be a table, not {fields!r}")
        self.where = where
        self._fields: dict[str, object] = dict(fields)
        self._asked: list[str] = []

    def has(self, name: str) -> bool:
        return name in self._fields

    def says(self, name: str, value: object) -> bool:
        """Take the field if it has exactly this value; True if it was taken."""
        if name not in self._fields or self._fields[name] != value:
            return False
        del self._fields[name]
        return True

    def need(self, name: str, read: Callable[[object], T]) -> T:
        """Take a field that must be there."""
        self._asked.append(name)
        if name not in self._fields:
            raise ScenarioError(self.where, f"{name} is missing")
        return self._read(name, read)

    def take(self, name: str, read: Callable[[object], T], default: D) -> T | D:
        """Take a field, or return `default` if it is absent."""
        self._asked.append(name)
        return self._read(name, read) if name in self._fields else default

    def table(self, name: str) -> Table | None:
        """Take a table inside this one; None if it is absent."""
        self._asked.append(name)
        if name not in self._fields:
            return None
        return Table(f"{self.where}, {name}", self._fields.pop(name))

    def tables(self, name: str) -> list[object]:
        """Take a list of tables inside this one; empty if absent. They are raw, so that the caller can name each."""
        self._asked.append(name)
        found = self._fields.pop(name, [])
        if isinstance(found, Mapping):
            return [found]
        if not isinstance(found, list):
            raise ScenarioError(self.where, f"{name} = {found!r}: must be a list of tables, [[{name}]]")
        return found

    def names(self, field: str) -> list[str]:
        """Take one name, or a prefix and a count: prefix0, prefix1 … Later messages name them as part of `where`."""
        if self.either((field, f"{field}_prefix")) == field:
            only = self.need(field, as_text)
            self.where += f" {only}"
            return [only]
        prefix = self.need(f"{field}_prefix", as_text)
        self.where += f" {prefix}*"
        count = self.need("count", as_count)
        if count < 1:
            raise self.fail("count", count, "must be at least 1")
        return [f"{prefix}{i}" for i in range(count)]

    def either(self, names: tuple[str, ...]) -> str:
        """The one of `names` that is there. It is an error if there is none or more than one."""
        found = [name for name in names if name in self._fields]
        if len(found) != 1:
            said = " and ".join(found) if found else "none of them"
            raise ScenarioError(self.where, f"needs exactly one of {', '.join(names)}; it has {said}")
        return found[0]

    def fail(self, name: str, value: object, message: str) -> ScenarioError:
        return ScenarioError(self.where, f"{name} = {value!r}: {message}")

    def end(self) -> None:
        """Refuse the first field that was never taken."""
        for name in self._fields:
            close = get_close_matches(name, self._asked, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise ScenarioError(
                self.where,
                f"{name} is not a field here; {hint}allowed: {', '.join(sorted(set(self._asked)))}",
            )

    def _read(self, name: str, read: Callable[[object], T]) -> T:
        value = self._fields.pop(name)
        try:
            return read(value)
        except Unreadable as why:
            raise self.fail(name, value, str(why)) from None
        except Refused as why:
            raise RuleBroken(self.where, why) from None
