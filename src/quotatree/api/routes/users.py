"""Users and quota admins (W2). Accounts are never deleted, only disabled."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import anyio.to_thread
from fastapi import Request
from starlette.responses import JSONResponse, Response

from quotatree.access.check import PLATFORM, OnQuota, OnUser, check, may
from quotatree.access.roles import Action
from quotatree.access.values import User
from quotatree.api.caller import Caller, directory_of, needs
from quotatree.api.etags import IfMatch, Key, changed, conflict, done, expected, tagged
from quotatree.api.models.answers import Done
from quotatree.api.models.fields import InPath
from quotatree.api.models.users import (
    PasswordIn,
    QuotaAdmins,
    UserChange,
    UserIn,
    UserOut,
    Users,
    user_out,
)
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do
from quotatree.control.errors import Conflict
from quotatree.control.world import World
from quotatree.core import Refused

routes = router("users")
TRIES = 5


@routes.get("/users", response_model=Users)
async def list_users(caller: Annotated[Caller, needs(Action.SEE_USER)]) -> Response:
    """For a platform admin everybody, for others themselves. Who is in a workspace is told by the workspace."""
    found: Users = {
        "items": [
            user_out(user)
            for name, user in sorted(caller.directory.users.items())
            if may(caller.directory, caller.user, Action.SEE_USER, OnUser(name))
        ]
    }
    return JSONResponse(found)


@routes.post("/users", status_code=201, response_model=Done, responses=problems(409, 413, 415))
async def create_user(
    body: UserIn, caller: Annotated[Caller, needs(Action.MANAGE_USERS)], key: Key = None
) -> Response:
    """Make an account. It has no roles until somebody gives it some."""
    check(caller.directory, caller.user, Action.MANAGE_USERS, PLATFORM)
    hashed = None
    if body.password is not None:
        hashed = await anyio.to_thread.run_sync(caller.services.passwords.hash, body.password)
    user = User(body.name, body.display, body.email, body.platform_admin, password=hashed)
    try:
        answer = await caller.call(do.PutUser(actor=caller.user, key=key, user=user, if_match=0))
    except Conflict as error:
        raise conflict(error, None) from None
    return done(answer, 201, f"/api/v1/users/{body.name}")


@routes.get("/users/{user}", response_model=UserOut)
async def get_user(user: InPath, caller: Annotated[Caller, needs(Action.SEE_USER)]) -> Response:
    """One account, without its secrets."""
    check(caller.directory, caller.user, Action.SEE_USER, OnUser(user))
    found = caller.directory.user(user)
    return tagged(user_out(found), found.version)


@routes.patch("/users/{user}", response_model=Done, responses=problems(409, 412, 413, 415))
async def update_user(
    user: InPath,
    body: UserChange,
    caller: Annotated[Caller, needs(Action.UPDATE_USER)],
    if_match: IfMatch = None,
) -> Response:
    """Display and e-mail are one's own; platform_admin and disabled need the right manage-users."""
    wanted = expected(if_match)
    for _ in range(TRIES):
        directory = directory_of(caller.services)
        check(directory, caller.user, Action.SEE_USER, OnUser(user))
        found = directory.user(user)
        new = replace(found, **body.changes())
        based_on = found.version if wanted is None else wanted
        try:
            return done(await caller.call(do.PutUser(actor=caller.user, user=new, if_match=based_on)))
        except Conflict as error:
            lost = error
            if wanted is not None:
                break
    raise conflict(lost, if_match)


@routes.put("/users/{user}/password", response_model=Done, responses=problems(413, 415, 429))
async def set_password(
    request: Request,
    user: InPath,
    body: PasswordIn,
    caller: Annotated[Caller, needs(Action.CHANGE_PASSWORD)],
) -> Response:
    """The user's sessions end, except the one it is done in."""
    check(caller.directory, caller.user, Action.CHANGE_PASSWORD, OnUser(user))
    services = caller.services
    if user == caller.user and caller.directory.user(user).password is not None:
        if body.current is None:
            raise Refused("current", None, "W2", "your present password is needed to set another one")
        address = request.client.host if request.client is not None else ""
        await anyio.to_thread.run_sync(
            services.passwords.verify, caller.directory, user, body.current, services.clock(), address
        )
    hashed = await anyio.to_thread.run_sync(services.passwords.hash, body.password)
    kept = None if caller.session is None else caller.session.id_hash
    command = do.SetPassword(actor=caller.user, user=user, password_hash=hashed, keep_session=kept)
    return await changed(caller, command, None)


@routes.get("/quotas/{quota}/admins", response_model=QuotaAdmins)
async def list_quota_admins(
    quota: InPath, caller: Annotated[Caller, needs(Action.SEE_QUOTA_ADMINS)]
) -> Response:
    """Who may re-divide what is below this quota. Admins of the quotas above may too."""

    def query(world: World, now_ms: int) -> QuotaAdmins:
        del now_ms
        check(world.directory, caller.user, Action.SEE_QUOTA_ADMINS, OnQuota(world.path(quota)))
        return {"users": sorted(one.user for one in world.directory.quota_admins if one.quota == quota)}

    return JSONResponse(await caller.ask(query))


@routes.put("/quotas/{quota}/admins/{user}", response_model=Done)
async def appoint_quota_admin(
    quota: InPath, user: InPath, caller: Annotated[Caller, needs(Action.APPOINT_QUOTA_ADMIN)]
) -> Response:
    """Doing it twice changes nothing."""
    return await changed(caller, do.AppointQuotaAdmin(actor=caller.user, user=user, quota=quota), None)


@routes.delete("/quotas/{quota}/admins/{user}", response_model=Done)
async def dismiss_quota_admin(
    quota: InPath, user: InPath, caller: Annotated[Caller, needs(Action.APPOINT_QUOTA_ADMIN)]
) -> Response:
    """Take the office away."""
    return await changed(caller, do.DismissQuotaAdmin(actor=caller.user, user=user, quota=quota), None)
