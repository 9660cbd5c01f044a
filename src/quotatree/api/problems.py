"""How is an error told over HTTP? RFC 9457: one table of codes with their status and title."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, NotRequired

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from quotatree.api import invalid
from quotatree.control.errors import Fault, Unavailable
from quotatree.control.errors import Problem as KeptProblem
from quotatree.core import QuotaTreeError, Refused
from quotatree.identity.errors import LoginPending, TooManyFailures, Unauthenticated
from quotatree.store.errors import BadCursor, StoreError

log = structlog.get_logger(__name__)
MEDIA_TYPE: Final = "application/problem+json"
PROBLEM_SCHEMA: Final = {"$ref": "#/components/schemas/Problem"}
URN: Final = "urn:quotatree:problem:"
LONGEST_VALUE: Final = 500
NO_PAGE: Final = "Not Found"
"""What the framework says of an address that it does not know."""


class ProblemKind(NamedTuple):
    status: int
    title: str


PROBLEMS: Final = {
    "Malformed": ProblemKind(400, "The request cannot be read"),
    "BadCursor": ProblemKind(400, "The cursor belongs to no page of this list"),
    "Unauthenticated": ProblemKind(401, "Who are you?"),
    "Forbidden": ProblemKind(403, "You may not do this"),
    "NotFound": ProblemKind(404, "There is no such thing, or it is not for you"),
    "MethodNotAllowed": ProblemKind(405, "This cannot be done here"),
    "Conflict": ProblemKind(409, "Somebody else changed it first"),
    "KeyReused": ProblemKind(409, "The idempotency key belongs to another request"),
    "PreconditionFailed": ProblemKind(412, "It is not the version you have read"),
    "TooLarge": ProblemKind(413, "The body is too large"),
    "UnsupportedMediaType": ProblemKind(415, "The body must be JSON"),
    "Invalid": ProblemKind(422, "A field is not what it must be"),
    "Refused": ProblemKind(422, "A rule forbids it"),
    "PreconditionRequired": ProblemKind(428, "Say which version you have read"),
    "TooMany": ProblemKind(429, "Too many at once"),
    "TooManyFailures": ProblemKind(429, "Too many failed logins"),
    "LoginPending": ProblemKind(400, "The login is not confirmed yet"),
    "Fault": ProblemKind(500, "A bug of ours; nothing was changed"),
    "ProviderFailed": ProblemKind(502, "The identity provider does not answer as it should"),
    "Unavailable": ProblemKind(503, "Nothing can be written now"),
}
"""By code. The code is stable; titles are for people."""


REFUSALS: Final = frozenset({401, 403, 404})


class FieldProblem(TypedDict):
    """One field of a request that is not what it must be."""

    field: str
    message: str


class Problem(TypedDict):
    """RFC 9457, with our reason codes. `field` and `value` say what was refused, `rule` by which rule of the rulebook."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: NotRequired[str]
    field: NotRequired[str]
    value: NotRequired[Any]
    rule: NotRequired[str]
    errors: NotRequired[list[FieldProblem]]


class ApiError(QuotaTreeError):
    """An error that arises in the API itself; `code` is one of PROBLEMS."""

    def __init__(self, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        self.code = code
        self.message = message
        self.headers = headers or {}
        super().__init__(message)


def problem(code: str, detail: str) -> Problem:
    kind = PROBLEMS[code]
    return {
        "type": URN + code,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "code": code,
    }


def problem_of(error: QuotaTreeError) -> Problem:
    if isinstance(error, Refused):
        said = problem("Refused", error.message)
        said["field"], said["value"], said["rule"] = error.field, plain(error.value), error.rule
        return said
    if isinstance(error, ApiError):
        return problem(error.code, error.message)
    if isinstance(error, StoreError) and not isinstance(error, BadCursor):
        return problem("Unavailable", "the store does not answer")
    code = type(error).__name__
    return problem(code if code in PROBLEMS else "Fault", str(error) if code in PROBLEMS else Fault().message)


def problem_kept(kept: KeptProblem) -> Problem:
    """The problem of one item of a bulk command."""
    said = problem(kept.code if kept.code in PROBLEMS else "Fault", kept.message)
    if kept.field:
        said["field"], said["value"], said["rule"] = kept.field, plain(kept.value), kept.rule
    return said


def plain(value: object) -> Any:
    """The value as a number, bool, None or a text of at most LONGEST_VALUE characters, to be sent back."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
    if isinstance(value, bool | int | float | type(None)):
        return value
    if isinstance(value, list | tuple):
        return plain(", ".join(str(one) for one in value))
    return plain(str(value))


def answer(request: Request, said: Problem, headers: dict[str, str] | None = None) -> Response:
    said["instance"] = request.url.path
    return JSONResponse(said, said["status"], headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Have every error of a request answered as a problem."""
    app.add_exception_handler(QuotaTreeError, _told)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _bug)


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, QuotaTreeError)
    said = problem_of(error)
    if said["code"] == "Fault":
        log.error("request_failed", path=request.url.path, error=str(error))
    if said["status"] in REFUSALS:
        _note_refusal(request, said)
    return answer(request, said, _headers(error))


def _note_refusal(request: Request, said: Problem) -> None:
    """Log and count an attempt without the right to it: who asked, for what, from where."""
    caller = getattr(request.state, "caller", None)
    log.warning(
        "attempt_refused",
        status=said["status"],
        code=said["code"],
        user="" if caller is None else caller.user,
        method=request.method,
        path=request.url.path[:200],
        peer="" if request.client is None else request.client.host,
    )
    services = getattr(request.app.state, "services", None)
    if services is not None:
        services.controller.metrics.refused.labels(said["code"]).inc()


async def _gone(request: Request, error: Exception) -> Response:
    """Answer nobody: the client went away in the middle of its request, which is no fault of the server."""
    del request, error
    return Response(status_code=400)


def _headers(error: QuotaTreeError) -> dict[str, str]:
    if isinstance(error, ApiError):
        return error.headers
    if isinstance(error, TooManyFailures):
        return {"Retry-After": str(-(-error.retry_after_ms // 1000))}
    if isinstance(error, LoginPending):
        return {"Retry-After": str(-(-error.interval_ms // 1000))}
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, Unavailable):
        return {"Retry-After": str(error.retry_after_seconds)}
    if isinstance(error, StoreError) and not isinstance(error, BadCursor):
        return {"Retry-After": "1"}
    return {}


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = invalid.furthest(error.errors())[:20]
    errors = [_field_problem(one, request) for one in found]
    said = problem("Invalid", "; ".join(f"{one['field']}: {one['message']}" for one in errors[:3]))
    said["errors"] = errors
    if errors:
        said["field"] = errors[0]["field"]
        sent = invalid.value(found[0])
        if sent is not None:
            said["value"] = sent
    return answer(request, said)


def _field_problem(error: Any, request: Request) -> FieldProblem:
    path = ".".join(invalid.place(error)) or "body"
    return {"field": plain(path), "message": plain(invalid.message(error, request))}


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes = {404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}
    code = codes.get(error.status_code, "Malformed" if error.status_code < 500 else "Fault")
    told = code != "NotFound" or error.detail != NO_PAGE
    detail = str(error.detail) if told else "no such address"
    return answer(request, problem(code, detail), dict(error.headers or {}))


async def _bug(request: Request, error: Exception) -> Response:
    log.error("request_broke", path=request.url.path, exc_info=error)
    return answer(request, problem("Fault", Fault().message))
