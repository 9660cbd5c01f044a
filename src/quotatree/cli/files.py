"""What every command that reads a scenario file has in common: its arguments, its errors, its output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click

from quotatree.core.errors import QuotaTreeError
from quotatree.scenario.amounts import Unreadable, as_time_ms
from quotatree.scenario.load import load_scenario
from quotatree.scenario.model import Scenario
from quotatree.scenario.run import Instant, Player

EXIT_FAILED: Final = 1
EXIT_BAD_INPUT: Final = 2

F = TypeVar("F", bound=Callable[..., Any])


def file_argument(function: F) -> F:
    return click.argument("file", type=click.Path(path_type=Path))(function)


def at_option(says: str) -> Callable[[F], F]:
    return click.option("--at", "at_ms", callback=_moment, metavar="TIME", help=says)


def output_option(function: F) -> F:
    kinds = click.Choice(["table", "json"])
    return click.option(
        "-o", "--output", type=kinds, default="table", show_default=True, help="How to print it."
    )(function)


@contextmanager
def bad_input_exits() -> Iterator[None]:
    """Whatever the scenario package or the core refuses is the user's input, not our bug: say it, exit 2."""
    try:
        yield
    except QuotaTreeError as why:
        fail(str(why), EXIT_BAD_INPUT)


def fail(message: str, status: int) -> NoReturn:
    click.echo(f"quotatree: {message}", err=True)
    raise SystemExit(status)


def played(file: Path, until_ms: int | None) -> tuple[Player, list[Instant]]:
    """Load a file and play it up to a time (None: until nothing more is to come)."""
    return played_scenario(load_scenario(file), until_ms)


def played_scenario(scenario: Scenario, until_ms: int | None) -> tuple[Player, list[Instant]]:
    player = Player(scenario)
    instants = list(player.instants(until_ms))
    for instant in instants:
        for outcome in instant.outcomes:
            if outcome.refusal is not None and not outcome.entry.refused:
                fail(f"{outcome.entry.where}: {outcome.refusal}", EXIT_BAD_INPUT)
    return player, instants


def echo_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def echo_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns of text; the last one is as long as it is."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header) - 1)]
    for row in [header, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())


def _moment(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A time of the scenario, on the command line: 5m, 1h30m."""
    try:
        return None if value is None else as_time_ms(value)
    except Unreadable as why:
        raise click.BadParameter(f"{value!r} {why}", ctx, param) from None
