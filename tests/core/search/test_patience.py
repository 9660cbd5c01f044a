"""What an attempt may spend in vain is counted, and nothing is cut short once a set was found (A4, A8)."""

from __future__ import annotations

import pytest

from quotatree.core.search.patience import OutOfPatience, Patience


def test_it_ends_when_all_is_spent() -> None:
    patience = Patience(3)
    patience.spend(3)
    with pytest.raises(OutOfPatience) as cut:
        patience.spend(1)
    assert not cut.value.before_nodes


def test_a_search_that_has_found_a_set_goes_on() -> None:
    patience = Patience(3)
    patience.found()
    patience.spend(100)
    patience.seek()
    with pytest.raises(OutOfPatience):
        patience.spend(1)


def test_a_look_at_all_nodes_may_be_too_much_to_begin_with() -> None:
    patience = Patience(16, each_index=20)
    with pytest.raises(OutOfPatience) as cut:
        patience.look_at_nodes()
    assert cut.value.before_nodes


def test_where_indexes_are_kept_a_look_at_all_nodes_is_not_counted() -> None:
    patience = Patience(0)
    patience.look_at_nodes()
