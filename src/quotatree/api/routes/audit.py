"""Who did what? And for those who run the server, all it knows as one file."""

from __future__ import annotations

from typing import Annotated, Any

import anyio.to_thread
from fastapi import Query
from pydantic import StringConstraints
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from quotatree.access.check import PLATFORM, OnWorkspace, check
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.models.fields import WHOLE_NAME, Cursor, Limit, Moment, Names
from quotatree.api.route import router
from quotatree.codec.snapshot_file import snapshot_text
from quotatree.control.world import World
from quotatree.core import Snapshot, snapshot
from quotatree.store import HistoryFilter, Store

routes = router("audit")


class AuditOut(TypedDict):
    seq: int
    at_ms: int
    actor: str
    action: str
    target: str
    workspace: str | None
    body: dict[str, Any]


class AuditPage(TypedDict):
    items: list[AuditOut]
    next: str | None


@routes.get("/audit", response_model=AuditPage)
async def list_audit(
    caller: Annotated[Caller, needs(Action.SEE_AUDIT)],
    workspace: Annotated[
        str | None, Query(pattern=WHOLE_NAME, description="owners and admins see their own")
    ] = None,
    actor: Names = None,
    action: Annotated[
        list[Annotated[str, StringConstraints(pattern="^[a-z_.]{1,64}$")]] | None, Query(max_length=50)
    ] = None,
    target: Annotated[str | None, Query(max_length=200, pattern="^[a-z]+:[A-Za-z0-9._-]+$")] = None,
    from_ms: Moment = None,
    before_ms: Moment = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Every change with who made it, newest first; of one workspace, or for platform admins all."""
    if workspace is None:
        check(caller.directory, caller.user, Action.SEE_AUDIT, PLATFORM)
    else:
        check(caller.directory, caller.user, Action.SEE_WORKSPACE_AUDIT, OnWorkspace(workspace))
    asked = HistoryFilter(
        workspaces=None if workspace is None else (workspace,),
        actors=None if actor is None else tuple(sorted(set(actor))),
        kinds=None if action is None else tuple(sorted(set(action))),
        target=target,
        from_ms=from_ms,
        before_ms=before_ms,
    )

    def question(store: Store) -> AuditPage:
        page = store.audit(asked, cursor, limit)
        return {
            "items": [
                {
                    "seq": row.seq,
                    "at_ms": row.at_ms,
                    "actor": row.actor,
                    "action": row.action,
                    "target": row.target,
                    "workspace": row.workspace,
                    "body": row.body,
                }
                for row in page.items
            ],
            "next": page.next,
        }

    return JSONResponse(await caller.read(question))


@routes.get(
    "/snapshot",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def get_snapshot(caller: Annotated[Caller, needs(Action.OPERATE)]) -> Response:
    """Pools, nodes, quotas and active jobs, as the file that `quotatree plan` starts from."""
    check(caller.directory, caller.user, Action.OPERATE, PLATFORM)

    def query(world: World, now_ms: int) -> tuple[Snapshot, int]:
        return snapshot(world.state), now_ms

    text = await anyio.to_thread.run_sync(snapshot_text, *await caller.ask(query))
    return Response(text, media_type="application/json")
