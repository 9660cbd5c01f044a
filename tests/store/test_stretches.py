"""Stretches of the same amount, from the placements of a run."""

from __future__ import annotations

import pytest

from quotatree.store.stretches import DAY_MS, Place, stretches


@pytest.mark.parametrize(
    ("places", "since_ms", "found"),
    [
        ([(5, 9, 1)], None, [(5, 9, 1)]),
        ([(5, None, 0)], None, [(5, None, 0)]),
        ([(5, 5, 1)], None, [(5, 5, 1)]),
        ([(1, 9, 2), (4, 6, 1)], None, [(1, 4, 2), (4, 6, 3), (6, 9, 2)]),
        ([(1, 9, 2), (4, None, 1)], None, [(1, 4, 2), (4, 9, 3), (9, None, 1)]),
        ([(1, 9, 2), (4, None, 1)], 5, [(5, 9, 3), (9, None, 1)]),
        ([(1, 9, 2)], 9, []),
        ([(DAY_MS - 1, 2 * DAY_MS + 1, 1)], None, [(DAY_MS - 1, DAY_MS, 1), (DAY_MS, 2 * DAY_MS, 1), (2 * DAY_MS, 2 * DAY_MS + 1, 1)]),
        ([(DAY_MS - 1, None, 1)], None, [(DAY_MS - 1, None, 1)]),
    ],
)  # fmt: skip
def test_stretches(
    places: list[tuple[int, int | None, int]],
    since_ms: int | None,
    found: list[tuple[int, int | None, int]],
) -> None:
    assert [tuple(one) for one in stretches([Place(*place) for place in places], since_ms)] == found
