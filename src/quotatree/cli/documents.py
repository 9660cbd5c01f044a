"""Files that people write: YAML, TOML or JSON, by their names; `-` is YAML from standard input."""

from __future__ import annotations

import json
import math
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

from quotatree.cli.output import EXIT_BAD_INPUT, fail

DEEPEST: Final = 50


class _Unspeakable(Exception):
    """A value that JSON, and so the server, has no word for."""


def read_document(path: Path) -> Any:
    """The content of a TOML, JSON or YAML file (- is stdin), of which JSON can say all. Another one ends the command."""
    content = _parsed(path)
    try:
        _check(content, "", 0)
    except _Unspeakable as error:
        fail(f"{path}: {error}", EXIT_BAD_INPUT)
    return content


def _parsed(path: Path) -> Any:
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


def _check(value: object, where: str, depth: int) -> None:
    """Raise _Unspeakable for a date, a number that is none, or what contains itself: YAML and TOML can say them."""
    if depth > DEEPEST:
        raise _Unspeakable(f"{where.split('.')[0]}: is nested too deeply, or contains itself")
    match value:
        case dict():
            for key, inner in value.items():
                _check_plain(key, where)
                _check(inner, f"{where}.{key}".removeprefix("."), depth + 1)
        case list():
            for number, inner in enumerate(value):
                _check(inner, f"{where}[{number}]", depth + 1)
        case _:
            _check_plain(value, where)


def _check_plain(value: object, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise _Unspeakable(f"{where}: {value} is not a number")
    if not isinstance(value, str | int | float | None):
        kind = type(value).__name__
        raise _Unspeakable(
            f"{where or 'the file'}: a {kind} has no place here; if a text is meant, put it in quotes"
        )


def yaml_text(value: object) -> str:
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
