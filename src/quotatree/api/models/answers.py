"""What a change is answered with."""

from __future__ import annotations

from typing_extensions import TypedDict


class Done(TypedDict):
    """It is written and safe. `version` is the new one, where the thing has one."""

    id: str
    version: int | None
