"""What can go wrong between a program and the server?

ClientError
├── NotSent            what was given cannot be written into a request, such as a number that is none; nothing was sent
├── NotReachable       no answer: not there, cut off, too slow; a change may or may not have been made
├── BadAnswer          something answered that is not QuotaTree, or not this version of its API
└── ApiError           the server said no, as a problem (RFC 9457)
    ├── Invalid        the request cannot be read, or a field is not what it must be
    ├── Refused        a rule forbids it
    ├── Unauthenticated  no token, or one that opens nothing
    ├── Forbidden      the rights do not suffice
    ├── NotFound       there is no such thing, or it is not for this user
    ├── Conflict       somebody else changed it first
    ├── TooMany        too many failed logins, or too many at once: wait
    ├── Pending        a login that has not been confirmed yet
    └── Unavailable    nothing can be written now; nothing was changed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final


class ClientError(Exception):
    """Base class of everything the client raises on purpose."""


class NotSent(ClientError):
    pass


class NotReachable(ClientError):
    pass


class BadAnswer(ClientError):
    pass


class ApiError(ClientError):
    """The server's refusal. `code` is stable; `field`, `value` and `rule` tell what a rule refused.

    `errors` are (field, message) pairs of the fields that are wrong.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code", ""))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.field: str | None = problem.get("field")
        self.value: Any = problem.get("value")
        self.rule: str | None = problem.get("rule")
        self.errors: tuple[tuple[str, str], ...] = tuple(
            (str(one.get("field", "")), str(one.get("message", ""))) for one in problem.get("errors", ())
        )
        self.retry_after_seconds: float | None = None
        super().__init__(self._text())

    def _text(self) -> str:
        said = self.detail or self.title or f"HTTP {self.status}"
        wrong = [f"{field}: {message}" for field, message in self.errors]
        return "; ".join([said, *(line for line in wrong if line not in said)])


class Invalid(ApiError):
    pass


class Refused(ApiError):
    pass


class Unauthenticated(ApiError):
    pass


class Forbidden(ApiError):
    pass


class NotFound(ApiError):
    pass


class Conflict(ApiError):
    pass


class TooMany(ApiError):
    pass


class Pending(ApiError):
    pass


class Unavailable(ApiError):
    pass


BY_CODE: Final[Mapping[str, type[ApiError]]] = {
    "Malformed": Invalid,
    "BadCursor": Invalid,
    "TooLarge": Invalid,
    "UnsupportedMediaType": Invalid,
    "Invalid": Invalid,
    "Refused": Refused,
    "Unauthenticated": Unauthenticated,
    "Forbidden": Forbidden,
    "NotFound": NotFound,
    "Conflict": Conflict,
    "KeyReused": Conflict,
    "PreconditionFailed": Conflict,
    "PreconditionRequired": Conflict,
    "TooMany": TooMany,
    "TooManyFailures": TooMany,
    "LoginPending": Pending,
    "ProviderFailed": Unavailable,
    "Unavailable": Unavailable,
}


def error_of(status: int, problem: Mapping[str, Any]) -> ApiError:
    """The error for an answer that is not a success; a plain ApiError if its code is unknown."""
    return BY_CODE.get(str(problem.get("code")), ApiError)(status, problem)
