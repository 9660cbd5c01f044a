"""What is a field of a noun, so that every edge can read it: its name, what it holds, its default, rule and meaning?

A field is said once, as metadata of a field of the core's own dataclass (`QuotaSpec`,
`JobRequest`). The models of the API, files
for `apply`, stories, Kubernetes resources, the history and the reference page follow from these tables. An edge says
how it reads and shows each kind of value, and no field by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

_KEY: Final = "field"


class ValueKind(Enum):
    """What a field holds. The value is how the reference page calls it."""

    FLAG = "true or false"
    GPUS = "GPUs"
    DURATION = "duration"
    RESOURCES = "amounts"
    BOUNDS = "amounts, each of which may be left open"
    TITLE = "text of at most 253 characters"
    TEXT = "text of at most 1000 characters"
    LABELS = "labels"
    NAME = "name"
    DRAWS = "amounts for each pool"
    STRATEGY = "strategy"
    SELF_LEVEL = "self-level policies"
    CHILD_LEVEL = "child-level policy"
    CHOICE = "one word of several"
    PRIORITY = "priority, or its name"
    REPLICAS = "number of replicas"
    COUNT = "number"
    GROUPS = "groups of replicas"


class Changed(Enum):
    """By which act a field may be changed after creation."""

    NEVER = "never"
    WAITING = "while it waits"
    RESIZE = "resize"
    SCALING = "scaling"
    UPDATE = "update"


_UNITS: Final[Mapping[ValueKind, str]] = {ValueKind.GPUS: "_milli", ValueKind.DURATION: "_ms"}
"""With which unit the core's name of a field ends; outside values are written with theirs, and names have none."""


@dataclass(frozen=True, slots=True)
class NounField:
    """One row of the table of a noun."""

    name: str
    """What it is called in requests, files and answers."""
    attribute: str
    """What it is called in the core's dataclass."""
    kind: ValueKind
    default: Any
    """In the core's units."""
    rule: str
    meaning: str
    changed: Changed
    unset: str
    """What holds without a value, in words."""

    @property
    def optional(self) -> bool:
        """Whether it may be taken away: its default is None."""
        return self.default is None

    def of(self, spec: object) -> Any:
        return getattr(spec, self.attribute)


def said(
    kind: ValueKind,
    rule: str,
    meaning: str,
    changed: Changed = Changed.UPDATE,
    unset: str = "none",
) -> Mapping[str, Mapping[str, Any]]:
    """Return the metadata of a dataclass field that is a row of its noun's table."""
    row = {"kind": kind, "rule": rule, "meaning": meaning, "changed": changed, "unset": unset}
    return {_KEY: row}


def table_of(noun: type[Any]) -> tuple[NounField, ...]:
    """Return the table of a noun: those fields of its dataclass that have such metadata, in their order."""
    return tuple(_row(one) for one in dataclasses.fields(noun) if _KEY in one.metadata)


def _row(one: dataclasses.Field[Any]) -> NounField:
    row = one.metadata[_KEY]
    name = one.name.removesuffix(_UNITS.get(row["kind"], ""))
    return NounField(name=name, attribute=one.name, default=one.default, **row)
