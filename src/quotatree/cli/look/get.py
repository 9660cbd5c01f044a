"""`quotatree get NOUN [NAME...]`: lists, as tables or data, once or as they change."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.documents import yaml_text
from quotatree.cli.look.happened import EVENT, watch_events
from quotatree.cli.look.noun import Asked, Noun
from quotatree.cli.look.nouns import NOUNS, WORDS, found
from quotatree.cli.look.queued import USE
from quotatree.cli.naming import job_id, meant
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
@click.option("--job", metavar="JOB", help="Only events of this job, or preemptions where it took or lost.")
@click.option(
    "--kind", multiple=True, metavar="KIND", help="Only such events, as job.started; may be repeated."
)
@click.option(
    "--after", type=click.IntRange(0), metavar="SEQ", help="Only events after the one of this number."
)
@click.option("--since", metavar="TIME", help="Only preemptions of the last TIME, such as 2h.")
@click.option("-b", "--below", is_flag=True, help="Of users with --quota: those of the quotas below, too.")
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
    """List NOUN, or those of it that you name.

    NOUN is job, quota, workspace, node, pool, user, token, webhook, event, preemption, queue or
    audit; the plural is fine too. `get queue QUOTA...` lists the jobs that wait there, `get users
    --quota QUOTA` the users with what they use of it, and `get preemptions` what was ended, at
    which cost and by which rule.
    """
    kind = WORDS[noun]
    for name, value in filters.items():
        if value and name not in kind.filters:
            option = {"finished": "all"}.get(name, name)
            fail(f"--{option} means nothing for {noun}", EXIT_BAD_INPUT)
    if watch and not kind.events:
        watched = ", ".join(one.word for one in NOUNS if one.events)
        fail(f"--watch does not work for {noun}; it works for: {watched}", EXIT_BAD_INPUT)
    if kind.word == "user" and filters["quota"]:
        if names:
            fail("name users, or a quota with --quota, not both", EXIT_BAD_INPUT)
        kind = USE
    elif filters["below"]:
        fail("--below: say with --quota of which quota", EXIT_BAD_INPUT)
    since = filters.pop("since")
    asked = Asked(**filters, since_ms=None if since is None else _before_now_ms(since))
    with remote.client() as client:
        if asked.job is not None:
            asked = replace(asked, job=job_id(client, asked.job))
        list_items(client, kind, names, asked, output, headers=not no_headers, watch=watch)


def list_items(
    client: Client,
    kind: Noun,
    names: tuple[str, ...],
    asked: Asked,
    output: str,
    *,
    headers: bool,
    watch: bool,
) -> None:
    names = meant(client, kind.word, names)
    if watch and kind is EVENT:
        watch_events(client, asked, output, headers=headers)
        return
    if watch:
        Watch(client, kind, names, asked, output, headers=headers).run()
        return
    items = list(found(kind, client, names, asked))
    print_items(kind, items, output, headers=headers, single=len(names) == 1 and not kind.names_quotas)
    if not items and kind.word == "job" and not asked.finished and not asked.phase:
        click.echo("jobs that are over are listed with -a", err=True)


def _before_now_ms(span: str) -> int:
    from quotatree.scenario.amounts import Unreadable, as_duration_ms

    try:
        return time.time_ns() // 1_000_000 - as_duration_ms(span)
    except Unreadable as error:
        fail(f"--since {span}: {error}", EXIT_BAD_INPUT)


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
        echo_lines(name for item in items for name in noun.names(item))
    elif output == "csv":
        echo_csv(noun.csv_header(), [row for item in items for row in noun.csv_rows(item)], headers=headers)
    elif items:
        wide = output == "wide"
        spare = () if wide else noun.spare
        echo_table(noun.header(wide), _rows(noun, items, wide), headers=headers, spare=spare)
    else:
        click.echo(noun.none or f"no {noun.word} found", err=True)


def _rows(noun: Noun, items: Iterable[Any], wide: bool) -> list[list[str]]:
    return [row for item in items for row in noun.rows(item, wide)]


class Watch:
    """Prints first all items, then a line for each that is new or different. Columns keep their
    first widths.
    """

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
        """Print an item if it is new or different. A new place in the queue does not count, or long
        queues would never rest.
        """
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
            echo_lines(self._noun.names(item))
        elif self._output == "csv":
            echo_csv([], self._noun.csv_rows(item), headers=False)
        else:
            for line in table_lines(self._noun.rows(item, self._output == "wide"), self._widths or ()):
                click.echo(line)
