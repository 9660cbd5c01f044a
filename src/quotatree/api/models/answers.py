"""What a change is answered with."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class Done(TypedDict):
    """It is written and safe. `version` is the new one, where the thing has one; `notice` says what one should know of it."""

    id: str
    version: int | None
    notice: NotRequired[str]
