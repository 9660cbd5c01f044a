"""`quotatree priorities`: the names of priorities of the whole installation (W6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quotatree.cli.change.changing import Manner, Step, changes_option, make
from quotatree.cli.output import EXIT_BAD_INPUT, echo_json, echo_table, fail, output_option
from quotatree.cli.remote import Remote, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client


@click.group()
def priorities() -> None:
    """Show and set names for priorities. Wherever a priority is written, a name will do."""


@priorities.command()
@output_option
@remote_options
def show(output: str, remote: Remote) -> None:
    """Print the names with their numbers, highest first."""
    with remote.client() as client:
        names = client.priorities.names()
    if output == "json":
        echo_json(names)
    elif names:
        echo_table(("NAME", "PRIORITY"), [(name, str(priority)) for name, priority in names.items()])
    else:
        click.echo("no priority has a name")


@priorities.command("set")
@click.argument("names", nargs=-1, required=True, metavar="NAME=PRIORITY...")
@changes_option
@remote_options
def set_names(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Give priorities names, such as production=8; others stay. Jobs keep their numbers."""
    wanted: dict[str, int] = {}
    for text in names:
        name, _, number = text.partition("=")
        if not name or not (number.isascii() and number.isdigit()):
            fail(f"{text}: must be NAME=PRIORITY, such as production=8", EXIT_BAD_INPUT)
        wanted[name] = int(number)
    said = ", ".join(f"{name} is {priority}" for name, priority in wanted.items())
    with remote.client() as client:
        _save(client, {**client.priorities.names(), **wanted}, said, manner)


@priorities.command("remove")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@changes_option
@remote_options
def remove_names(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Take names away. Jobs, policies and limits keep their numbers."""
    with remote.client() as client:
        there = client.priorities.names()
        unknown = [name for name in names if name not in there]
        if unknown:
            known = ", ".join(there) or "none"
            fail(f"{unknown[0]}: no such name of a priority; there are: {known}", EXIT_BAD_INPUT)
        left = {name: number for name, number in there.items() if name not in names}
        _save(client, left, f"{', '.join(names)} removed", manner)


def _save(client: Client, names: dict[str, int], said: str, manner: Manner) -> None:
    step = Step("priorities", "names", said, lambda: client.priorities.set_names(names), line=said)
    make(client, [step], manner)
