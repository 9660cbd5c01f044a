"""Workspaces: members and roles, bound quotas, the scheduling centre (W1-W4)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import JSONResponse, Response

from quotatree.access.check import OnWorkspace, check, visible_workspaces
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action, Role
from quotatree.access.values import Workspace
from quotatree.api.caller import Caller, needs
from quotatree.api.etags import IfMatch, Key, changed, done, expected, tagged
from quotatree.api.models.answers import Done
from quotatree.api.models.fields import InPath
from quotatree.api.models.workspaces import (
    CentreIn,
    CentreOut,
    MemberIn,
    RoleName,
    WorkspaceChange,
    WorkspaceIn,
    WorkspaceOut,
    Workspaces,
    centre_out,
    workspace_out,
)
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do

routes = router("workspaces")


def visible(caller: Caller, workspace: str) -> Workspace:
    check(caller.directory, caller.user, Action.SEE_WORKSPACE, OnWorkspace(workspace))
    return caller.directory.workspace(workspace)


@routes.get("/workspaces", response_model=Workspaces)
async def list_workspaces(caller: Annotated[Caller, needs(Action.SEE_WORKSPACE)]) -> Response:
    """One's own; for a platform admin all."""
    names = sorted(visible_workspaces(caller.directory, caller.user))
    allowed, known = caller.allowed(), caller.directory.workspaces
    found: Workspaces = {"items": [workspace_out(known[name], allowed) for name in names]}
    return JSONResponse(found)


@routes.post("/workspaces", status_code=201, response_model=Done, responses=problems(409, 413, 415))
async def create_workspace(
    body: WorkspaceIn, caller: Annotated[Caller, needs(Action.CREATE_WORKSPACE)], key: Key = None
) -> Response:
    """Make a workspace, with its owners. Bind quotas to it so that it can submit."""
    command = do.CreateWorkspace(
        actor=caller.user, key=key, workspace=body.id, description=body.description, owners=tuple(body.owners)
    )
    return done(await caller.call(command), 201, f"/api/v1/workspaces/{body.id}")


@routes.get("/workspaces/{workspace}", response_model=WorkspaceOut)
async def get_workspace(
    workspace: InPath, caller: Annotated[Caller, needs(Action.SEE_WORKSPACE)]
) -> Response:
    """One workspace with its members and bound quotas."""
    found = visible(caller, workspace)
    return tagged(workspace_out(found, caller.allowed()), found.version)


@routes.patch("/workspaces/{workspace}", response_model=Done, responses=problems(409, 412, 413, 415))
async def update_workspace(
    workspace: InPath,
    body: WorkspaceChange,
    caller: Annotated[Caller, needs(Action.UPDATE_WORKSPACE)],
    if_match: IfMatch = None,
) -> Response:
    """Change its description."""
    command = do.DescribeWorkspace(
        actor=caller.user, workspace=workspace, description=body.description, if_match=expected(if_match)
    )
    return await changed(caller, command, if_match)


@routes.delete("/workspaces/{workspace}", response_model=Done, responses=problems(409, 412))
async def delete_workspace(
    workspace: InPath, caller: Annotated[Caller, needs(Action.DELETE_WORKSPACE)], if_match: IfMatch = None
) -> Response:
    """Refused while it has active jobs (W1)."""
    command = do.DeleteWorkspace(actor=caller.user, workspace=workspace, if_match=expected(if_match))
    return await changed(caller, command, if_match)


@routes.post("/workspaces/{workspace}/members", response_model=Done, responses=problems(409, 413, 415))
async def add_member(
    workspace: InPath, body: MemberIn, caller: Annotated[Caller, needs(Action.MANAGE_MEMBERS)]
) -> Response:
    """Give a user a role. Only an owner makes owners and admins."""
    role = Role(body.role)
    command = do.AddMember(actor=caller.user, workspace=workspace, user=body.user, role=role)
    return await changed(caller, command, None)


@routes.delete("/workspaces/{workspace}/members/{user}", response_model=Done)
async def remove_member(
    workspace: InPath,
    user: InPath,
    caller: Annotated[Caller, needs(Action.MANAGE_MEMBERS)],
    role: Annotated[RoleName | None, Query(description="one role; without it, all")] = None,
) -> Response:
    """Take one role, or all. What the user submitted stays. The last owner stays too."""
    taken = None if role is None else Role(role)
    return await changed(
        caller, do.RemoveMember(actor=caller.user, workspace=workspace, user=user, role=taken), None
    )


@routes.put("/workspaces/{workspace}/quotas/{quota}", response_model=Done)
async def bind_quota(
    workspace: InPath, quota: InPath, caller: Annotated[Caller, needs(Action.BIND_QUOTA)]
) -> Response:
    """Let the workspace's jobs name this quota (W1). Doing it twice changes nothing."""
    return await changed(caller, do.BindQuota(actor=caller.user, workspace=workspace, quota=quota), None)


@routes.delete("/workspaces/{workspace}/quotas/{quota}", response_model=Done)
async def unbind_quota(
    workspace: InPath, quota: InPath, caller: Annotated[Caller, needs(Action.UNBIND_QUOTA)]
) -> Response:
    """Refused while jobs of the workspace are active there (W1)."""
    return await changed(caller, do.UnbindQuota(actor=caller.user, workspace=workspace, quota=quota), None)


@routes.get("/workspaces/{workspace}/quotas/{quota}/centre", response_model=CentreOut)
async def get_centre(
    workspace: InPath, quota: InPath, caller: Annotated[Caller, needs(Action.SEE_WORKSPACE)]
) -> Response:
    """The scheduling centre of one binding (W3)."""
    if quota not in visible(caller, workspace).quotas:
        raise NotFound("quota", quota)
    found = caller.directory.centre(workspace, quota)
    return tagged(centre_out(found, caller.directory.priority_names), found.version)


@routes.put(
    "/workspaces/{workspace}/quotas/{quota}/centre",
    response_model=Done,
    responses=problems(409, 412, 413, 415, 428),
)
async def put_centre(
    workspace: InPath,
    quota: InPath,
    body: CentreIn,
    caller: Annotated[Caller, needs(Action.SET_CENTRE)],
    if_match: IfMatch = None,
) -> Response:
    """Replace the rules. Ceilings and roles bind from the next submit on; amounts and longest times at once."""
    version = expected(if_match, required=True)
    command = do.SetCentre(actor=caller.user, centre=body.centre(workspace, quota), if_match=version)
    return await changed(caller, command, if_match)
