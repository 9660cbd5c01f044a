"""Is the server alive, and can it write?"""

from __future__ import annotations

from fastapi import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from quotatree.api.route import router
from quotatree.api.services import Services
from quotatree.control.loop import Mode

routes = router("health", public=True)


class HealthOut(TypedDict):
    """`mode` in words; `waiting`: requests before the loop."""

    mode: str
    writable: bool
    since_ms: int
    waiting: int


def _health(request: Request) -> HealthOut:
    services: Services = request.app.state.services
    health = services.controller.health
    return {
        "mode": health.mode.value,
        "writable": health.writable,
        "since_ms": health.since_ms,
        "waiting": health.waiting,
    }


@routes.get("/healthz", response_model=HealthOut, responses={503: {"model": HealthOut}})
async def live(request: Request) -> Response:
    """503 only if the loop has stopped, so that a restart helps."""
    services: Services = request.app.state.services
    return JSONResponse(_health(request), 503 if services.controller.health.mode is Mode.STOPPED else 200)


@routes.get("/readyz", response_model=HealthOut, responses={503: {"model": HealthOut}})
async def ready(request: Request) -> Response:
    """503 while nothing can be written: starting, standing by, or the store is unavailable."""
    said = _health(request)
    return JSONResponse(
        said, 200 if said["writable"] else 503, {} if said["writable"] else {"Retry-After": "1"}
    )
