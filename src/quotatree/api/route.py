"""How a request is read: first who asks, then a bounded, strict body; then the route."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from quotatree.api.body import parse
from quotatree.api.caller import action_of, authenticate
from quotatree.api.models.fields import PRIORITY_NAMES
from quotatree.api.problems import MEDIA_TYPE, PROBLEM_SCHEMA, ApiError
from quotatree.api.services import Services

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class StrictRequest(Request):
    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            services: Services = self.app.state.services
            most = services.limits.body_bytes
            chunks = bytearray()
            async for chunk in self.stream():
                chunks += chunk
                if len(chunks) > most:
                    raise too_large(most)
            self._body = bytes(chunks)
        return self._body

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            services: Services = self.app.state.services
            self._json = parse(await self.body(), services.limits)
        return self._json


def too_large(most: int) -> ApiError:
    return ApiError("TooLarge", f"a body may have {most} bytes", {"Connection": "close"})


class PublicRoute(APIRoute):
    """A route that needs no sign-in, such as logins and health; the OpenAPI document says so."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        said = self.said(endpoint)
        super().__init__(path, endpoint, **{**options, "openapi_extra": said})

    def said(self, endpoint: Callable[..., Any]) -> dict[str, Any]:
        return {"security": []}

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        takes_body = self.body_field is not None

        async def strict(request: Request) -> Response:
            self.before(request)
            asked = StrictRequest(request.scope, request.receive)
            if takes_body:
                await _check_body(asked)
            return await handle(asked)

        return strict

    def before(self, request: Request) -> None:
        pass


class Route(PublicRoute):
    """A route for signed-in callers, who are authenticated before the body is read.

    The OpenAPI document says which right is needed.
    """

    def said(self, endpoint: Callable[..., Any]) -> dict[str, Any]:
        action = action_of(endpoint)
        return {} if action is None else {"x-right": action.value}

    def before(self, request: Request) -> None:
        caller = request.state.caller = authenticate(request)
        PRIORITY_NAMES.set(caller.directory.priority_names)


async def _check_body(request: StrictRequest) -> None:
    services: Services = request.app.state.services
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > services.limits.body_bytes:
        raise too_large(services.limits.body_bytes)
    if await request.body():
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":
            raise ApiError("UnsupportedMediaType", "send application/json")
        await request.json()


# A reference and not a model, of which the framework would build a validator for each status of each route.
PROBLEM_ANSWER: Final = {"description": "problem", "content": {MEDIA_TYPE: {"schema": PROBLEM_SCHEMA}}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI responses of a route that may answer with a problem of these statuses."""
    return dict.fromkeys(statuses, PROBLEM_ANSWER)


COMMON = problems(400, 401, 403, 404, 422, 503)


def router(tag: str, *, public: bool = False) -> APIRouter:
    return APIRouter(
        tags=[tag],
        route_class=PublicRoute if public else Route,
        responses=problems(400, 422) if public else COMMON,
    )
