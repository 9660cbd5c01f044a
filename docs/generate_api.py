"""Writes docs/reference/api.md from the application: run it after a change of a route, model or problem.

    make pages

What each route does is said in its docstring; tests/docs fails when one has none or the page is not up to date.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from docs.generate_openapi import description
from quotatree.api.problems import PROBLEMS, URN

PAGE: Final = Path(__file__).parent / "reference" / "api.md"

HEAD: Final = f"""\
# The API

This page is written by `docs/generate_api.py` from the application. The full description, with every field and bound, is
[openapi.json](openapi.json) (OpenAPI 3.1); a running server gives it at `/api/v1/openapi.json`.

## How to ask

- Everything is under `/api/v1`, except health and metrics. Bodies are JSON (`application/json`); unknown fields are
  refused, and nothing is turned into something else: `"5"` is not 5.
- `Authorization: Bearer qt_…` says who asks, and nothing else does: no cookie is set or read. The console's page sends the key of
  its session, `qs_…`, the same way ([why](../explanation/isolation.md#what-a-link-to-a-service-can-see)).
- Amounts are written `{{"gpus": 8, "cpu": 16, "memory": "64Gi"}}`, durations `"90s"` or `"1h30m"`, ranges of priorities
  `"6-9"`. Times are milliseconds since the epoch (`…_ms`).
- Lists come in pages: `{{"items": […], "next": "…"}}`. Give `next` back as `cursor`, with the same filter. Filters may be
  repeated: `?phase=Waiting&phase=Held`.
- A create may carry an `Idempotency-Key`: the same key with the same body is done once and answered alike (with
  `"repeated": true` for jobs); with another body it is a conflict. The last 100,000 answers are kept.
- Quotas, workspaces, nodes, users, webhooks and scheduling centres have a version, told as `ETag`. A change may carry
  `If-Match: "3"` and is refused (412) if somebody else came first. `PUT`, which replaces everything, must carry it
  (428 otherwise); `If-Match: *` means whatever is there.
- The right that a request needs is named below, and who has it in [Roles and rights](roles.md). To somebody outside, what is not theirs does not exist: 404. Other
  teams' jobs appear as `[job of priority 7, 8 GPU, level 3]`.
- `GET /api/v1/events/stream` is a stream of server-sent events; after a break, `Last-Event-ID` goes on where it was cut
  off, without a gap or a repetition.

## Problems

An error is `application/problem+json` (RFC 9457). `type` is `{URN}<code>`; a rule that refuses tells `field`, `value` and
`rule`, its number in the [rulebook](rules.md); a request that does not fit its description tells each field in `errors`. While nothing can be written the answer
is 503 with `Retry-After`, and nothing was changed.

| code | status | meaning |
|---|---|---|
"""

TITLES: Final = {
    "summary": "At a glance",
    "jobs": "Jobs",
    "output": "What jobs print, and where they answer",
    "explaining": "Why, and who took what",
    "previews": "Previews",
    "quotas": "Quotas",
    "simulations": "What if",
    "nodes": "Pools and nodes",
    "priorities": "Names of priorities",
    "workspaces": "Workspaces",
    "users": "Users and quota admins",
    "tokens": "Tokens",
    "sessions": "Logging in and out",
    "events": "Events",
    "audit": "Audit and snapshot",
    "webhooks": "Webhooks",
    "health": "Health and metrics",
}


def page() -> str:
    parts = [HEAD]
    parts += [f"| `{code}` | {kind.status} | {kind.title} |\n" for code, kind in PROBLEMS.items()]
    routes = operations()
    for tag, title in TITLES.items():
        parts.append(f"\n## {title}\n\n| request | what it does | right |\n|---|---|---|\n")
        for method, path, operation in routes:
            if operation["tags"] == [tag]:
                said = " ".join(operation["description"].split())
                parts.append(f"| `{method} {path}` | {said} | {_right(operation)} |\n")
    return "".join(parts)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, operation)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    ]


def _right(operation: dict[str, Any]) -> str:
    """For a list, what one needs for its entries: it shows those one may see."""
    if operation.get("security") == []:
        return "anybody"
    right = operation.get("x-right")
    return "signed in" if right is None else f"`{right}`"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
