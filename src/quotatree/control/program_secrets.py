"""How does a program keep its secrets? What stands under `secrets` reaches the engine, and nothing else.

The value must be stored with the job, since it is needed again after a restart. Everywhere else it is a text that prints
as three stars: in a repr, and so in logs, messages and fingerprints of requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

FIELD: Final = "secrets"
STARS: Final = "***"


class Secret(str):
    """A text whose repr is three stars, so that printing a value it is part of does not show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return STARS


def sealed(program: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the program whose secrets can be used, and are three stars in its repr."""
    return _with_secrets(program, Secret)


def shown(program: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the program with the names of its secrets, and three stars for each value."""
    return _with_secrets(program, lambda _: STARS)


def _with_secrets(program: Mapping[str, Any], change: Any) -> dict[str, Any]:
    if FIELD not in program:
        return dict(program)
    inside = program[FIELD]
    if not isinstance(inside, Mapping):
        return {**program, FIELD: STARS}
    return {**program, FIELD: {name: change(str(value)) for name, value in inside.items()}}
