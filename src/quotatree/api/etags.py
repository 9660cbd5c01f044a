"""Which version has the caller read? ETag and If-Match, and keys that make a create safe to repeat.

An ETag is the version in quotes. If-Match is honoured wherever something with a version is changed, and PUT, which
replaces all of it, must carry it: `"3"`, or `*` for "whatever is there".
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Header
from starlette.responses import JSONResponse, Response

from quotatree.api.caller import Caller
from quotatree.api.models.answers import Done
from quotatree.api.problems import ApiError
from quotatree.control.commands.values import Answer, Command
from quotatree.control.errors import Conflict

IfMatch = Annotated[
    str | None, Header(max_length=64, description='the version the change is based on, such as "3", or *')
]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="the same key with the same request is done once and answered alike",
    ),
]


def expected(if_match: str | None, *, required: bool = False) -> int | None:
    """The version in If-Match; None: any. Raises ApiError if it is no version, or missing although `required`."""
    if if_match is None:
        if required:
            raise ApiError(
                "PreconditionRequired", 'PUT needs If-Match: the version you have read, such as "3", or *'
            )
        return None
    text = if_match.strip()
    if text == "*":
        return None
    found = re.fullmatch(r'"([0-9]{1,15})"', text)
    if found is None:
        raise ApiError("PreconditionFailed", f'{text[:40]} is no version; give one such as "3"')
    return int(found[1])


def conflict(error: Conflict, if_match: str | None) -> ApiError:
    return ApiError("PreconditionFailed" if if_match is not None else "Conflict", error.message)


def tagged(body: Any, version: int | None, status: int = 200, location: str | None = None) -> Response:
    headers = {} if version is None else {"ETag": f'"{version}"'}
    if location is not None:
        headers["Location"] = location
    return JSONResponse(body, status, headers)


async def changed(caller: Caller, command: Command, if_match: str | None) -> Response:
    """Carry out a command; answer with the id and new version of what it changed."""
    try:
        return done(await caller.call(command))
    except Conflict as error:
        raise conflict(error, if_match) from None


def done(answer: Answer, status: int = 200, location: str | None = None) -> Response:
    said: Done = {"id": answer.id, "version": answer.version}
    if answer.notice:
        said["notice"] = answer.notice
    return tagged(said, answer.version, status, location)
