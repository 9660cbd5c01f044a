"""Cells of a terminal: wide letters, emoji and accents that combine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotatree.cli.cells import cut, padded, width, wrapped

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("train", 5),
        ("训练", 4),
        ("Zoe\u0308", 3),
        ("\U0001f680 go", 5),
        ("\u2764\ufe0f", 2),
        (FAMILY, 2),
        ("한국", 4),
        ("ﾊﾝｶｸ", 4),
        ("", 0),
    ],
)
def test_the_width_of_a_text(text: str, cells: int) -> None:
    assert width(text) == cells
    assert width(padded(text, 10)) == 10


@given(st.text(max_size=30), st.integers(2, 20))
def test_what_is_cut_or_wrapped_never_takes_more_than_its_cells(text: str, cells: int) -> None:
    assert width(cut(text, cells)) <= max(cells, 0)
    assert all(width(line) <= cells for line in wrapped(text, cells))
    assert "".join(wrapped(text, cells)).replace(" ", "") == text.replace(" ", "")


def test_no_character_is_cut_in_two() -> None:
    assert cut("训练任务", 5) == "训练…"
    assert cut("训练任务", 6) == "训练…"
    assert cut("Zoe\u0308 trains", 4) == "Zoe\u0308…"
    assert cut(f"{FAMILY}{FAMILY}", 3) == f"{FAMILY}…"
