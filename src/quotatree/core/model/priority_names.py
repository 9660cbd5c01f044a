"""Which number does a priority's name stand for (W6)? Names are a way of writing: what is kept of them is the number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from quotatree.core.errors import Refused
from quotatree.core.model.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY

PriorityNames = Mapping[str, int]
"""Priorities by name; several names may stand for one."""

MOST_NAMES: Final = 50
RESERVED: Final = frozenset(
    {
        "on", "off", "any", "lower", "all", "none", "null", "true", "false", "yes", "no", "own", "siblings", "level",
        "dlc", "dsw", "eas",
    }
)  # fmt: skip
"""Words that mean something else where a priority may stand, in lower case: switches, short forms, scopes, modules."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_NUMBERS: Final = re.compile(r"-?[0-9]+( *- *[0-9]+)?")


def check_names(names: PriorityNames) -> None:
    """Raise Refused for a name that could be read as a number, a range or another word, or a number that is no priority."""
    if len(names) > MOST_NAMES:
        raise Refused("priorities", len(names), "W6", f"there may be {MOST_NAMES} names")
    for name, priority in names.items():
        if not _NAME.fullmatch(name):
            raise Refused(
                "priorities", name, "W6",
                "a name begins with a letter and has at most 40 letters, digits, '_', '.' and '-'",
            )  # fmt: skip
        if name.lower() in RESERVED:
            raise Refused(
                "priorities",
                name,
                "W6",
                "means something else where a priority may stand; choose another name",
            )
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise Refused(f"priorities.{name}", priority, "W6", "must be a priority, 1 to 9")
        if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
            raise Refused(f"priorities.{name}", priority, "W6", "must be a priority, 1 to 9")


def in_numbers(field: str, said: object, names: PriorityNames) -> object:
    """Return what is said of a priority with numbers for names: in a list, and at both ends of a range, too.

    An unknown name is refused with those there are. Whatever is no text is returned as it is.
    """
    if isinstance(said, list | tuple):
        return [in_numbers(field, one, names) for one in said]
    if not isinstance(said, str):
        return said
    text = said.strip()
    if _NUMBERS.fullmatch(text):
        return said
    if text in names:
        return names[text]
    for dash in (at for at, letter in enumerate(text) if letter == "-"):
        ends = [_end(text[:dash].strip(), names), _end(text[dash + 1 :].strip(), names)]
        if ends[0] is not None and ends[1] is not None:
            return f"{ends[0]}-{ends[1]}"
    known = ", ".join(f"{name} ({priority})" for name, priority in in_order(names)) or "none"
    raise Refused(field, said, "W6", f"no such priority; there are 1 to 9 and the names: {known}")


def name_of(priority: int, names: PriorityNames) -> str | None:
    """Return the name of a priority, the first of several by letter; None if it has none."""
    return min((name for name, number in names.items() if number == priority), default=None)


def in_order(names: PriorityNames) -> list[tuple[str, int]]:
    """Return names and numbers, highest first."""
    return sorted(names.items(), key=lambda entry: (-entry[1], entry[0]))


def _end(text: str, names: PriorityNames) -> int | None:
    if text.isascii() and text.isdigit():
        return int(text)
    return names.get(text)
