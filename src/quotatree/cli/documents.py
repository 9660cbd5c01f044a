"""Files that people write: YAML, TOML or JSON, by their names; `-` is YAML from standard input."""

from __future__ import annotations

import math
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.cli.safe_text import printable

DEEPEST: Final = 50
LARGEST_INT: Final = 1 << 63
_UNKEEPABLE: Final = re.compile("[\x00\ud800-\udfff]")


class _Unspeakable(Exception):
    """A value that JSON, and so the server, has no word for."""


def read_document(path: Path) -> Any:
    """The content of a TOML, JSON or YAML file (- is stdin), of which JSON can say all. Another one
    ends the command.
    """
    return _checked(_parsed(path), str(path))


def read_json(text: str, where: str) -> Any:
    """The content of a JSON text that stands there. One that cannot be read, or says a key twice,
    ends the command.
    """
    return _checked(_parsed_json(text, where), where)


def _checked(content: Any, where: str) -> Any:
    try:
        _check(content, "", 0)
    except _Unspeakable as error:
        fail(f"{where}: {error}", EXIT_BAD_INPUT)
    return content


def _parsed(path: Path) -> Any:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path}: {getattr(error, 'strerror', None) or error}", EXIT_BAD_INPUT)
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            fail(f"{path}: {error}", EXIT_BAD_INPUT)
    if path.suffix == ".json":
        return _parsed_json(text, str(path))
    return _read_yaml(path, text)


def _parsed_json(text: str, where: str) -> Any:
    from quotatree.cli.repeated_keys import RepeatedKey, load_json

    try:
        return load_json(text)
    except RepeatedKey as twice:
        fail(f"{where}, line {twice.line}: {twice}; leave one of them out", EXIT_BAD_INPUT)
    except (ValueError, RecursionError) as error:
        fail(f"{where}: not JSON: {error}", EXIT_BAD_INPUT)


def _read_yaml(path: Path, text: str) -> Any:
    import yaml

    from quotatree.cli.repeated_keys import RepeatedKey, load_yaml

    try:
        return load_yaml(text)
    except RepeatedKey as twice:
        fail(f"{path}, line {twice.line}: {twice}; leave one of them out", EXIT_BAD_INPUT)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        fail(f"{path}{where}: not YAML: {error.problem or error.context}", EXIT_BAD_INPUT)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date or number that is none
        fail(f"{path}: {' '.join(str(error).split())}", EXIT_BAD_INPUT)


def _check(value: object, where: str, depth: int) -> None:
    """Raise _Unspeakable for a date, a number that is none, or what contains itself: YAML and TOML
    can say them.
    """
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
    if isinstance(value, int) and abs(value) >= LARGEST_INT:
        raise _Unspeakable(f"{where}: a whole number is too large")
    if isinstance(value, str) and _UNKEEPABLE.search(value):
        raise _Unspeakable(f"{where}: a text contains NUL or half of a surrogate pair")
    if not isinstance(value, str | int | float | None):
        kind = type(value).__name__
        raise _Unspeakable(
            f"{where or 'the file'}: a {kind} has no place here; if a text is meant, put it in quotes"
        )


def yaml_text(value: object) -> str:
    import yaml

    text = str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
    if printable(text) == text:
        return text
    return str(
        yaml.safe_dump(value, sort_keys=False)
    )  # what steers a terminal is an escape then, and no letter is lost
