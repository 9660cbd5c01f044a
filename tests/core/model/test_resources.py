"""Amounts as text, and how much more one says than another."""

from __future__ import annotations

import pytest

from quotatree.core.model.resources import CPU, GPU, MEMORY, amount_text, text_of_difference


@pytest.mark.parametrize(
    ("resource", "wanted", "free", "missing"),
    [
        (GPU, 8_000, 6_000, "2 GPU"),
        (GPU, 8_000, -4_000, "12 GPU"),
        (GPU, 500, 250, "0.250 GPU"),
        (CPU, 3_500, 0, "3.500 CPU"),
        (MEMORY, 64 * 1024, 512, "63.500 GiB"),
        (MEMORY, 700, -1_024, "1.684 GiB"),
    ],
)
def test_what_is_missing_is_told_in_the_unit_of_what_is_wanted(
    resource: int, wanted: int, free: int, missing: str
) -> None:
    found = text_of_difference(amount_text(resource, wanted), amount_text(resource, free))
    assert [float(found.split()[0]), found.split()[1]] == [float(missing.split()[0]), missing.split()[1]]
