"""Times as people write them in files, as numbers."""

from __future__ import annotations

from quotatree.cli.output import EXIT_BAD_INPUT, fail


def milliseconds(value: object) -> int:
    """A duration in milliseconds: "1h30m" -> 5400000. One that cannot be read ends the command."""
    from quotatree.scenario.amounts import Unreadable, as_duration_ms

    try:
        return as_duration_ms(value)
    except Unreadable as error:
        fail(f"{value}: {error}", EXIT_BAD_INPUT)
