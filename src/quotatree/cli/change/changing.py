"""How does a command change something? --dry-run, -y and -o mean the same on every command that
does.

`--dry-run` shows what would be done and decided, and changes nothing. `-y` asks nothing. `-o` says
how it is printed what was done, or would be: a line for each change, `noun/name`, or JSON.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from quotatree.cli.decided import agreed, echo_preview
from quotatree.cli.output import EXIT_FAILED, echo_json, echo_lines
from quotatree.cli.safe_text import one_line

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Manner:
    """What the three options say."""

    dry_run: bool = False
    yes: bool = False
    output: str = "table"

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Print to stderr what is not the result, where the result is for a program."""
        if self.output == "table":
            yield
        else:
            with redirect_stdout(sys.stderr):
                yield


@dataclass(frozen=True, slots=True)
class Told:
    """What a change tells when it is done. `name` and `secret`, a field and its value, if only the
    server knew them.

    `lines` are printed instead of the step's line.
    """

    name: str = ""
    secret: tuple[str, str] | None = None
    notices: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    done: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One change: of what, what is told when it is done, and how it is done.

    `check` raises what the server says if it cannot be done; a dry run calls it. `line` is told
    instead of the usual.
    """

    noun: str
    name: str
    done: str
    do: Callable[[], object]
    check: Callable[[], object] | None = None
    line: str = ""

    def told(self) -> str:
        return self.line or f"{self.noun}/{self.name} {self.done}"


@dataclass(slots=True)
class _Result:
    """What is printed at the end, for programs."""

    manner: Manner
    items: list[dict[str, Any]] = field(default_factory=list)
    preview: t.PreviewOut | None = None

    def add(self, step: Step, told: Told) -> None:
        name, done = told.name or step.name, told.done or step.done
        item: dict[str, Any] = {"kind": step.noun, "name": name, "done": done}
        self.items.append(item if told.secret is None else {**item, told.secret[0]: told.secret[1]})

    def echo(self) -> None:
        if self.manner.output == "json":
            echo_json({"dry_run": self.manner.dry_run, "items": self.items, "preview": self.preview})
        elif self.manner.output == "name":
            echo_lines(f"{item['kind']}/{item['name']}" for item in self.items)


def changes_option(function: F) -> F:
    """Add --dry-run, -y and -o to a command, which gets them as `manner`."""

    @functools.wraps(function)
    def run(*args: Any, dry_run: bool, yes: bool, output: str, **rest: Any) -> Any:
        return function(*args, manner=Manner(dry_run, yes, output), **rest)

    for option in (
        click.option(
            "-o", "--output", type=click.Choice(["table", "json", "name"]), default="table", show_default=True,
            help="How to print what is done.",
        ),
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing."),
    ):  # fmt: skip
        run = option(run)
    return cast(F, run)  # it takes the three options instead of `manner`, which no type can say


def make(
    client: Client,
    steps: Sequence[Step],
    manner: Manner,
    changes: Sequence[Any] = (),
    *,
    of: str | None = None,
    ask: bool = True,
    go_on: bool = False,
) -> None:
    """Make the steps, or only show them. Before that, show what jobs would lose by `changes`, and
    ask.

    `changes`: the steps as the server previews them. `of`: the job that is changed; you are not
    asked about what it loses itself. `go_on`: also after a failure, and exit with the first one's
    status.
    """
    if manner.dry_run:
        _show(client, steps, manner, changes)
        return
    if changes and ask:
        with manner.aside():
            agreed(client, changes, manner.yes, of)
    result, status = _Result(manner), 0
    try:
        for step in steps:
            status = _make_one(step, manner, result, go_on=go_on) or status
    finally:
        result.echo()
    if status:
        raise SystemExit(status)


def _make_one(step: Step, manner: Manner, result: _Result, *, go_on: bool) -> int:
    """Make a step and tell it; return the exit status, 0 if it was made."""
    from quotatree.cli.remote import status_of, text_of
    from quotatree.client.errors import ApiError

    try:
        done = step.do()
    except ApiError as error:
        if not go_on:
            raise
        click.echo(f"quotatree: {step.name}: {text_of(error)}", err=True)
        return status_of(error) or EXIT_FAILED
    told = done if isinstance(done, Told) else Told()
    result.add(step, told)
    line = f"{step.noun}/{told.name or step.name} {told.done or step.done}" if told.name else step.told()
    if told.secret is not None and manner.output != "json":
        click.echo(one_line(f"{line}; its {told.secret[0]} is shown once:"), err=True)
        click.echo(one_line(told.secret[1]), err=manner.output != "table")
    elif manner.output == "table":
        echo_lines(told.lines or [line])
    for notice in told.notices:
        with manner.aside():
            echo_lines([notice])
    return 0


def _show(client: Client, steps: Sequence[Step], manner: Manner, changes: Sequence[Any]) -> None:
    for step in steps:
        if step.check is not None:
            step.check()
    result = _Result(manner, preview=client.preview(changes) if changes else None)
    for step in steps:
        result.add(step, Told())
    if manner.output != "table":
        result.echo()
        return
    click.echo("this would be done; nothing has been changed:")
    echo_lines(f"  {step.told()}" for step in steps)
    if result.preview is not None:
        click.echo("and this would be decided:")
        echo_preview(result.preview)
