"""What does one more replica cost on a node at least? The bound of a plain offer is the bound of any offer (A4)."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from quotatree.core.search.node_offer import LADDER, TOP_RUNG, Offer, Row, lower_bound

ROWS = st.lists(
    st.tuples(
        st.integers(0, TOP_RUNG), st.just(1), st.integers(-50, 1_000), st.sampled_from((0, 1, 5)), st.none()
    ),
    max_size=6,
)


def plain_offer(rows: list[Row], need: int) -> Offer:
    return Offer(need, rows, (1,) * LADDER, None, plain=True)


@given(ROWS, st.integers(0, 5), st.integers(0, TOP_RUNG), st.integers(0, 100), st.booleans())
def test_a_plain_offer_has_the_same_bound_as_if_it_were_not(
    rows: list[Row], need: int, top: int, now_ms: int, per_slot: bool
) -> None:
    offer = plain_offer(rows, need)
    assert lower_bound(offer, top, now_ms, per_slot) == lower_bound(
        offer._replace(plain=False), top, now_ms, per_slot
    )


@given(ROWS, st.integers(1, 5), st.integers(0, TOP_RUNG), st.integers(0, 100))
def test_a_bound_is_what_the_cheapest_sufficient_set_costs(
    rows: list[Row], need: int, top: int, now_ms: int
) -> None:
    costs = [cost + slope * now_ms for rung, _, cost, slope, _ in rows if rung <= top]
    bound, _ = lower_bound(plain_offer(rows, need), top, now_ms, per_slot=False)
    if len(costs) >= need:
        assert bound == min(sum(chosen) for chosen in combinations(costs, need))
