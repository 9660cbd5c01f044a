"""How is an amount written on the command line? As a number such as 8 or 0.5; not as nan or inf,
which no server knows.
"""

from __future__ import annotations

import math
from typing import Any, Final

import click


class NumberType(click.ParamType[float]):
    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value!r}: must be a number such as 8 or 0.5", param, ctx)
        return number


NUMBER: Final = NumberType()
