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
    """The same text to whoever uses it, three stars to whoever prints what it is part of."""

    __slots__ = ()

    def __repr__(self) -> str:
        return STARS


def sealed(program: Mapping[str, Any]) -> dict[str, Any]:
    """The program as the server holds it: usable, and safe to print with repr."""
    return _with_secrets(program, Secret)


def shown(program: Mapping[str, Any]) -> dict[str, Any]:
    """The program as anybody may read it: which secrets there are, and none of them."""
    return _with_secrets(program, lambda _: STARS)


def _with_secrets(program: Mapping[str, Any], change: Any) -> dict[str, Any]:
    if FIELD not in program:
        return dict(program)
    inside = program[FIELD]
    if not isinstance(inside, Mapping):
        return {**program, FIELD: STARS}
    return {**program, FIELD: {name: change(str(value)) for name, value in inside.items()}}
