"""Values over time in one line: gaps are spaces, a little is not nothing, and a plain terminal gets plain marks."""

from __future__ import annotations

from quotatree.cli.sparkline import BLOCKS, PLAIN, columns, marks_for, spark


def test_low_to_high_with_a_gap():
    assert spark([0, 1, None, 4, 8], 10, 8) == "▁▂ ▅█"
    assert spark([0, 1, None, 4, 8], 10, 8, PLAIN) == "_. =#"


def test_a_little_is_not_drawn_as_nothing_and_nothing_of_nothing_is_low():
    assert spark([0.001, 0], 5, 1000) == "▂▁"
    assert spark([0, 0], 5, 0) == "▁▁"


def test_more_values_than_columns_are_put_together_by_their_mean():
    assert columns([1, 3, None, 5, None, None], 3) == [2, 5, None]
    assert columns([], 3) == []
    assert len(columns(list(range(500)), 80)) == 80


def test_marks_go_by_what_a_terminal_can_show():
    assert marks_for("utf-8") == BLOCKS
    assert marks_for("latin-1") == PLAIN
    assert marks_for("ascii") == PLAIN
    assert marks_for(None) == PLAIN
    assert marks_for("no-such-encoding") == PLAIN
