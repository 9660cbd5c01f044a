"""How does a file of stories say each kind of value? Which fields a noun has, its table in the core says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from quotatree.core import NounField, Resources, ValueKind
from quotatree.scenario.amounts import (
    as_amounts,
    as_count,
    as_duration_ms,
    as_flag,
    as_gpu_milli,
    as_labels,
    as_priority,
    as_text,
    one_of,
)
from quotatree.scenario.table import Table

READERS: Final[Mapping[ValueKind, Callable[[object], object]]] = {
    ValueKind.FLAG: as_flag,
    ValueKind.GPUS: as_gpu_milli,
    ValueKind.DURATION: as_duration_ms,
    ValueKind.RESOURCES: lambda value: Resources(*(amount or 0 for amount in as_amounts(value))),
    ValueKind.BOUNDS: as_amounts,
    ValueKind.TITLE: as_text,
    ValueKind.TEXT: as_text,
    ValueKind.LABELS: as_labels,
    ValueKind.REPLICAS: as_count,
    ValueKind.COUNT: as_count,
    ValueKind.PRIORITY: as_priority,
}
"""A choice is read by its words; strategy and policies are read together, by load_quota."""


def read_fields(table: Table, fields: Sequence[NounField]) -> dict[str, Any]:
    """Return those of the fields that a table of a file says, as the core's."""
    found: dict[str, Any] = {}
    for one in fields:
        read = one_of(type(one.default)) if one.kind is ValueKind.CHOICE else READERS.get(one.kind)
        if read is None:
            continue
        there = table.has(one.name)
        value = table.take(one.name, read, None)
        if there:
            found[one.attribute] = value
    return found
