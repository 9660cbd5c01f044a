"""Files that people write: YAML, TOML or JSON, by their names; `-` is YAML from standard input."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from quotatree.cli.output import EXIT_BAD_INPUT, fail


def read_document(path: Path) -> Any:
    """The content of a TOML, JSON or YAML file (- is stdin). One that cannot be read ends the command."""
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path}: {getattr(error, 'strerror', None) or error}", EXIT_BAD_INPUT)
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            fail(f"{path}: {error}", EXIT_BAD_INPUT)
    if path.suffix == ".json":
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            fail(f"{path}: {error}", EXIT_BAD_INPUT)
    return _read_yaml(path, text)


def _read_yaml(path: Path, text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        fail(f"{path}{where}: not YAML: {error.problem or error.context}", EXIT_BAD_INPUT)
    except (yaml.YAMLError, RecursionError) as error:
        fail(f"{path}: {' '.join(str(error).split())}", EXIT_BAD_INPUT)


def yaml_text(value: object) -> str:
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
