"""What runs, seen from outside: what a job prints, and where it answers. Both come straight from the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, Any, Final, TypeVar

import anyio.to_thread
from fastapi import Query, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from typing_extensions import TypedDict

from quotatree.access.check import OnJob, check, check_token, may
from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, authenticate, needs
from quotatree.api.job_host import shown_at
from quotatree.api.log_stream import PIECE_BYTES, Log, pieces, start_of_last_lines
from quotatree.api.models.fields import JobInPath, number
from quotatree.api.route import router
from quotatree.api.routes.jobs import visible_job
from quotatree.control.errors import Unavailable
from quotatree.core import Refused
from quotatree.engines.base import EngineUnavailable, LogPiece
from quotatree.store.rows import JobRow

routes = router("output")
T = TypeVar("T")
MOST_LINES: Final = 100_000
HEADERS: Final = {
    "X-Log-Offset": "where this answer begins; more than was asked for if what lay between was thrown away",
    "X-Log-End": "where the log ended when the answer began",
    "X-Log-Closed": "true: nothing more will come after X-Log-End",
    "X-Log-Run": "which run it is of",
}
DESCRIBED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "the bytes as they were printed",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            name: {"description": says, "schema": {"type": "string"}} for name, says in HEADERS.items()
        },
    }
}


class UnreadyOut(TypedDict):
    replica: int
    since_ms: int
    why: str


class EndpointOut(TypedDict):
    """`address` is null while there is none; `ready` is how many replicas of a service are healthy. `in_flight`: requests
    that it has in flight, on average over the last seconds; null if that is not known. `unready`: replicas of a service that
    run and are not healthy, since when, and what is wrong.

    `token` is null for those who may not open the job, and where none is needed.
    """

    address: str | None
    token: str | None
    ready: int
    in_flight: float | None
    unready: list[UnreadyOut]


@routes.get("/jobs/{job}/logs", response_class=StreamingResponse, responses=DESCRIBED)
async def read_logs(
    request: Request,
    job: JobInPath,
    caller: Annotated[Caller, needs(Action.SEE_LOGS)],
    replica: Annotated[int, Query(ge=0, le=100_000)] = 0,
    run: Annotated[int | None, Query(ge=1, lt=1 << 31, description="without it, the last one")] = None,
    offset: Annotated[int | None, Query(ge=0, lt=1 << 53, description="from this byte on")] = None,
    tail_lines: Annotated[
        int | None, Query(ge=0, le=MOST_LINES, description="only the last lines; not with `offset`")
    ] = None,
    limit: Annotated[int | None, Query(ge=1, lt=1 << 53, description="at most so many bytes")] = None,
    follow: Annotated[bool, Query(description="go on until the log is closed")] = False,
) -> Response:
    """What a replica printed, as it printed it: any bytes, output and errors together.

    The answer is one unbroken stretch of the log; the headers say where it begins. It also ends when the log was cut off
    in front, when the token ends, or when the server stops: ask again from where it ended, until X-Log-Closed is true and
    X-Log-End is reached.
    """
    row = await visible_job(caller, Action.SEE_LOGS, job)
    if offset is not None and tail_lines is not None:
        raise Refused("tail_lines", tail_lines, "E3", "give it or offset, not both")
    which = _run(caller, row, run)
    log = partial(caller.services.engine.log, row.id, which, replica)
    start: int | None = offset or 0
    if tail_lines is not None:
        start = await _asked(caller, lambda: start_of_last_lines(log, tail_lines))
    first = None if start is None else await _asked(caller, partial(log, start, PIECE_BYTES))
    if first is None:
        raise NotFound(f"output of replica {replica} of run {which} of job", job)
    headers = {
        "X-Log-Offset": str(first.offset),
        "X-Log-End": str(first.end),
        "X-Log-Closed": "true" if first.closed else "false",
        "X-Log-Run": str(which),
        "X-Accel-Buffering": "no",
    }
    body = _body(request, row, log, first, limit, follow=follow)
    return StreamingResponse(body, media_type="application/octet-stream", headers=headers)


def _run(caller: Caller, row: JobRow, asked: int | None) -> int:
    can = caller.services.engine.capabilities
    if not can.logs:
        raise Refused("job", row.id, "E2", f"runs on the {can.name} engine, which keeps no output")
    if asked is not None:
        return asked
    if row.run == 0:
        raise Refused("job", row.id, "E3", "has not started yet, so there is no output")
    return row.run


def _body(
    request: Request, row: JobRow, log: Log, first: LogPiece, limit: int | None, *, follow: bool
) -> AsyncIterator[bytes]:
    async def read(at: int) -> LogPiece | None:
        """Read on from `at`. Raises if the caller has lost the right, or their token, since the last piece."""
        caller = authenticate(request)
        check(caller.directory, caller.user, Action.SEE_LOGS, OnJob(row.id, row.workspace, row.owner))
        return await _asked(caller, partial(log, at, PIECE_BYTES))

    return pieces(read, first, limit, follow=follow)


@routes.get("/jobs/{job}/endpoint", response_model=EndpointOut)
async def get_endpoint(job: JobInPath, caller: Annotated[Caller, needs(Action.SEE_ENDPOINT)]) -> Response:
    """Where a notebook or a service answers. The token of a notebook is for those who may open the job."""
    row = await visible_job(caller, Action.SEE_ENDPOINT, job)
    engine = caller.services.engine
    found = None
    if engine.capabilities.endpoints and row.phase == "Running":
        found = await _asked(caller, partial(engine.endpoint, row.id, row.run))
    told: EndpointOut = {"address": None, "token": None, "ready": 0, "in_flight": None, "unready": []}
    if found is not None:
        opens = bool(found.token) and _may_open(caller, row)
        told = {
            "address": shown_at(found.address, caller.services.job_host, row.id),
            "token": found.token if opens else None,
            "ready": found.ready,
            "in_flight": None if found.in_flight is None else number(found.in_flight.milli),
            "unready": [{"replica": o.replica, "since_ms": o.since_ms, "why": o.why} for o in found.unready],
        }
    return JSONResponse(told)


def _may_open(caller: Caller, row: JobRow) -> bool:
    try:
        if caller.token is not None:
            check_token(caller.token, Action.OPEN_JOB)
    except Forbidden:
        return False
    return may(caller.directory, caller.user, Action.OPEN_JOB, OnJob(row.id, row.workspace, row.owner))


async def _asked(caller: Caller, question: Callable[[], T]) -> T:
    """Ask the engine, in a thread since it may read a disk, and not in one that the store's readers need."""
    try:
        return await anyio.to_thread.run_sync(question, limiter=caller.services.lookers)
    except EngineUnavailable as error:
        raise Unavailable(str(error)) from None
