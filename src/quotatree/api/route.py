"""How a request is read: first who asks, then a bounded, strict body; then the route."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.dependencies.models import Dependant
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
        known = frozenset(_parameters(self.dependant))

        async def strict(request: Request) -> Response:
            self.before(request)
            self.check_query(request, known)
            asked = StrictRequest(request.scope, request.receive)
            if takes_body:
                await _check_body(asked)
            return await handle(asked)

        return strict

    def before(self, request: Request) -> None:
        pass

    def check_query(self, request: Request, known: frozenset[str]) -> None:
        """Let every parameter pass: an identity provider adds some of its own."""


class Route(PublicRoute):
    """A route for signed-in callers, who are authenticated before the body is read.

    The OpenAPI document says which right is needed.
    """

    def said(self, endpoint: Callable[..., Any]) -> dict[str, Any]:
        action = action_of(endpoint)
        return {} if action is None else {"x-right": action.value}

    def check_query(self, request: Request, known: frozenset[str]) -> None:
        """Refuse a parameter that the route does not have: a filter that is misspelt would filter nothing."""
        unknown = sorted(set(request.query_params) - known)
        if unknown:
            there = f"there are {', '.join(sorted(known))}" if known else "there are none here"
            raise ApiError("Invalid", f"query.{unknown[0][:60]}: no such parameter; {there}")

    def before(self, request: Request) -> None:
        caller = request.state.caller = authenticate(request)
        PRIORITY_NAMES.set(caller.directory.priority_names)


def _parameters(of: Dependant) -> Iterator[str]:
    """The query parameters of a route and of what it depends on, by the names they have in an address."""
    for field in of.query_params:
        yield field.alias
    for other in of.dependencies:
        yield from _parameters(other)


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
