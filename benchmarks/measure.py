"""How figures are taken and printed: medians of warm runs, budgets beside them, ratios within one run."""

from __future__ import annotations

import gc
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")
COLLECT_EVERY = (50_000, 20, 100)
"""As the server's loop (control/loop.py) and, with rarer ones still, a replay do for themselves; the core never does."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot that belongs to a table: its file name, a description and its SVG."""

    name: str
    shows: str
    svg: str


@dataclass(slots=True)
class Table:
    """A titled table that prints as Markdown, so that the docs can contain it."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    note: str = ""
    pictures: list[Picture] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        self.rows.append(tuple(str(cell) for cell in cells))

    def text(self) -> str:
        widths = [max(len(row[i]) for row in [self.columns, *self.rows]) for i in range(len(self.columns))]
        lines = [f"### {self.title}", ""]
        for number, row in enumerate([self.columns, *self.rows]):
            lines.append(
                "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
            )
            if number == 0:
                lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
        if self.note:
            lines += ["", self.note]
        for picture in self.pictures:
            lines += ["", f"![{picture.shows}](plots/{picture.name}.svg)"]
        return "\n".join(lines)


def budgets() -> dict[str, dict[str, float]]:
    """The reviewed budgets, by benchmark."""
    with (Path(__file__).parent / "budgets.toml").open("rb") as file:
        return tomllib.load(file)


def verdict(seen: float, budget: float) -> str:
    return "within" if seen <= budget else f"MISSED x{seen / budget:.2f}"


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """The result of the call, and the milliseconds it took."""
    started = perf_counter()
    answer = call()
    return answer, (perf_counter() - started) * 1000


def middle(times: Sequence[float]) -> float:
    return median(times)


def settle() -> None:
    """Keep the garbage collector off what was built while times are measured, and as rare as in a server's loop."""
    gc.set_threshold(*COLLECT_EVERY)
    gc.collect()
    gc.freeze()


def ms(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"
