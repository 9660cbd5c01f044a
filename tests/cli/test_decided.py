"""Decisions are told in the words of files and reasons: grow, shrink, move, release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from quotatree.cli.decided import decision_row, kind_word

if TYPE_CHECKING:
    from quotatree.client import types as t

WHY = {"code": "FitsFree", "text": "fits", "rules": ["P4"], "facts": {}}


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"kind": "Start", "grows": False, "surplus": False}, "start"),
        ({"kind": "Start", "grows": True, "surplus": False}, "grow"),
        ({"kind": "Start", "grows": True, "surplus": True}, "grow"),
        ({"kind": "Evict", "what": "core", "moved": False}, "evict"),
        ({"kind": "Evict", "what": "core", "moved": True}, "move"),
        ({"kind": "Evict", "what": "wanted", "moved": False}, "shrink"),
        ({"kind": "Evict", "what": "surplus", "moved": False}, "shrink"),
        ({"kind": "Evict", "what": "hold", "moved": False}, "release"),
        ({"kind": "Promote"}, "promote"),
    ],
)
def test_a_decision_is_called_what_it_is(fields: dict[str, Any], word: str) -> None:
    decision = cast("t.DecisionOut", {"job": "dlc-1", "reason": WHY, **fields})
    assert kind_word(decision) == word
    assert decision_row(decision, {"dlc-1": "train"}) == (word, "dlc-1 (train)", "fits")
