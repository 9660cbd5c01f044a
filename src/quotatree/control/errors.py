"""What a command can be answered with instead of a result.

QuotaTreeError (core)
├── Refused      (core)   a rule forbids it: field, value, rule
├── NotFound     (access) no such thing, or not for this reader
├── Forbidden    (access) seen, but not allowed
├── Conflict     somebody else changed it first (If-Match), or the state it needs is another one
├── KeyReused    the idempotency key belongs to another request
├── Unavailable  nothing can be written now; nothing was changed, unless it says that this is in doubt; try again
└── Fault        a bug: the command was taken back and logged
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quotatree.access.errors import Forbidden, NotFound
from quotatree.core import QuotaTreeError, Refused


class Conflict(QuotaTreeError):
    """A change was based on a version that is not the present one, so it would overwrite another change."""

    def __init__(self, kind: str, name: str, expected: int, found: int) -> None:
        self.expected = expected
        self.found = found
        self.message = f"{kind} {name!r} has version {found}, not {expected}: read it again"
        if expected == 0:
            self.message = f"there is a {kind} {name!r} already"
        super().__init__(self.message)


class KeyReused(QuotaTreeError):
    def __init__(self, key: str) -> None:
        self.message = f"idempotency key {key!r} was used for another request"
        super().__init__(self.message)


class Unavailable(QuotaTreeError):
    """Nothing can be written now. `retry_after_seconds` is a guess that a client may follow."""

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        self.message = message
        self.retry_after_seconds = retry_after_seconds
        super().__init__(message)


class Fault(QuotaTreeError):
    def __init__(self) -> None:
        self.message = "internal error; nothing was changed"
        super().__init__(self.message)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as a value, for one item of a bulk command and for stored answers. The API decides how it is shown."""

    code: str
    message: str
    field: str = ""
    value: Any = None
    rule: str = ""


def problem_of(error: QuotaTreeError) -> Problem:
    if isinstance(error, Refused):
        return Problem("Refused", error.message, error.field, _plain(error.value), error.rule)
    message = error.message if isinstance(error, NotFound | Forbidden | Conflict | KeyReused) else str(error)
    return Problem(type(error).__name__, message)


def _plain(value: object) -> Any:
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
