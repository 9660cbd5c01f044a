"""How is a priority written on the command line? As a number from 1 to 9, or as a name, which the
server knows (W6).
"""

from __future__ import annotations

from typing import Any, Final

import click


class PriorityType(click.ParamType[int | str]):
    """1 to 9 as a number; a text that begins with a letter as it is."""

    name = "priority"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        text = str(value)
        if text[:1].isalpha():
            return text
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 9):
            self.fail(f"{text!r}: must be a priority, 1 to 9, or the name of one", param, ctx)
        return int(text)


PRIORITY: Final = PriorityType()
