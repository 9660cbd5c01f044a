"""Signing in and out: by password, by the identity provider in a browser, or by its device flow from a terminal.

A session is two cookies: one that scripts cannot read opens the door, the other must come back in the header
X-CSRF-Token with every request that changes something.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, cast
from urllib.parse import quote

import anyio.to_thread
from fastapi import Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from quotatree.access.directory import Directory
from quotatree.access.errors import NotFound
from quotatree.access.values import TokenInfo
from quotatree.api.caller import SESSION_COOKIE, Caller, call, directory_of, needs
from quotatree.api.models.answers import Done
from quotatree.api.models.users import DeviceIn, DeviceOut, DeviceTokenOut, LoginIn, SessionOut
from quotatree.api.route import problems, router
from quotatree.api.services import Oidc, Services
from quotatree.control.commands import values as do
from quotatree.control.world import SYSTEM
from quotatree.identity.errors import ProviderFailed, Unauthenticated
from quotatree.identity.oidc_claims import Claims
from quotatree.identity.oidc_users import signed_in
from quotatree.identity.passwords import Verified
from quotatree.identity.sessions import NewSession, new_session
from quotatree.identity.tokens import new_token

open_routes = router("sessions", public=True)
routes = router("sessions")
CSRF_COOKIE: Final = "quotatree_csrf"
LOGIN_COOKIE: Final = "quotatree_login"
LOGIN_SECONDS: Final = 600
REFUSAL_COOKIE: Final = "quotatree_refused"
REFUSAL_SECONDS: Final = 60
DEVICE_TOKEN_MS: Final = 30 * 86_400_000
"""How long a token from the device flow lasts; then its user logs in again."""


def services_of(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


@open_routes.post("/session", response_model=SessionOut, responses=problems(401, 413, 415, 429, 503))
async def log_in(request: Request, body: LoginIn) -> Response:
    """By user name and password. Wrong guesses are slowed down."""
    services = services_of(request)
    directory, now_ms = directory_of(services), services.clock()
    address = request.client.host if request.client is not None else ""

    def verify() -> Verified:
        return services.passwords.verify(directory, body.user, body.password, now_ms, address)

    verified = await anyio.to_thread.run_sync(verify)
    if verified.new_hash is not None:
        await call(services, _rehash(verified.user, verified.new_hash))
    return await opened(services, verified.user)


def _rehash(user: str, new_hash: str) -> do.EditDirectory:
    """Command to store a password's hash with new parameters. The password is the same, so no session ends."""

    def change(directory: Directory) -> tuple[Directory, str]:
        return directory.with_user(replace(directory.user(user), password=new_hash)), user

    return do.EditDirectory(actor=SYSTEM, action="user.rehashed", change=change)


async def opened(services: Services, user: str, token: TokenInfo | None = None) -> Response:
    """Open a session of the user; the answer sets its cookies. With a token, it has the token's rights and end."""
    session = await _open(services, user, token)
    said: SessionOut = {"user": user, "csrf": session.csrf, "expires_ms": session.info.expires_ms}
    return _with_cookies(services, JSONResponse(said), session)


async def _open(services: Services, user: str, token: TokenInfo | None = None) -> NewSession:
    session = new_session(user, services.clock(), token=token)
    await call(services, do.OpenSession(actor=user, session=session.info))
    return session


def _with_cookies(services: Services, response: Response, session: NewSession) -> Response:
    seconds = (session.info.expires_ms - session.info.created_ms) // 1000
    for name, value, hidden in ((SESSION_COOKIE, session.cookie, True), (CSRF_COOKIE, session.csrf, False)):
        response.set_cookie(
            name, value, max_age=seconds, httponly=hidden, secure=services.https, samesite="lax"
        )
    return response


@routes.delete("/session", response_model=Done)
async def log_out(caller: Annotated[Caller, needs(None)]) -> Response:
    """The session ends. A token is not a session: revoke it instead."""
    if caller.session is None:
        raise NotFound("session", "of this token")
    await caller.call(do.CloseSessions(actor=caller.user, id_hashes=(caller.session.id_hash,)))
    said: Done = {"id": caller.user, "version": None}
    response = JSONResponse(said)
    for name in (SESSION_COOKIE, CSRF_COOKIE):
        response.delete_cookie(name)
    return response


