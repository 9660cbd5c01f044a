"""Signing in and out: by password, by the identity provider in a browser, or by its device flow from a terminal.

A session is a key that the answer tells the page, once. No answer sets a cookie: browsers show a host's cookies
to every port of it, so also to the services of jobs, which may set them as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, cast
from urllib.parse import parse_qsl, quote

import anyio.to_thread
from fastapi import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from quotatree.access.directory import Directory
from quotatree.access.errors import NotFound
from quotatree.access.values import TokenInfo
from quotatree.api.caller import Caller, call, directory_of, needs
from quotatree.api.models.answers import Done
from quotatree.api.models.users import (
    DeviceIn,
    DeviceOut,
    DeviceTokenOut,
    LoginIn,
    OidcAnswerIn,
    OidcBegunOut,
    SessionOut,
)
from quotatree.api.route import problems, router
from quotatree.api.services import Oidc, Services
from quotatree.control.commands import values as do
from quotatree.control.world import SYSTEM
from quotatree.identity.oidc_claims import Claims
from quotatree.identity.oidc_users import signed_in
from quotatree.identity.passwords import Verified
from quotatree.identity.sessions import new_session
from quotatree.identity.tokens import new_token

open_routes = router("sessions", public=True)
routes = router("sessions")
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
    """Open a session of the user; the answer has its key. With a token, it has the token's rights and end."""
    session = new_session(user, services.clock(), token=token)
    await call(services, do.OpenSession(actor=user, session=session.info))
    said: SessionOut = {"user": user, "key": session.key, "expires_ms": session.info.expires_ms}
    return JSONResponse(said)


@routes.delete("/session", response_model=Done)
async def log_out(caller: Annotated[Caller, needs(None)]) -> Response:
    """The session ends. A token is not a session: revoke it instead."""
    if caller.session is None:
        raise NotFound("session", "of this token")
    await caller.call(do.CloseSessions(actor=caller.user, id_hashes=(caller.session.id_hash,)))
    said: Done = {"id": caller.user, "version": None}
    return JSONResponse(said)


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


@open_routes.post("/oidc/login", response_model=OidcBegunOut, responses=problems(404, 502))
async def begin_oidc_login(request: Request) -> Response:
    """Begin a login in a browser: where to send it, and a secret with which the same page ends the login."""
    services = services_of(request)
    begun = await anyio.to_thread.run_sync(_oidc(services).code.begin, services.clock())
    said: OidcBegunOut = {"url": begun.url, "secret": begun.secret}
    return JSONResponse(said)


@open_routes.get("/oidc/callback", status_code=303, response_class=RedirectResponse, responses=problems(404))
async def return_from_provider(request: Request) -> Response:
    """Where the provider sends the browser back to: set `redirect_uri` to this address.

    It goes on to the login page, with the provider's answer behind the `#`. That page then signs in.
    """
    _oidc(services_of(request))
    return RedirectResponse(f"/login#oidc={quote(request.url.query, safe='')}", 303)


@open_routes.post(
    "/session/oidc", response_model=SessionOut, responses=problems(401, 404, 413, 415, 502, 503)
)
async def log_in_by_oidc(request: Request, body: OidcAnswerIn) -> Response:
    """Open a session by the provider's answer and the secret of the page that began the login. It works once."""
    services = services_of(request)
    answer = dict(parse_qsl(body.answer))
    claims = await anyio.to_thread.run_sync(
        _oidc(services).code.finish, answer, body.secret, services.clock()
    )
    return await opened(services, await _signed_in(services, claims))


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
