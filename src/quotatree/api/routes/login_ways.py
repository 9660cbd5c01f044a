"""Which ways into the console are there? And two of them: a token that one has, a link that works once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request
from starlette.responses import JSONResponse, Response

from quotatree.access.check import OnUser, check
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, directory_of, needs
from quotatree.api.models.users import LinkIn, LoginLinkOut, LoginWays, SessionOut, TokenLoginIn
from quotatree.api.route import problems, router
from quotatree.api.routes.sessions import opened, services_of
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.tokens import authenticate_token

open_routes = router("sessions", public=True)
routes = router("sessions")


@open_routes.get("/login-ways", response_model=LoginWays, responses=problems(503))
async def get_login_ways(request: Request) -> Response:
    """What a login page has to offer. A password is a way in as soon as one user has one."""
    services = services_of(request)
    users = directory_of(services).users.values()
    found: LoginWays = {
        "password": any(user.password is not None and not user.disabled for user in users),
        "token": True,
        "link": True,
        "oidc": services.oidc is not None,
        "oidc_issuer": None if services.oidc is None else services.oidc.settings.issuer,
    }
    return JSONResponse(found)


@open_routes.post("/session/token", response_model=SessionOut, responses=problems(401, 413, 415, 503))
async def log_in_by_token(request: Request, body: TokenLoginIn) -> Response:
    """Open a session that may do what the token may. It ends when the token expires or is revoked, if not before."""
    services = services_of(request)
    token = authenticate_token(directory_of(services), body.token.strip(), services.clock())
    return await opened(services, token.user, token)


@open_routes.post("/session/link", response_model=SessionOut, responses=problems(401, 413, 415, 503))
async def log_in_by_link(request: Request, body: LinkIn) -> Response:
    """Open a session by the code of a login link, the part after `#link=`. It works once."""
    services = services_of(request)
    directory = directory_of(services)
    user = directory.users.get(services.links.take(body.code, services.clock()))
    if user is None or user.disabled:
        raise Unauthenticated("the login link was used, has expired or is wrong; ask for another one")
    return await opened(services, user.name)


@routes.post("/login-links", status_code=201, response_model=LoginLinkOut)
async def make_login_link(caller: Annotated[Caller, needs(Action.MANAGE_TOKENS)]) -> Response:
    """A link that opens the console as oneself: it works once and for a quarter of an hour."""
    check(caller.directory, caller.user, Action.MANAGE_TOKENS, OnUser(caller.user))
    made = caller.services.links.make(caller.user, caller.services.clock())
    said: LoginLinkOut = {"path": made.path, "expires_ms": made.expires_ms}
    return JSONResponse(said, 201)
