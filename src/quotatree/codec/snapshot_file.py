"""A snapshot as a file: JSON that says what it is, for people to look at and for `plan` to start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from quotatree.codec.decoding import DecodeError, decode
from quotatree.codec.encoding import encode
from quotatree.core import Snapshot

SCHEMA: Final = "quotatree.snapshot/1"


def snapshot_text(value: Snapshot, at_ms: int) -> str:
    """The text of a snapshot file. `at_ms` is when it was taken; a plan made from it starts at that time."""
    return json.dumps({"schema": SCHEMA, "at_ms": at_ms, "snapshot": encode(value)}, indent=1) + "\n"


def read_snapshot_text(text: str) -> tuple[Snapshot, int]:
    """The snapshot and its `at_ms`. Raises DecodeError, which says what does not fit and where."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise DecodeError(f"is not JSON: {problem}") from None
    if type(data) is not dict or data.get("schema") != SCHEMA:
        found = data.get("schema") if type(data) is dict else None
        raise DecodeError(f"must be {SCHEMA!r}, is {found!r}", "schema")
    if set(data) != {"schema", "at_ms", "snapshot"}:
        raise DecodeError(f"must have schema, at_ms and snapshot, has {', '.join(sorted(data))}")
    try:
        at_ms = decode(int, data["at_ms"])
    except DecodeError as problem:
        raise problem.below("at_ms") from None
    try:
        return decode(Snapshot, data["snapshot"]), at_ms
    except DecodeError as problem:
        raise problem.below("snapshot") from None


def read_snapshot(path: Path) -> tuple[Snapshot, int]:
    return read_snapshot_text(path.read_text(encoding="utf-8"))
