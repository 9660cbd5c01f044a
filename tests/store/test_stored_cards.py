"""The card of a job stays as it is in the store: golden/cards.json, written and read; golden/old_cards.json, read."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from quotatree.core import Autoscale
from quotatree.store.read_rows import card_of
from quotatree.store.rows import Card
from quotatree.store.write import card_body

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
    Card("serve-3", "bob", {}, autoscale=Autoscale(1, 4, 8_000, 60_000)),
    Card("serve-4", "bob", {}, autoscale=Autoscale(1, 4, 500)),
)
OLD_CARDS: Final = (Card("train-1", "ann", {"seconds": 12.5}, confirmed=(0,)),)
"""Before services could be restarted."""


def test_the_card_of_a_job_is_written_as_it_always_was() -> None:
    assert json.dumps([card_body(card) for card in CARDS], indent=1) + "\n" == golden_text("cards")


def test_stored_cards_are_read_old_ones_too() -> None:
    assert read_cards("cards", CARDS) == CARDS
    assert read_cards("old_cards", OLD_CARDS) == OLD_CARDS


def test_the_golden_file_fills_every_field() -> None:
    empty: tuple[object, ...] = (None, "", (), {}, False)
    names = [field.name for field in fields(Card)]
    assert [name for name in names if all(getattr(card, name) in empty for card in CARDS)] == []


def read_cards(name: str, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """Name, owner and times stand in columns of the row."""
    columns: list[Any] = [
        {
            "name": card.name,
            "owner": card.owner,
            "first_started_ms": card.first_started_ms,
            "ended_ms": card.ended_ms,
            "card": json.dumps(body),
        }
        for body, card in zip(json.loads(golden_text(name)), cards, strict=True)
    ]
    return tuple(card_of(row) for row in columns)


def golden_text(name: str) -> str:
    return (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
