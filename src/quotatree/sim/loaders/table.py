"""What does this cell say, and where exactly is a cell that says nothing sensible?

A Table is a CSV file, plain or compressed; a Row knows its line. Every reader of a Row either returns a value in the
simulator's units or raises TraceError with the file, the line, the column and the text found there.
"""

from __future__ import annotations

import csv
import gzip
import lzma
import math
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TextIO

from quotatree.sim.trace import TraceError

MISSING: Final = frozenset({"", "None", "NONE", "none", "null", "NULL", "nan", "NaN", "N/A", "Unknown"})
"""How the traces write that a value is not known."""

_UNREADABLE: Final = (OSError, EOFError, UnicodeDecodeError, csv.Error, lzma.LZMAError, zlib.error)


def open_text(path: Path) -> TextIO:
    """Open a file for reading as text, decompressing .gz and .xz. Raises TraceError."""
    try:
        if path.suffix == ".gz":
            return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
        if path.suffix == ".xz":
            return lzma.open(path, "rt", encoding="utf-8-sig", newline="")
        return path.open("r", encoding="utf-8-sig", newline="")
    except OSError as error:
        raise unreadable(path, 0, error) from None


def first_line(path: Path) -> str:
    """The first line that is not blank, stripped; "" for an empty file."""
    with open_text(path) as text:
        try:
            return next((line.strip() for line in text if line.strip()), "")
        except _UNREADABLE as error:
            raise unreadable(path, 0, error) from None


def whole_text(path: Path) -> str:
    with open_text(path) as text:
        try:
            return text.read()
        except _UNREADABLE as error:
            raise unreadable(path, 0, error) from None


def unreadable(path: Path, line: int, error: BaseException) -> TraceError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return TraceError(str(path), line, "", "", f"cannot be read: {why}")


class Row:
    """One line of a table."""

    __slots__ = ("table", "line", "cells")

    def __init__(self, table: Table, line: int, cells: Sequence[str]) -> None:
        self.table = table
        self.line = line
        self.cells = cells

    def text(self, column: str) -> str:
        """The cell without surrounding blanks; "" also for a column that the table does not have."""
        at = self.table.index.get(column)
        return "" if at is None else self.cells[at].strip()

    def name(self, column: str) -> str:
        """The text of a cell that must not be empty."""
        text = self.text(column)
        if not text:
            raise self.wrong(column, "must not be empty")
        return text

    def missing(self, column: str) -> bool:
        return self.text(column) in MISSING

    def number(self, column: str) -> float:
        """The cell as a finite number, 0 or more."""
        text = self.text(column)
        try:
            number = float(text)
        except ValueError:
            raise self.wrong(column, "must be a number" if text else "must not be empty") from None
        if not math.isfinite(number) or number < 0:
            raise self.wrong(column, "must be a number, 0 or more")
        return number

    def count(self, column: str) -> int:
        """The cell as a whole number, 0 or more; "8.0" is accepted."""
        number = self.number(column)
        if number != int(number):
            raise self.wrong(column, "must be a whole number")
        return int(number)

    def milli(self, column: str) -> int:
        """The cell in thousandths: GPUs as milli-GPU, CPUs as milli-CPU, seconds as milliseconds."""
        return round(self.number(column) * 1000)

    def moment_ms(self, column: str) -> int:
        """A date and time in Unix milliseconds. One without a zone is read as UTC, so that hours stay as written."""
        text = self.text(column)
        try:
            return unix_ms(text)
        except ValueError:
            raise self.wrong(column, "must be a date and time such as 2020-06-09 18:41:01") from None

    def wrong(self, column: str, message: str) -> TraceError:
        return TraceError(self.table.file, self.line, column, self.text(column), message)


class Table:
    """A CSV file with a header, or with `columns` given by the format when the file has none."""

    def __init__(self, path: Path, delimiter: str = ",", columns: Sequence[str] | None = None) -> None:
        self.path = path
        self.file = str(path)
        self.delimiter = delimiter
        self.headless = columns is not None and first_line(path) != delimiter.join(columns)
        self.columns = tuple(columns) if columns is not None else cells_of(first_line(path), delimiter)
        self.index = {name: at for at, name in enumerate(self.columns)}

    def require(self, columns: Sequence[str], format: str) -> None:
        for name in columns:
            if name not in self.index:
                needs = ", ".join(columns)
                raise TraceError(self.file, 1, name, "", f"this column is missing; {format} needs {needs}")

    def rows(self) -> Iterator[Row]:
        """Yield every line that is neither blank nor the header."""
        line = 0
        with open_text(self.path) as text:
            # Slurm does not quote, and a comment of a user may hold a lone quotation mark.
            if self.delimiter == "|":
                reader = csv.reader(text, delimiter="|", quoting=csv.QUOTE_NONE)
            else:
                reader = csv.reader(text, delimiter=self.delimiter)
            expect_header, width = not self.headless, len(self.columns)
            try:
                for cells in reader:
                    line = reader.line_num
                    if not cells or (len(cells) == 1 and not cells[0].strip()):
                        continue
                    if expect_header:
                        expect_header = False
                        continue
                    if len(cells) == width + 1 and self.delimiter == "|" and not cells[-1]:
                        cells.pop()  # sacct --parsable, unlike --parsable2, ends every line with a bar
                    if len(cells) != width:
                        raise TraceError(
                            self.file, line, "", "", f"has {len(cells)} cells where there are {width} columns"
                        )
                    yield Row(self, line, cells)
            except _UNREADABLE as error:
                raise unreadable(self.path, line + 1, error) from None


def cells_of(header: str, delimiter: str) -> tuple[str, ...]:
    """The column names in a header line."""
    names = next(csv.reader([header], delimiter=delimiter), [])
    if len(names) > 1 and not names[-1]:
        names.pop()
    return tuple(name.strip() for name in names)


def unix_ms(text: str) -> int:
    """Unix milliseconds of an ISO date and time; without a zone it is read as UTC. ValueError if it is not one."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
