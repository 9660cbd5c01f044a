"""How much is "500m", "64Gi" or "1e3"? Quantities of Kubernetes as whole thousandths, exactly: no floating point."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from typing import Final

MIB: Final = 1024 * 1024
_FORM: Final = re.compile(
    r"([+-]?[0-9]*\.?[0-9]+|[+-]?[0-9]+\.)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?"
)
_SUFFIXES: Final = {
    "": Decimal(1), "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal(10**3), "M": Decimal(10**6),
    "G": Decimal(10**9), "T": Decimal(10**12), "P": Decimal(10**15), "E": Decimal(10**18), "Ki": Decimal(2**10),
    "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40), "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip


def milli(quantity: object) -> int:
    """A quantity in thousandths, rounded up as Kubernetes does: "500m" -> 500, "2" -> 2000. Raises ValueError."""
    return _rounded_up(_read(quantity) * 1000)


def mib(quantity: object) -> int:
    """A quantity of bytes in MiB, rounded up: "64Gi" -> 65536. Raises ValueError."""
    return _rounded_up(_read(quantity) / MIB)


def _read(quantity: object) -> Decimal:
    found = _FORM.fullmatch(str(quantity))
    if found is None or isinstance(quantity, bool):
        raise ValueError(f"{quantity!r} is no quantity")
    number, suffix = found.group(1), found.group(2) or ""
    if suffix in _SUFFIXES:
        return Decimal(number) * _SUFFIXES[suffix]
    return Decimal(f"{number}{suffix}")


def _rounded_up(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_CEILING))
