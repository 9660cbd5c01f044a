"""How does a command print, and with which status does it end? Light enough for every command to
import.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, TypeVar

import click

from quotatree.cli.safe_text import no_formula, one_line, safe_json
from quotatree.cli.table_layout import fitted_lines, table_lines, terminal_width, widths_of, without_spare

EXIT_FAILED: Final = 1
EXIT_BAD_INPUT: Final = 2
EXIT_NOT_FOUND: Final = 3
EXIT_NO_RIGHTS: Final = 4
EXIT_CONFLICT: Final = 5
EXIT_UNAVAILABLE: Final = 6
EXIT_INTERRUPTED: Final = 130

FORMATS: Final = ("table", "wide", "json", "yaml", "name", "csv")

F = TypeVar("F", bound=Callable[..., Any])


def output_option(function: F) -> F:
    """Add -o table|json to a command that prints one thing."""
    kinds = click.Choice(["table", "json"])
    return click.option(
        "-o", "--output", type=kinds, default="table", show_default=True, help="How to print it."
    )(function)


def at_option(says: str) -> Callable[[F], F]:
    return click.option("--at", "at_ms", callback=_moment, metavar="TIME", help=says)


def _moment(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Read a time of the scenario, such as 5m or 1h30m, into milliseconds; None if it was not
    given.
    """
    from quotatree.scenario.amounts import Unreadable, as_time_ms

    try:
        return None if value is None else as_time_ms(value)
    except Unreadable as why:
        raise click.BadParameter(f"{value!r} {why}", ctx, param) from None


def formats_option(function: F) -> F:
    """Add -o with all formats, and --no-headers, to a command that prints a list."""
    function = click.option(
        "--no-headers", is_flag=True, help="Print no line with the names of the columns."
    )(function)
    return click.option(
        "-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True,
        help="How to print it.",
    )(function)  # fmt: skip


def fail(message: str, status: int) -> NoReturn:
    click.echo(f"quotatree: {message}", err=True)
    raise SystemExit(status)


def echo_json(value: object) -> None:
    click.echo(safe_json(json.dumps(value, indent=2, ensure_ascii=False)))


def echo_json_line(value: object) -> None:
    click.echo(safe_json(json.dumps(value, ensure_ascii=False)))


def echo_lines(lines: Iterable[str]) -> None:
    """Print each as exactly one line, whatever others have written into it."""
    for line in lines:
        click.echo(one_line(line))


def echo_csv(header: Sequence[str], rows: Sequence[Sequence[str]], *, headers: bool = True) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([[no_formula(cell) for cell in row] for row in ([header, *rows] if headers else rows)])
    click.echo(text.getvalue(), nl=False)


def echo_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    headers: bool = True,
    spare: Sequence[str] = (),
) -> None:
    """Print rows in aligned columns; the last column is not padded. A terminal that is too narrow
    gets narrower columns.

    `spare`: titles of columns that are left out, in this order, where that is not enough; it is
    told which.
    """
    rows = [[one_line(cell) for cell in row] for row in rows]
    room = terminal_width()
    left_out: list[str] = []
    if room is not None:
        header, rows, left_out = without_spare(header, rows, room, spare)
    shown = [header, *rows]
    if room is None:
        groups = [[line] for line in table_lines(shown, widths_of(shown))]
    else:
        groups = fitted_lines(header, rows, room)
    for lines in groups[0 if headers else 1 :]:
        for line in lines:
            click.echo(line)
    if left_out:
        click.echo(f"left out, for the terminal is narrow: {', '.join(left_out)}", err=True)
