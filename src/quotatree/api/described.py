"""What the framework does not say of itself in the description: how one signs in, and that errors are problems."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI

from quotatree.api.caller import SESSION_COOKIE
from quotatree.api.problems import MEDIA_TYPE

SIGNING_IN: Final = {
    "token": {"type": "http", "scheme": "bearer", "description": "an API token, qt_…"},
    "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE},
}
PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}


def describe(app: FastAPI) -> None:
    """Let the application's OpenAPI document say it too."""
    plain = app.openapi

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = plain()
            found["components"]["securitySchemes"] = SIGNING_IN
            found["security"] = [{name: []} for name in SIGNING_IN]
            for methods in found["paths"].values():
                for operation in methods.values():
                    for response in operation["responses"].values():
                        _as_problem(response)
        return app.openapi_schema or {}

    app.openapi = whole  # type: ignore[method-assign]  # FastAPI's own way to extend it


def _as_problem(response: dict[str, Any]) -> None:
    content = response.get("content", {})
    if content.get("application/json", {}).get("schema") == PROBLEM:
        response["content"] = {MEDIA_TYPE: {"schema": PROBLEM}}
