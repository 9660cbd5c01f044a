"""What the loop keeps as JSON of its own making stays as it is: answers to requests with a key."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from quotatree.control.commands.dispatch import answer_body, answer_from
from quotatree.control.commands.values import Answer, Item
from quotatree.control.errors import Problem

GOLDEN: Final = Path(__file__).parent / "golden"

ANSWERS: Final = (
    Answer(),
    Answer("dlc-1", 3),
    Answer(
        items=(
            Item("dlc-1"),
            Item(None, Problem("NotFound", "no quota team-z")),
            Item(None, Problem("Refused", "must be 1..9", "priority", 12, "P1")),
        )
    ),
    Answer("team-b", 1, notice="all jobs run as one user"),
)


def test_answers_are_written_as_they_always_were() -> None:
    assert as_text([answer_body(answer) for answer in ANSWERS]) == golden_text("answers")


def test_stored_answers_are_read() -> None:
    assert tuple(answer_from(body) for body in json.loads(golden_text("answers"))) == ANSWERS


def test_the_golden_files_fill_every_field() -> None:
    """`repeated` is not kept: it is said of an answer that was."""
    assert unfilled(ANSWERS) == {"repeated"}
    items = ANSWERS[2].items
    assert unfilled(items) == set()
    assert unfilled(tuple(item.problem for item in items if item.problem is not None)) == set()


def unfilled(values: tuple[Any, ...]) -> set[str]:
    return {
        field.name
        for field in fields(values[0])
        if not any(getattr(value, field.name) not in (None, "", (), {}, False) for value in values)
    }


def as_text(data: Any) -> str:
    return json.dumps(data, indent=1) + "\n"


def golden_text(name: str) -> str:
    return (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
