"""Writes docs/reference/openapi.json from the application: run it after a change of a route or model.

    .venv/bin/python docs/generate_openapi.py

tests/docs fails when the file is not up to date.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from quotatree.api.app import create_app

FILE: Final = Path(__file__).parent / "reference" / "openapi.json"


@cache
def description() -> dict[str, Any]:
    """OpenAPI 3.1. Nothing of a server is needed to describe it, and its version is left to releases."""
    found = create_app(None).openapi()
    found["info"]["version"] = "1"
    return found


def text() -> str:
    return json.dumps(description(), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
