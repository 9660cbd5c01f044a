"""Amounts and times as people write them in files, as numbers that can be compared."""

from __future__ import annotations

from quotatree.cli.output import EXIT_BAD_INPUT, fail


def mib(value: object) -> float:
    """An amount of memory in MiB: "64Gi" -> 65536. One that cannot be read ends the command."""
    from quotatree.scenario.amounts import Unreadable, as_memory_mib

    try:
        return float(as_memory_mib(value))
    except Unreadable as error:
        fail(f"memory {value}: {error}", EXIT_BAD_INPUT)


def milliseconds(value: object) -> int:
    """A duration in milliseconds: "1h30m" -> 5400000. One that cannot be read ends the command."""
    from quotatree.scenario.amounts import Unreadable, as_duration_ms

    try:
        return as_duration_ms(value)
    except Unreadable as error:
        fail(f"{value}: {error}", EXIT_BAD_INPUT)
