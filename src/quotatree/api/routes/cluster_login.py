"""Signing in as a user of the cluster that the server runs jobs on: `kubectl quotatree login --kubernetes`."""

from __future__ import annotations

from typing import Final

import anyio.to_thread
from fastapi import Request
from starlette.responses import JSONResponse, Response

from quotatree.access.errors import NotFound
from quotatree.api.caller import call, directory_of
from quotatree.api.models.users import ClusterTokenIn, DeviceTokenOut
from quotatree.api.route import problems, router
from quotatree.api.routes.sessions import services_of
from quotatree.control.commands import values as do
from quotatree.identity.cluster_users import member_of
from quotatree.identity.errors import Unauthenticated
from quotatree.identity.tokens import new_token

open_routes = router("sessions", public=True)
LASTS_MS: Final = 7 * 86_400_000
"""How long the token lasts; then the cluster is asked again."""


@open_routes.post(
    "/kubernetes/token",
    status_code=201,
    response_model=DeviceTokenOut,
    responses=problems(401, 404, 413, 415, 503),
)
async def log_in_by_cluster(request: Request, body: ClusterTokenIn) -> Response:
    """A token for whoever the cluster says has this token of its own. 404 where it is not switched on."""
    services = services_of(request)
    logins = services.cluster_logins
    if logins is None:
        raise NotFound("login", "kubernetes")
    username = await anyio.to_thread.run_sync(logins.review, body.token, limiter=services.lookers)
    if username is None:
        raise Unauthenticated("the cluster does not know this token, or it has expired")
    user = member_of(directory_of(services), logins.names, username)
    now_ms = services.clock()
    token = new_token(user, "kubernetes login", now_ms, now_ms + LASTS_MS)
    await call(services, do.MakeToken(actor=user, token=token.info))
    said: DeviceTokenOut = {"user": user, "token": token.text, "expires_ms": token.info.expires_ms}
    return JSONResponse(said, 201)
