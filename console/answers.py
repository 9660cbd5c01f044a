"""What does a server answer? Recorded for the component tests of the console, in testing/answers.json.

    python -m console.answers           record them anew
    python -m console.answers --stale   only if one of them is no longer as the API is described; `make pages` does so

The example after the service came: two jobs are evicted and wait. A test holds what is recorded to the described API, so that the
components are never tested on what no server says.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import httpx2
import jsonschema_rs

from console import build
from docs.take_pictures import play
from tests.console_browser.world import World

ANSWERS: Final = Path(__file__).resolve().parent / "testing" / "answers.json"


def main(arguments: list[str]) -> None:
    if "--stale" in arguments and ANSWERS.is_file() and not any(unlike(one) for one in recorded().values()):
        return
    print("recording answers for the console's component tests", file=sys.stderr)
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        world.start()
        try:
            play(world)
            ANSWERS.write_text(json.dumps(record(world), indent=1, sort_keys=True) + "\n")
        finally:
            world.stop()


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ANSWERS.read_text())
    return found


def unlike(one: dict[str, Any]) -> list[str]:
    """In what a recorded answer is not as the API describes it."""
    described = json.loads(build.OPENAPI.read_text())
    path = one["path"].partition("?")[0]
    operations = next(
        operations
        for template, operations in described["paths"].items()
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
    )
    ((_, body),) = operations[one["method"].lower()]["responses"][str(one["status"])]["content"].items()
    checker = jsonschema_rs.validator_for({**body["schema"], "components": described["components"]})
    return [f"{error.instance_path}: {error.message}" for error in checker.iter_errors(one["answer"])]


def contradicts(one: dict[str, Any]) -> list[str]:
    """The same but for fields that the API has got since: a component that needs one fails in its own test."""
    return [said for said in unlike(one) if not said.endswith("is a required property")]


def record(world: World) -> dict[str, Any]:
    """Each answer with the request that it is the answer to; `job` is the evicted job `sweep-a`."""
    job = world.job("sweep-a")["id"]
    quota = _asked(world, "GET", "/api/v1/quotas/Quota1")["answer"]
    policies = {"strategy": quota["strategy"], "child_level": {**quota["child_level"], "priorities": "1-3"}}
    change = {"change": "policies", "quota": "Quota1", "to": {**policies, "self_level": []}}
    return {
        "whoami": _asked(world, "GET", "/api/v1/whoami"),
        "quotas": _asked(world, "GET", "/api/v1/quotas"),
        "jobs": _asked(world, "GET", "/api/v1/jobs?positions=true"),
        "job": _asked(world, "GET", f"/api/v1/jobs/{job}?positions=true"),
        "explanation": _asked(world, "GET", f"/api/v1/jobs/{job}/explanation"),
        "history": _asked(world, "GET", f"/api/v1/jobs/{job}/history"),
        "preview": _asked(world, "POST", "/api/v1/previews", {"changes": [change]}),
        "conflict": _asked(world, "PUT", "/api/v1/quotas/Quota1/policies", change["to"], version=99),
    }


def _asked(
    world: World, method: str, path: str, body: object = None, version: int | None = None
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {world.tokens['admin']}"}
    if version is not None:
        headers["If-Match"] = f'"{version}"'
    answer = httpx2.request(method, world.url + path, headers=headers, json=body)
    return {"method": method, "path": path, "status": answer.status_code, "answer": answer.json()}


if __name__ == "__main__":
    main(sys.argv[1:])
