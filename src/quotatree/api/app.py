"""The application: routes by noun, errors as problems, and headers that keep browsers careful."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quotatree import __version__
from quotatree.api import problems
from quotatree.api.compression import Compressed
from quotatree.api.console_files import BUILT_INTO, ConsoleFiles
from quotatree.api.described import describe
from quotatree.api.routes import (
    audit,
    cluster_login,
    events,
    explaining,
    health,
    jobs,
    login_ways,
    metrics,
    nodes,
    output,
    previews,
    priorities,
    quotas,
    series,
    sessions,
    simulations,
    summary,
    tokens,
    usage,
    users,
    webhooks,
    workspaces,
)
from quotatree.api.services import Services

PREFIX: Final = "/api/v1"
NOUNS: Final = (
    jobs.routes,
    output.routes,
    explaining.routes,
    previews.routes,
    quotas.routes,
    usage.routes,
    series.routes,
    summary.routes,
    simulations.routes,
    nodes.routes,
    priorities.routes,
    workspaces.routes,
    users.routes,
    tokens.routes,
    sessions.open_routes,
    sessions.routes,
    login_ways.open_routes,
    cluster_login.open_routes,
    login_ways.routes,
    events.routes,
    audit.routes,
    webhooks.routes,
)
HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


def create_app(services: Services | None, console: Path = BUILT_INTO) -> FastAPI:
    """The application; with `services` None it can only be described. `console`: where the console's files are.

    It serves no documentation pages and lets in no other origin, since attackers could use both.
    """
    app = FastAPI(
        title="QuotaTree",
        version=__version__,
        summary="Shares a GPU cluster between teams by a tree of quotas.",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        redirect_slashes=False,
    )
    app.state.services = services
    problems.install(app)
    for noun in NOUNS:
        app.include_router(noun, prefix=PREFIX)
    app.include_router(health.routes)
    app.include_router(metrics.routes)
    describe(app)
    app.router.default = ConsoleFiles(console)
    app.add_middleware(CarefulHeaders)
    app.add_middleware(Compressed)
    return app


class CarefulHeaders:
    """Adds HEADERS to every HTTP answer, except those that the answer sets itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
