"""`quotatree get NOUN [NAME...]`: lists, as tables or data, once or as they change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.documents import yaml_text
from quotatree.cli.look.nouns import NOUNS, WORDS, Asked, Noun, found
from quotatree.cli.naming import meant
from quotatree.cli.output import (
    EXIT_BAD_INPUT,
    echo_csv,
    echo_json,
    echo_json_line,
    echo_lines,
    echo_table,
    fail,
    formats_option,
)
from quotatree.cli.remote import Remote, patiently, remote_options
from quotatree.cli.table_layout import table_lines, widths_of

if TYPE_CHECKING:
    from quotatree.client import Client

PHASES = ("Waiting", "Held", "Running", "Stopped", "OnHold", "Succeeded", "Failed", "Cancelled")


@click.command()
@click.argument("noun", type=click.Choice(sorted(WORDS)), metavar="NOUN")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--workspace", multiple=True, metavar="NAME", help="Only of this workspace; may be repeated.")
@click.option("--quota", multiple=True, metavar="NAME", help="Only of this quota; may be repeated.")
@click.option("--owner", multiple=True, metavar="USER", help="Only jobs of this user; may be repeated.")
@click.option(
    "--phase", multiple=True, type=click.Choice(PHASES, case_sensitive=False), help="Only jobs in this phase."
)
@click.option(
    "--module",
    multiple=True,
    type=click.Choice(["DLC", "DSW", "EAS"], case_sensitive=False),
    help="Only of this module.",
)
@click.option("-a", "--all", "finished", is_flag=True, help="Finished jobs too.")
@click.option("--most", type=click.IntRange(1), metavar="N", help="At most so many.")
@click.option("-w", "--watch", is_flag=True, help="Go on, and print what changes.")
@formats_option
@remote_options
def get(
    noun: str,
    names: tuple[str, ...],
    watch: bool,
    output: str,
    no_headers: bool,
    remote: Remote,
    **filters: Any,
) -> None:
    """List NOUN, or those of it that are named.

    NOUN is job, quota, workspace, node, pool, user, token, webhook, event, preemption or audit; the plural is fine too.
    """
    kind = WORDS[noun]
    for name, value in filters.items():
        if value and name not in kind.filters:
            option = {"finished": "all"}.get(name, name)
            fail(f"--{option} means nothing for {noun}", EXIT_BAD_INPUT)
    if watch and not kind.events:
        watched = ", ".join(one.word for one in NOUNS if one.events)
        fail(f"--watch does not work for {noun}; for: {watched} (and quotatree events -w)", EXIT_BAD_INPUT)
    asked = Asked(**filters)
    with remote.client() as client:
        names = meant(client, kind.word, names)
        if watch:
            Watch(client, kind, names, asked, output, headers=not no_headers).run()
        else:
            items = list(found(kind, client, names, asked))
            print_items(kind, items, output, headers=not no_headers, single=len(names) == 1)
            if not items and kind.word == "job" and not asked.finished and not asked.phase:
                click.echo("those that are over are listed with -a", err=True)


def print_items(
    noun: Noun, items: Sequence[Any], output: str, *, headers: bool = True, single: bool = False
) -> None:
    if output in ("json", "yaml"):
        value = items[0] if single else {"items": list(items)}
        if output == "json":
            echo_json(value)
        else:
            click.echo(yaml_text(value), nl=False)
    elif output == "name":
        echo_lines(f"{noun.word}/{noun.name(item)}" for item in items)
    elif output == "csv":
        rows = [noun.csv_row(item) for item in items]
        echo_csv([t.lower() for t in noun.header(True)], rows, headers=headers)
    elif items:
        wide = output == "wide"
        spare = () if wide else noun.spare
        echo_table(noun.header(wide), _rows(noun, items, wide), headers=headers, spare=spare)
    else:
        click.echo(f"no {noun.word} found", err=True)


def _rows(noun: Noun, items: Iterable[Any], wide: bool) -> list[list[str]]:
    return [noun.row(item, wide) for item in items]


class Watch:
    """Prints first all items, then a line for each that is new or different. Columns keep their first widths."""

    def __init__(
        self, client: Client, noun: Noun, names: Sequence[str], asked: Asked, output: str, *, headers: bool
    ) -> None:
        self._client, self._noun, self._names, self._asked = client, noun, names, asked
        self._output, self._headers = output, headers
        self._widths: list[int] | None = None
        self._before: dict[str, Any] = {}

    def run(self) -> None:
        for event in self._client.events.watch(workspace=self._asked.workspace, opened=self._look):
            if not event["kind"].startswith(self._noun.events):
                continue
            if self._noun.word == "job" and event["job"] is not None:
                patiently(partial(self._look_at_job, event["job"]))
            else:
                patiently(self._look)

    def _look(self) -> None:
        items = list(found(self._noun, self._client, self._names, self._asked))
        if self._widths is None:
            wide = self._output == "wide"
            header = self._noun.header(wide)
            self._widths = widths_of([header, *_rows(self._noun, items, wide)])
            if self._output in ("table", "wide") and self._headers:
                click.echo(table_lines([header], self._widths)[0])
        for item in items:
            self._show(item)

    def _look_at_job(self, name: str) -> None:
        from quotatree.client.errors import NotFound

        if self._names and name not in self._names:
            return
        try:
            job: Any = self._client.jobs.get(name, positions=True)
        except NotFound:
            return
        for field in ("workspace", "quota", "owner", "phase", "module"):
            wanted = getattr(self._asked, field)
            if wanted and job[field] not in wanted:
                return
        self._show(job)

    def _show(self, item: Any) -> None:
        """Print an item if it is new or different. A new place in the queue does not count, or long queues would never rest."""
        news = {key: value for key, value in item.items() if key != "position"}
        name = self._noun.name(item)
        if self._before.get(name) == news:
            return
        self._before[name] = news
        if self._output == "json":
            echo_json_line(item)
        elif self._output == "yaml":
            click.echo("---\n" + yaml_text(item), nl=False)
        elif self._output == "name":
            echo_lines([f"{self._noun.word}/{name}"])
        elif self._output == "csv":
            echo_csv([], [self._noun.row(item, True)], headers=False)
        else:
            row = self._noun.row(item, self._output == "wide")
            click.echo(table_lines([row], self._widths or ())[0])
