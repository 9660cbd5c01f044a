"""Values over time as one line of text: a column for each stretch, higher for more, a space where
nothing is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"
PLAIN: Final = "_.:-=+*#"
"""For a terminal that has no blocks, lowest first."""


def spark(values: Sequence[float | None], width: int, highest: float, marks: str = BLOCKS) -> str:
    """Draw values in at most `width` columns; a column shows the mean of its values. `highest` is
    drawn as the highest mark.
    """
    return "".join(_mark(one, highest, marks) for one in columns(values, width))


def columns(values: Sequence[float | None], width: int) -> list[float | None]:
    """Put values together into at most `width` columns of nearly the same length, each the mean of
    what is known in it.
    """
    count = min(width, len(values))
    borders = [round(i * len(values) / count) for i in range(count + 1)] if count > 0 else [0]
    return [_mean(values[start:end]) for start, end in itertools.pairwise(borders)]


def marks_for(encoding: str | None) -> str:
    """The marks that a terminal with this encoding can show."""
    try:
        BLOCKS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return BLOCKS


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _mark(value: float | None, highest: float, marks: str) -> str:
    """Zero is the lowest mark; anything above zero is at least the second, so that a little is not
    taken for nothing.
    """
    if value is None:
        return " "
    if value <= 0 or highest <= 0:
        return marks[0]
    return marks[max(1, min(len(marks) - 1, round(value / highest * (len(marks) - 1))))]
