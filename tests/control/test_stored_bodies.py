"""What the loop keeps as JSON of its own making stays as it is: the card of a job, and answers to requests with a key."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from quotatree.control.batch_rows import card_body, card_from
from quotatree.control.commands.dispatch import answer_body, answer_from
from quotatree.control.commands.values import Answer, Item
from quotatree.control.errors import Problem
from quotatree.control.world import Card
from tests.store.building import job

GOLDEN: Final = Path(__file__).parent / "golden"

CARDS: Final = (
    Card("train-1", "ann", {}),
    Card(
        name="serve-2",
        owner="bob",
        program={"command": ["serve", "--port", "{port}"], "secrets": {"KEY": "s3cret"}},
        on_hold=True,
        first_started_ms=1_000,
        ended_ms=9_000,
        confirmed=(0, 2),
        late_ms=5_000,
        restart_key="again-1",
    ),
)
OLD_CARDS: Final = (Card("train-1", "ann", {"seconds": 12.5}, confirmed=(0,)),)
"""Before services could be restarted."""

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
)


def test_the_card_of_a_job_is_written_as_it_always_was() -> None:
    assert as_text([card_body(card) for card in CARDS]) == golden_text("cards")


def test_stored_cards_are_read_old_ones_too() -> None:
    assert read_cards("cards", CARDS) == CARDS
    assert read_cards("old_cards", OLD_CARDS) == OLD_CARDS


def test_answers_are_written_as_they_always_were() -> None:
    assert as_text([answer_body(answer) for answer in ANSWERS]) == golden_text("answers")


def test_stored_answers_are_read() -> None:
    assert tuple(answer_from(body) for body in json.loads(golden_text("answers"))) == ANSWERS


def test_the_golden_files_fill_every_field() -> None:
    """`repeated` is not kept: it is said of an answer that was."""
    assert unfilled(CARDS) == set()
    assert unfilled(ANSWERS) == {"repeated"}
    items = ANSWERS[2].items
    assert unfilled(items) == set()
    assert unfilled(tuple(item.problem for item in items if item.problem is not None)) == set()


def read_cards(name: str, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """Name, owner and times stand in columns of the row."""
    return tuple(
        card_from(
            job(
                "dlc-1",
                card=body,
                name=card.name,
                owner=card.owner,
                first_started_ms=card.first_started_ms,
                ended_ms=card.ended_ms,
            )
        )
        for body, card in zip(json.loads(golden_text(name)), cards, strict=True)
    )


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
