"""Who am I, and which tokens have I? A token's text is shown once, when it is made."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import JSONResponse, Response

from quotatree.access.check import OnUser, check
from quotatree.access.roles import WORKSPACE_ROLES, Action
from quotatree.api.caller import Caller, needs
from quotatree.api.etags import tagged
from quotatree.api.models.answers import Done
from quotatree.api.models.fields import TOKEN_ID, WHOLE_NAME
from quotatree.api.models.users import NewTokenOut, TokenIn, Tokens, WhoAmI, token_out, user_out
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do
from quotatree.identity.tokens import new_token

routes = router("tokens")


@routes.get("/whoami", response_model=WhoAmI)
async def whoami(caller: Annotated[Caller, needs(None)]) -> Response:
    """The user behind the token or session, with the roles they hold."""
    directory = caller.directory
    roles = {name: directory.workspaces[name].roles_of(caller.user) for name in sorted(directory.workspaces)}
    found: WhoAmI = {
        "user": user_out(directory.users[caller.user]),
        "signed_in_by": "token" if caller.session is None else "session",
        "token": None if caller.token is None else token_out(caller.token),
        "workspaces": [
            {"workspace": name, "roles": [role.value for role in WORKSPACE_ROLES if role in held]}
            for name, held in roles.items()
            if held
        ],
        "quota_admin_of": sorted(
            admin.quota for admin in directory.quota_admins if admin.user == caller.user
        ),
        "allowed": caller.allowed().on_platform(),
    }
    return JSONResponse(found)


@routes.get("/tokens", response_model=Tokens)
async def list_tokens(
    caller: Annotated[Caller, needs(Action.SEE_TOKENS)],
    user: Annotated[
        str | None, Query(pattern=WHOLE_NAME, description="somebody else's (platform admins)")
    ] = None,
) -> Response:
    """One's own tokens, without their secrets."""
    whose = caller.user if user is None else user
    check(caller.directory, caller.user, Action.SEE_TOKENS, OnUser(whose))
    mine = sorted(
        (t for t in caller.directory.tokens.values() if t.user == whose), key=lambda t: t.created_ms
    )
    found: Tokens = {"items": [token_out(token) for token in mine]}
    return JSONResponse(found)


@routes.post("/tokens", status_code=201, response_model=NewTokenOut, responses=problems(409, 413, 415))
async def make_token(body: TokenIn, caller: Annotated[Caller, needs(Action.MANAGE_TOKENS)]) -> Response:
    """The answer shows the token, this once. It cannot be repeated, so an Idempotency-Key is not looked at."""
    user = caller.user if body.user is None else body.user
    now_ms = caller.services.clock()
    expires_ms = None if body.lasts is None else now_ms + body.lasts
    token = new_token(user, body.name, now_ms, expires_ms, read_only=body.read_only)
    answer = await caller.call(do.MakeToken(actor=caller.user, token=token.info))
    made: NewTokenOut = {"id": answer.id, "token": token.text, "expires_ms": expires_ms}
    return tagged(made, None, 201)


@routes.delete("/tokens/{token}", response_model=Done)
async def revoke_token(
    token: Annotated[str, Path(pattern=TOKEN_ID)],
    caller: Annotated[Caller, needs(Action.MANAGE_TOKENS)],
) -> Response:
    """From now on it opens nothing."""
    answer = await caller.call(do.RevokeToken(actor=caller.user, token=token))
    done: Done = {"id": answer.id, "version": None}
    return JSONResponse(done)
