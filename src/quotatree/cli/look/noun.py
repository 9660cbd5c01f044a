"""What is a noun of `get` and `describe`? Its words, its columns, and how its items are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quotatree.client import Client


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list. `wide`: only with -o wide and csv. `csv`: only with -o csv."""

    title: str
    cell: Callable[[Any], str]
    wide: bool = False
    for_csv: Callable[[Any], str] | None = None
    """The cell for programs, where people are shown more; None: the same."""
    csv: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a list is narrowed to; each noun uses the fields that concern it."""

    workspace: tuple[str, ...] = ()
    quota: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    phase: tuple[str, ...] = ()
    module: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    job: str | None = None
    since_ms: int | None = None
    after: int | None = None
    below: bool = False
    finished: bool = False
    most: int | None = None


def _itself(item: Any) -> Iterable[Any]:
    return (item,)


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind of thing that can be listed. `one` fetches a single item by name; without it, all are
    looked through.

    `filters`: the options that it knows. `spare`: columns that a narrow terminal can do without,
    the first of them first. `lines`: the rows of one item. `names_quotas`: its names say of which
    quotas, and name no items. `named`: the noun that `-o name` prints; "" is its own word. `none`:
    what is told if there are no items.
    """

    word: str
    aliases: tuple[str, ...]
    name: Callable[[Any], str]
    columns: tuple[Column, ...]
    every: Callable[[Client, Asked], Iterable[Any]]
    one: Callable[[Client, str], Any] | None = None
    filters: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    lines: Callable[[Any], Iterable[Any]] = _itself
    names_quotas: bool = False
    named: str = ""
    none: str = ""

    def header(self, wide: bool) -> list[str]:
        return [column.title for column in self._shown(wide)]

    def rows(self, item: Any, wide: bool) -> list[list[str]]:
        return [[column.cell(line) for column in self._shown(wide)] for line in self.lines(item)]

    def csv_header(self) -> list[str]:
        return [column.title.lower() for column in self.columns]

    def csv_rows(self, item: Any) -> list[list[str]]:
        return [
            [(column.for_csv or column.cell)(line) for column in self.columns] for line in self.lines(item)
        ]

    def names(self, item: Any) -> list[str]:
        """The item as `-o name` prints it: its noun and its name. Empty if it has none."""
        name = self.name(item)
        return [f"{self.named or self.word}/{name}"] if name else []

    def _shown(self, wide: bool) -> list[Column]:
        return [column for column in self.columns if not column.csv and (wide or not column.wide)]


def key(name: str) -> Callable[[Any], str]:
    return lambda item: str(item[name])
