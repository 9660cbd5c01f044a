"""What the framework does not say of itself in the description: how one signs in, and that errors are problems."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from pydantic import TypeAdapter

from quotatree.api.problems import Problem

SIGNING_IN: Final = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "an API token, qt_…, or the key of a console's session, qs_…",
    },
}


def describe(app: FastAPI) -> None:
    """Add the ways to sign in, and the schema of a problem, to the application's OpenAPI document."""
    plain = app.openapi

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = plain()
            found["components"]["securitySchemes"] = SIGNING_IN
            found["security"] = [{name: []} for name in SIGNING_IN]
            found["components"]["schemas"] = _with_problem(found["components"]["schemas"])
        return app.openapi_schema or {}

    app.openapi = whole  # type: ignore[method-assign]  # FastAPI's own way to extend it


def _with_problem(schemas: dict[str, Any]) -> dict[str, Any]:
    """The schemas, sorted by name, with that of a problem, which routes only refer to."""
    problem = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
    parts = problem.pop("$defs")
    return dict(sorted({**schemas, **parts, "Problem": problem}.items()))
