"""What does one more replica cost on a node at least? Units of one GPU each have the bound of any units (A4)."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from quotatree.core.search.node_bound import line_below, lower_bound
from quotatree.core.search.node_offer import LADDER, TOP_RUNG, Offer, Row, columns

FROM_MS = 1_000_000
ROWS = st.lists(
    st.tuples(
        st.integers(0, TOP_RUNG), st.just(1), st.integers(-50, 1_000), st.sampled_from((0, 1, 5)), st.none()
    ),
    max_size=6,
)
RUNGS = st.integers(0, TOP_RUNG)
LATER_MS = st.integers(FROM_MS, FROM_MS + 200_000)


def offer_in_rows(rows: list[Row], need: int) -> Offer:
    return Offer(need, rows, (1,) * LADDER, None)


def offer_in_columns(rows: list[Row], need: int) -> Offer:
    singles = [(rung, slope, cost + slope * FROM_MS) for rung, _, cost, slope, _ in rows]
    return Offer(need, columns(singles, FROM_MS), (1,) * LADDER, None)


@given(ROWS, st.integers(0, 5), RUNGS, LATER_MS, st.booleans())
def test_units_of_one_gpu_have_the_same_bound_in_columns_as_in_rows(
    rows: list[Row], need: int, top: int, now_ms: int, per_slot: bool
) -> None:
    assert lower_bound(offer_in_columns(rows, need), top, now_ms, per_slot) == lower_bound(
        offer_in_rows(rows, need), top, now_ms, per_slot
    )


@given(ROWS, st.integers(1, 5), RUNGS, LATER_MS)
def test_a_bound_is_what_the_cheapest_sufficient_set_costs(
    rows: list[Row], need: int, top: int, now_ms: int
) -> None:
    costs = [cost + slope * now_ms for rung, _, cost, slope, _ in rows if rung <= top]
    bound, _ = lower_bound(offer_in_columns(rows, need), top, now_ms, per_slot=False)
    if len(costs) >= need:
        assert bound == min(sum(chosen) for chosen in combinations(costs, need))


@given(ROWS, st.integers(0, 5), RUNGS, LATER_MS, st.integers(0, 200_000), st.booleans())
def test_a_line_is_never_above_the_bound_from_then_on(
    rows: list[Row], need: int, top: int, now_ms: int, later_ms: int, per_slot: bool
) -> None:
    for offer in (offer_in_rows(rows, need), offer_in_columns(rows, need)):
        if sum(1 for rung, *_ in rows if rung <= top) >= need:
            at_zero, slope = line_below(offer, top, now_ms, per_slot)
            for then_ms in (now_ms, now_ms + later_ms):
                assert at_zero + slope * then_ms <= lower_bound(offer, top, then_ms, per_slot)[0]
