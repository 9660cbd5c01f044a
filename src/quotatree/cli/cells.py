"""How many cells of a terminal does a text take? Letters of some scripts and most emoji take two,
accents that combine none.
"""

from __future__ import annotations

import unicodedata
from typing import Final

JOINER: Final = "\u200d"
EMOJI_STYLE: Final = "\ufe0f"
CUT: Final = "…"
_NOTHING: Final = frozenset({"Mn", "Me", "Cf", "Cc"})
"""Categories of characters that take no cell: marks on the character before, and what is not
printed.
"""


def width(text: str) -> int:
    """Number of cells that the text takes."""
    return len(text) if text.isascii() else sum(cells for _, cells in _clusters(text))


def padded(text: str, cells: int) -> str:
    """The text with spaces behind it, so that it takes at least so many cells."""
    return text + " " * (cells - width(text))


def cut(text: str, cells: int) -> str:
    """The text, or its beginning with … if it takes more cells than these. No character is cut in
    two.
    """
    if width(text) <= cells:
        return text
    kept, left = "", cells - 1
    for cluster, taken in _clusters(text):
        if taken > left:
            break
        kept, left = kept + cluster, left - taken
    return kept + CUT


def wrapped(text: str, cells: int) -> list[str]:
    """The text as lines of at most so many cells, broken at spaces; a word that is longer is broken
    where it must be.
    """
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width(longer) <= cells:
            line = longer
            continue
        if line:
            lines.append(line)
        *whole, line = _pieces(word, cells)
        lines += whole
    return [*lines, line]


def _pieces(word: str, cells: int) -> list[str]:
    pieces, room = [""], cells
    for cluster, taken in _clusters(word):
        if taken > room and pieces[-1]:
            pieces.append("")
            room = cells
        pieces[-1] += cluster
        room -= taken
    return pieces


def _clusters(text: str) -> list[tuple[str, int]]:
    """The text in parts that are shown as one, each with its cells: a character with its marks, or
    emoji that are joined.
    """
    found: list[tuple[str, int]] = []
    for character in text:
        if found and (found[-1][0].endswith(JOINER) or character in (JOINER, EMOJI_STYLE)):
            cells = 2 if character == EMOJI_STYLE else found[-1][1]
            found[-1] = (found[-1][0] + character, cells)
        elif found and unicodedata.category(character) in _NOTHING:
            found[-1] = (found[-1][0] + character, found[-1][1])
        else:
            found.append((character, _own_width(character)))
    return found


def _own_width(character: str) -> int:
    if unicodedata.category(character) in _NOTHING:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