# -- the identity provider -----------------------------------------------------------------------------------------


def _oidc(services: Services) -> Oidc:
    if services.oidc is None:
        raise NotFound("identity provider", "oidc")
    return services.oidc


async def _signed_in(services: Services, claims: Claims) -> str:
    """Name of the user behind these claims. A first login may make the account, and groups may give roles."""
    settings = _oidc(services).settings
    command = do.EditDirectory(
        actor=SYSTEM, action="user.signed_in", change=lambda directory: signed_in(directory, settings, claims)
    )
    return (await call(services, command)).id


@open_routes.get(
    "/oidc/login",
    status_code=302,
    response_class=RedirectResponse,
    responses=problems(404, 502),
)
async def begin_oidc_login(
    request: Request, return_to: Annotated[str, Query(max_length=500)] = "/"
) -> Response:
    """Sends the browser to the identity provider."""
    services = services_of(request)
    oidc = _oidc(services)
    try:
        begun = await anyio.to_thread.run_sync(oidc.code.begin, services.clock(), return_to)
    except ProviderFailed as error:
        return _at_the_door(request, error)
    response = RedirectResponse(begun.url, 302)
    response.set_cookie(
        LOGIN_COOKIE,
        begun.browser,
        max_age=LOGIN_SECONDS,
        path="/api/v1/oidc",
        httponly=True,
        secure=services.https,
        samesite="lax",
    )
    return response


@open_routes.get(
    "/oidc/callback",
    status_code=303,
    response_class=RedirectResponse,
    responses=problems(401, 404, 502, 503),
)
async def finish_oidc_login(request: Request) -> Response:
    """Where the provider sends the browser back to: set `redirect_uri` to this address.

    Whoever is refused and asked for a page is sent to the login page, which says why.
    """
    services = services_of(request)
    oidc = _oidc(services)
    query, browser = dict(request.query_params), request.cookies.get(LOGIN_COOKIE, "")
    try:
        finished = await anyio.to_thread.run_sync(oidc.code.finish, query, browser, services.clock())
        user = await _signed_in(services, finished.claims)
    except (Unauthenticated, ProviderFailed) as error:
        return _at_the_door(request, error)
    session = await _open(services, user)
    response = _with_cookies(services, RedirectResponse(finished.return_to, 303), session)
    response.delete_cookie(LOGIN_COOKIE, path="/api/v1/oidc")
    return response


def _at_the_door(request: Request, refused: Unauthenticated | ProviderFailed) -> Response:
    """A redirect to the login page, with why in a cookie, which no link from elsewhere can write. Programs get the problem itself."""
    if "text/html" not in request.headers.get("accept", ""):
        raise refused
    response = RedirectResponse("/login", 303)
    response.set_cookie(
        REFUSAL_COOKIE,
        quote(refused.message),
        max_age=REFUSAL_SECONDS,
        path="/login",
        secure=services_of(request).https,
        samesite="lax",
    )
    return response


@open_routes.post("/oidc/device", response_model=DeviceOut, responses=problems(404, 502))
async def begin_device_login(request: Request) -> Response:
    """For a terminal: a code to show, and a handle to ask with."""
    services = services_of(request)
    begun = await anyio.to_thread.run_sync(_oidc(services).device.begin, services.clock())
    return JSONResponse(cast(DeviceOut, begun._asdict()))


@open_routes.post(
    "/oidc/device/token",
    status_code=201,
    response_model=DeviceTokenOut,
    responses=problems(401, 404, 413, 415, 502, 503),
)
async def finish_device_login(request: Request, body: DeviceIn) -> Response:
    """A token once the person has confirmed; until then 400 LoginPending with Retry-After."""
    services = services_of(request)
    claims = await anyio.to_thread.run_sync(_oidc(services).device.ask, body.handle, services.clock())
    user = await _signed_in(services, claims)
    now_ms = services.clock()
    token = new_token(user, "device login", now_ms, now_ms + DEVICE_TOKEN_MS)
    await call(services, do.MakeToken(actor=user, token=token.info))
    said: DeviceTokenOut = {"user": user, "token": token.text, "expires_ms": token.info.expires_ms}
    return JSONResponse(said, 201)
