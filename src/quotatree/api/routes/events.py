"""What happens, as it happens: a page of events after a number, or a stream that goes on where it was cut off.

Numbers rise by one with every event of the server; a reader sees only the events for them, so there are gaps.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any, Final

from fastapi import Header, Query, Request
from pydantic import StringConstraints
from starlette.responses import JSONResponse, Response, StreamingResponse
from typing_extensions import TypedDict

from quotatree.access.check import PLATFORM, OnQuota, OnWorkspace, check, may, path_of, visible_quotas
from quotatree.access.redaction import Reader
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, authenticate, needs
from quotatree.api.models.fields import JOB_ID, InPath, Limit, Names
from quotatree.api.problems import ApiError
from quotatree.api.route import router
from quotatree.api.routes.jobs import visible_job
from quotatree.control.event_kinds import unknown_kind
from quotatree.control.eyes import parents
from quotatree.core import QuotaTreeError
from quotatree.store import HistoryFilter, Store
from quotatree.store.rows import EventRow

routes = router("events")
HEARTBEAT_SECONDS: Final = 15.0
GATHER_SECONDS: Final = 0.05
"""Pause of a stream before it reads the store: a busy server commits hundreds of times a second."""
AT_ONCE: Final = 500
FIGURES: Final = "quota.figures"
FIGURES_SECONDS: Final = 1.0
"""At least so long from one event of figures to the next on a stream."""
QUOTA_KINDS: Final = (
    "quota.created",
    "quota.deleted",
    "quota.loan_returned",
    "quota.scaled",
    "quota.updated",
)
Kinds = Annotated[
    list[Annotated[str, StringConstraints(pattern="^[a-z_.]{1,64}$")]] | None,
    Query(max_length=50, description="such as job.started; without it, all"),
]
After = Annotated[
    int | None, Query(ge=0, lt=1 << 53, description="the number of the last event one has seen")
]


class EventOut(TypedDict):
    seq: int
    at_ms: int
    kind: str
    workspace: str | None
    quota: str | None
    job: str | None
    body: dict[str, Any]


class EventPage(TypedDict):
    """`last`: ask again with after=last; it rises also over events that are not for this reader."""

    items: list[EventOut]
    last: int


Wanted = Callable[[EventOut], bool]


def event_out(row: EventRow) -> EventOut:
    return {
        "seq": row.seq,
        "at_ms": row.at_ms,
        "kind": row.kind,
        "workspace": row.workspace,
        "quota": row.quota,
        "job": row.job,
        "body": row.body,
    }


def _shown(rows: Sequence[EventRow], reads: Reader, actor: str) -> list[EventOut]:
    """The events for this reader: of jobs and workspaces that they see, of quotas that they see, others if they see nodes."""
    if reads.everything:
        return [event_out(row) for row in rows]
    quotas = visible_quotas(reads.directory, actor, reads.tree)
    nodes = may(reads.directory, actor, Action.SEE_NODES, PLATFORM)

    def sees(row: EventRow) -> bool:
        if row.job is not None:
            return row.workspace in reads.jobs_of
        if row.workspace is not None:
            return row.workspace in reads.workspaces
        return row.quota in quotas if row.quota is not None else nodes

    return [_masked(event_out(row), reads) for row in rows if sees(row)]


def _masked(event: EventOut, reads: Reader) -> EventOut:
    """The event without names that the reader may not know: a transfer names the other quota, a change who made it."""
    if event["workspace"] is None:
        event["body"] = reads.event(event["body"])
    return event


async def _asked(
    caller: Caller, workspace: list[str] | None, job: str | None, kind: list[str] | None
) -> HistoryFilter:
    unknown = unknown_kind(tuple(one for one in kind or () if one != FIGURES))
    if unknown is not None:
        raise ApiError("Invalid", f"query.kind: {unknown[0][:40]!r}: {unknown[1]}")
    for name in workspace or ():
        check(caller.directory, caller.user, Action.SEE_WORKSPACE, OnWorkspace(name))
    if job is not None:
        await visible_job(caller, Action.SEE_JOB, job)
    return HistoryFilter(
        workspaces=None if workspace is None else tuple(sorted(set(workspace))),
        job=job,
        kinds=None if kind is None else tuple(sorted(set(kind))),
    )


async def _page(
    caller: Caller, after: int, asked: HistoryFilter, limit: int, figures: Figures | None = None
) -> EventPage:
    published = caller.services.controller.published
    known = after if published is None else published.last_event
    reads = await caller.eyes()

    def question(store: Store) -> EventPage:
        rows = store.events(after, asked, limit)
        last = rows[-1].seq if rows else after
        if figures is not None:
            figures.note(rows, reads)
        return {
            "items": _shown(rows, reads, caller.user),
            "last": last if len(rows) == limit else max(known, last),
        }

    return await caller.read(question)


@routes.get("/events", response_model=EventPage)
async def list_events(
    caller: Annotated[Caller, needs(None)],
    workspace: Names = None,
    job: Annotated[str | None, Query(pattern=JOB_ID)] = None,
    kind: Kinds = None,
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """Events after a number, oldest first. A page may be short or empty and yet not be the last: compare `last`."""
    asked = await _asked(caller, workspace, job, kind)
    return JSONResponse(await _page(caller, after or 0, asked, limit))


@routes.get("/quotas/{quota}/history", response_model=EventPage)
async def get_quota_history(
    quota: InPath, caller: Annotated[Caller, needs(Action.SEE_QUOTA)], after: After = 0, limit: Limit = 100
) -> Response:
    """What was done to a quota: created, updated, scaled, its loan returned; oldest first.

    The body says `by` whom, if the reader may know, and in `changes` what changed: `what`, `before` and `after`, in words.
    """
    tree = await caller.ask(lambda world, _: parents(world))
    check(caller.directory, caller.user, Action.SEE_QUOTA, OnQuota(path_of(quota, tree)))
    asked = HistoryFilter(quotas=(quota,), kinds=QUOTA_KINDS)
    return JSONResponse(await _page(caller, after or 0, asked, limit))


@routes.get(
    "/events/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream_events(
    request: Request,
    caller: Annotated[Caller, needs(None)],
    workspace: Names = None,
    job: Annotated[str | None, Query(pattern=JOB_ID)] = None,
    kind: Kinds = None,
    after: After = None,
    figures: Annotated[bool, Query(description="with events that say whose figures changed")] = False,
    last_event_id: Annotated[str | None, Header(pattern="^[0-9]{1,15}$")] = None,
) -> Response:
    """Server-sent events: `id` is the number, `event` the kind, `data` the event as JSON.

    Goes on after Last-Event-ID, or after `after`; without either, with what happens from now on. Ends when the token or
    session does. With `figures`, an event `quota.figures` without a number says that figures of the quotas that it names, or of
    some below them, may have changed, by whosever work; it comes at most once a second.
    """
    asked = await _asked(caller, workspace, job, kind)
    if figures:
        asked = HistoryFilter()  # others' work changes figures, too; what is not asked for is dropped below

    def wanted(event: EventOut) -> bool:
        of_kind = kind is None or event["kind"] in kind
        of_workspace = workspace is None or event["workspace"] in workspace
        return of_kind and of_workspace and job in (None, event["job"])

    published = caller.services.controller.published
    now = 0 if published is None else published.last_event
    start = int(last_event_id) if last_event_id is not None else now if after is None else after
    return StreamingResponse(
        _stream(request, start, asked, Figures() if figures else None, wanted),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


class Figures:
    """Which quotas' figures may have changed since a stream told them last (Q7)."""

    def __init__(self) -> None:
        self._changed: dict[str, None] = {}
        self._told_at = -FIGURES_SECONDS

    def note(self, rows: Sequence[EventRow], reads: Reader) -> None:
        """Note the nearest quota to each row's that the reader knows by name: its figures, or those of some below, changed."""
        for row in rows:
            path = path_of(row.quota, reads.tree) if row.quota is not None and row.quota in reads.tree else ()
            known = next((name for name in path if reads.everything or name in reads.quotas), None)
            if known is not None:
                self._changed[known] = None

    def wait_seconds(self, now: float) -> float | None:
        """Seconds until they may be told; None: nothing has changed."""
        return max(0.0, self._told_at + FIGURES_SECONDS - now) if self._changed else None

    def told(self, now: float) -> str:
        """The event that tells them, and forget them."""
        data = json.dumps({"quotas": sorted(self._changed)}, separators=(",", ":"))
        self._changed, self._told_at = {}, now
        return f"event: {FIGURES}\ndata: {data}\n\n"


async def _stream(
    request: Request, after: int, asked: HistoryFilter, figures: Figures | None, wanted: Wanted
) -> AsyncIterator[str]:
    woken = asyncio.Event()
    loop = asyncio.get_running_loop()
    controller = request.app.state.services.controller
    end = controller.listen(lambda _: loop.call_soon_threadsafe(woken.set))
    try:
        yield ": listening\n\n"
        while True:
            woken.clear()
            page = await _page(authenticate(request), after, asked, AT_ONCE, figures)
            for event in page["items"]:
                if not wanted(event):
                    continue
                data = json.dumps(event, separators=(",", ":"))
                yield f"id: {event['seq']}\nevent: {event['kind']}\ndata: {data}\n\n"
            if page["last"] > after:
                after = page["last"]
                continue
            pause = None if figures is None else figures.wait_seconds(loop.time())
            if figures is not None and pause == 0:
                yield figures.told(loop.time())
                pause = None
            try:
                await asyncio.wait_for(woken.wait(), HEARTBEAT_SECONDS if pause is None else pause)
                await asyncio.sleep(GATHER_SECONDS)
            except TimeoutError:
                if pause is None:
                    yield f": {after}\n\n"
    except QuotaTreeError:
        return
    finally:
        end()
