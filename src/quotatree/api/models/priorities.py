"""Names of priorities, as they are declared and shown (W6)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from quotatree.api.models.fields import Body

DeclaredName = Annotated[str, StringConstraints(min_length=1, max_length=40)]


class PriorityNamesIn(Body):
    """All names; one that is left out is gone. Jobs, policies and limits keep their numbers."""

    names: Annotated[
        dict[DeclaredName, Annotated[int, Field(ge=1, le=9)]],
        Field(max_length=50, examples=[{"production": 8, "batch": 2}]),
    ]


class PriorityNamesOut(TypedDict):
    """Highest first."""

    names: dict[str, int]
