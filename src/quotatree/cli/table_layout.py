"""How wide are the columns of a table, and what gives way where a terminal is too narrow for all of
it?
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import click

from quotatree.cli.cells import cut, padded, width, wrapped
from quotatree.cli.safe_text import one_line

STYLES: Final[Mapping[str, str]] = {
    "Running": "green",
    "Succeeded": "green",
    "Ready": "green",
    "ok": "green",
    "Waiting": "yellow",
    "Held": "yellow",
    "OnHold": "yellow",
    "Cordoned": "yellow",
    "Draining": "yellow",
    "warning": "yellow",
    "Failed": "red",
    "Lost": "red",
    "bad": "red",
}
"""Words that have a colour wherever they are a whole cell."""
GAP: Final = 2
LEAST: Final = 6
"""A column is cut to no less than this, nor to less than its title."""
LEAST_OF_LAST: Final = 24
"""The last column, which often is a sentence, keeps so much before it is wrapped."""

Row = Sequence[str]


def terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None if it is a pipe or a file, where nothing may be
    cut.
    """
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def widths_of(rows: Sequence[Row]) -> list[int]:
    """Width of each column but the last, which is not padded."""
    return [max(width(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]


def table_lines(rows: Sequence[Row], widths: Sequence[int]) -> list[str]:
    """One line for each row. A cell that is longer than its column pushes aside the rest of its
    line only.
    """
    lines = []
    for row in ([one_line(cell) for cell in row] for row in rows):
        cells = [_styled(cell, padded(cell, cells)) for cell, cells in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, _styled(row[-1], row[-1])]).rstrip())
    return lines


def without_spare(
    header: Row, rows: Sequence[Row], room: int, spare: Sequence[str]
) -> tuple[Row, Sequence[Row], list[str]]:
    """The table without as many of the `spare` columns, in their order, as it must lose to fit; and
    which they were.
    """
    left_out: list[str] = []
    for title in spare:
        if title not in header or _needs(header, rows, room) <= room:
            continue
        gone = list(header).index(title)
        header = [*header[:gone], *header[gone + 1 :]]
        rows = [[*row[:gone], *row[gone + 1 :]] for row in rows]
        left_out.append(title)
    return header, rows, left_out


def _needs(header: Row, rows: Sequence[Row], room: int) -> int:
    """Cells that a table takes after its columns have given way."""
    last = max(width(row[-1]) for row in [header, *rows])
    widths = _narrowed(header, widths_of([header, *rows]), last, room)
    return sum(widths) + GAP * len(widths) + min(last, LEAST_OF_LAST)


def fitted_lines(header: Row, rows: Sequence[Row], room: int) -> list[list[str]]:
    """The lines of the header and of each row within so many cells. The first column, by which
    things are named, is whole; the others are cut, widest first; the last is wrapped. What is too
    narrow for that goes beyond the edge.
    """
    widths = _narrowed(
        header, widths_of([header, *rows]), max(width(row[-1]) for row in [header, *rows]), room
    )
    begin = sum(widths) + GAP * len(widths)
    found = []
    for row in [header, *rows]:
        inner = [cut(cell, cells) for cell, cells in zip(row, widths, strict=False)]
        first, *more = wrapped(row[-1], room - begin) if room - begin >= LEAST else [row[-1]]
        styled = [
            _styled(cell, padded(short, cells))
            for cell, short, cells in zip(row, inner, widths, strict=False)
        ]
        last = _styled(row[-1], first)
        found.append(["  ".join([*styled, last]).rstrip(), *(" " * begin + line for line in more)])
    return found


def _narrowed(header: Row, widths: list[int], last: int, room: int) -> list[int]:
    widths = list(widths)
    wanted = room - min(last, LEAST_OF_LAST) - GAP * len(widths)
    least = [max(LEAST, width(title)) for title in header[:-1]]
    while sum(widths) > wanted:
        wide = [i for i in range(1, len(widths)) if widths[i] > least[i]]
        if not wide:
            break
        widths[max(wide, key=lambda i: widths[i])] -= 1
    return widths


def _styled(text: str, shown: str) -> str:
    return click.style(shown, fg=STYLES[text]) if text in STYLES else shown
