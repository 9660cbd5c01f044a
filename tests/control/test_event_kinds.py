"""Every kind of event that is told can be asked for, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import quotatree
from quotatree.control.event_kinds import KINDS, unknown_kind

SOURCE = Path(quotatree.__file__).parent
TELLING = ("tell", "_say")


def told() -> Iterator[str]:
    """The kinds that stand in a call that tells something."""
    for path in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and _name(call) in TELLING:
                for part in (part for word in call.args for part in ast.walk(word)):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and "." in part.value:
                        yield part.value


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def test_what_is_told_can_be_asked_for() -> None:
    found = {kind for kind in told() if kind.replace(".", "").replace("_", "").isalpha()}
    assert len(found) > 20
    assert found <= KINDS


def test_a_kind_that_is_not_told_is_named_with_those_that_are() -> None:
    found = unknown_kind(("job.started", "job.evict"))
    assert found is not None
    assert found[0] == "job.evict"
    assert "job.evicted" in found[1]
    assert unknown_kind(("job.started",)) is None
