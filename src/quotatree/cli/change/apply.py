"""`quotatree apply -f FILE`: make the server what a file says. Shows what changes and which jobs
would have to go, and asks.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quotatree.cli.change.changing import Manner, changes_option
from quotatree.cli.decided import ask, echo_exposed, echo_taken
from quotatree.cli.documents import read_document
from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_UNAVAILABLE, echo_json, echo_lines, fail
from quotatree.cli.remote import Remote, remote_options, status_of, text_of
from quotatree.cli.safe_text import one_line

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.manifest.steps import Step

MOST_PREVIEWED = 100
COLOURS = {"+": "green", "-": "red", "~": "yellow"}


@click.command()
@click.option(
    "-f", "--file", "files", multiple=True, required=True, type=click.Path(path_type=Path), metavar="FILE",
    help="YAML, TOML or JSON; may be repeated; - is YAML from stdin.",
)  # fmt: skip
@click.option(
    "--mode", type=click.Choice(["refuse", "lazy", "reclaim"]), default="refuse", show_default=True,
    help="If a quota uses more than will be left to it: refuse, wait until it ends, or evict.",
)  # fmt: skip
@changes_option
@remote_options
def apply(files: tuple[Path, ...], mode: str, manner: Manner, remote: Remote) -> None:
    """Make pools, nodes, users, quotas and workspaces what FILE says.

    What is in the file is made so, and what it leaves out of a quota gets its default; what is not
    in the file stays. Applying twice changes nothing. Changes are made one by one: if one is
    refused, those before it stay, the exit status is 1, and applying again goes on from there.
    """
    from quotatree.manifest.errors import WrongManifest
    from quotatree.manifest.reading import manifest_of
    from quotatree.manifest.steps import steps_to

    documents = {str(path): read_document(path) for path in files}
    with remote.client() as client:
        try:
            steps = steps_to(client, manifest_of(documents), mode)
        except WrongManifest as wrong:
            fail(str(wrong), EXIT_BAD_INPUT)
        with manner.aside():
            _agree(client, steps, manner)
        if not manner.dry_run:
            _make(steps)
    if manner.output == "json":
        items = [
            {"kind": _noun(step), "name": step.of.rpartition("/")[2], "done": step.line} for step in steps
        ]
        echo_json({"dry_run": manner.dry_run, "items": items, "preview": None})
    elif manner.output == "name":
        echo_lines(dict.fromkeys(step.of for step in steps if step.of))
    elif steps and not manner.dry_run:
        click.echo(f"{len(steps)} change(s) made")


def _noun(step: Step) -> str:
    """The noun of what a step changes, such as quota; its line names it second: + quota lab."""
    return step.of.partition("/")[0] or step.line.split()[1]


def _agree(client: Client, steps: list[Step], manner: Manner) -> None:
    """Show the steps and what jobs would lose by them; ask, unless nothing is to be changed."""
    if not steps:
        click.echo("everything is as the file says")
        return
    for step in steps:
        click.echo(click.style(one_line(step.line), fg=COLOURS.get(step.line[0])))
    _show_losses(client, steps)
    if manner.dry_run:
        click.echo(f"{len(steps)} change(s); nothing has been changed")
    elif not manner.yes:
        ask(f"Make {len(steps)} change(s)?")


def _make(steps: list[Step]) -> None:
    """Make the steps one by one. If one cannot be made, say exactly what is made and what is not,
    and end the command.
    """
    from quotatree.client.errors import ApiError, ClientError

    for number, step in enumerate(steps):
        try:
            step.do()
        except ClientError as error:
            refused = isinstance(error, ApiError) and status_of(error) != EXIT_UNAVAILABLE
            click.echo(f"quotatree: {text_of(error)}", err=True)
            _tell_part("made, and stays so:", steps[:number])
            _tell_part("not made:" if refused else "not known whether it was made:", [step])
            _tell_part("not tried:", steps[number + 1 :])
            click.echo(
                f"{number} of {len(steps)} change(s) made; apply again when it can be made: it goes on from here",
                err=True,
            )
            raise SystemExit(EXIT_FAILED if refused else EXIT_UNAVAILABLE) from None


def _tell_part(title: str, steps: list[Step]) -> None:
    if steps:
        click.echo(title, err=True)
    for step in steps:
        click.echo(one_line(f"  {step.line}"), err=True)


def _show_losses(client: Client, steps: list[Step]) -> None:
    """Show what the steps would take from jobs. If the server would refuse a change of nodes or
    quotas, end the command before anything is changed.
    """
    from quotatree.client.errors import ApiError

    changes = [step.preview for step in steps if step.preview is not None]
    if not changes:
        return
    if len(changes) > MOST_PREVIEWED:
        click.echo(
            f"more than {MOST_PREVIEWED} changes of nodes and quotas: which jobs would have to go is not looked at"
        )
        return
    try:
        seen = client.preview(changes)
    except ApiError as error:
        if status_of(error) == EXIT_UNAVAILABLE:
            raise
        fail(f"{text_of(error)}; nothing has been changed", EXIT_FAILED)
    started = sum(1 for one in seen["decisions"] if one["kind"] in ("Start", "Hold"))
    if not echo_taken(seen):
        click.echo("no job would be evicted")
    if started:
        click.echo(f"{started} waiting job(s) could start")
    echo_exposed(seen)
