"""What one check of `quotatree doctor` has found."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """`state` is ok, warning or bad; `do` says what to do about it, "" where all is well."""

    check: str
    state: str
    detail: str
    do: str = ""


def ok(check: str, detail: str) -> Finding:
    return Finding(check, "ok", detail)


def warning(check: str, detail: str, do: str) -> Finding:
    return Finding(check, "warning", detail, do)


def bad(check: str, detail: str, do: str) -> Finding:
    return Finding(check, "bad", detail, do)
