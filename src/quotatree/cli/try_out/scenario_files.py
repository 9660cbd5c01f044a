"""What every command that reads a scenario file has in common: its arguments, its errors, its
output.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quotatree.cli.output import (
    EXIT_BAD_INPUT,
    EXIT_FAILED,
    echo_json,
    echo_table,
    fail,
    output_option,
)
from quotatree.core import QuotaTreeError
from quotatree.scenario.load import load_scenario
from quotatree.scenario.model import Scenario
from quotatree.scenario.run import Instant, Player

__all__ = [
    "EXIT_BAD_INPUT",
    "EXIT_FAILED",
    "bad_input_exits",
    "echo_json",
    "echo_table",
    "fail",
    "output_option",
    "played",
    "played_scenario",
]


@contextmanager
def bad_input_exits() -> Iterator[None]:
    """Print what the scenario package or the core refuses, and exit with 2: it is bad input, not
    our bug.
    """
    try:
        yield
    except QuotaTreeError as why:
        fail(str(why), EXIT_BAD_INPUT)


def played(file: Path, until_ms: int | None) -> tuple[Player, list[Instant]]:
    """Load a file and play it up to a time in ms (None: until nothing more is to come)."""
    return played_scenario(load_scenario(file), until_ms)


def played_scenario(scenario: Scenario, until_ms: int | None) -> tuple[Player, list[Instant]]:
    player = Player(scenario)
    instants = list(player.instants(until_ms))
    for instant in instants:
        for outcome in instant.outcomes:
            if outcome.refusal is not None and not outcome.entry.refused:
                fail(f"{outcome.entry.where}: {outcome.refusal}", EXIT_BAD_INPUT)
    return player, instants
