"""Quantities are read exactly."""

from __future__ import annotations

import pytest

from quotatree.engines.kubernetes.quantities import mib, milli


@pytest.mark.parametrize(
    ("said", "meant"),
    [("2", 2000), (2, 2000), ("500m", 500), ("0.1", 100), ("1e3", 1_000_000), ("1E-3", 1), ("100u", 1), ("1k", 1_000_000), (".5", 500), ("1.", 1000), ("0", 0)],
)  # fmt: skip
def test_numbers_are_thousandths(said: object, meant: int):
    assert milli(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"), [("64Gi", 65536), ("1Mi", 1), ("1Ki", 1), ("1048577", 2), ("1M", 1), ("2G", 1908), ("1Ti", 1048576), ("1E", 953674316407)]
)  # fmt: skip
def test_bytes_are_mebibytes_rounded_up(said: object, meant: int):
    assert mib(said) == meant


@pytest.mark.parametrize("said", ["", "x", "1 Gi", "1gi", None, True, "--1", "1e", "1.2.3"])
def test_what_is_no_quantity_is_said_so(said: object):
    with pytest.raises(ValueError, match="no quantity"):
        milli(said)
