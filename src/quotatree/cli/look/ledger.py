"""`quotatree preemptions` and `quotatree events`: who took what from whom, and what happens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from quotatree.cli.look.get import print_items
from quotatree.cli.look.nouns import WORDS
from quotatree.cli.naming import job_id
from quotatree.cli.output import (
    EXIT_BAD_INPUT,
    echo_csv,
    echo_json_line,
    echo_table,
    fail,
    formats_option,
)
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.table_layout import table_lines
from quotatree.cli.words import called, gpu_seconds, moment, with_name

HEADER = ("TIME", "PREEMPTOR", "STEP", "VICTIM", "QUOTA", "PRIO", "LOST", "COST", "WHAT", "RULE")
NOBODY = "-"
EVENT_WIDTHS = (6, 19, 18, 12, 12, 14)


@click.command()
@click.option(
    "--quota", multiple=True, metavar="NAME", help="Only where this quota took or lost; may be repeated."
)
@click.option("--job", metavar="JOB", help="Only where this job took or lost.")
@click.option("--since", metavar="TIME", help="Only of the last TIME, such as 2h.")
@click.option("--most", type=click.IntRange(1), metavar="N", help="At most so many.")
@formats_option
@remote_options
def preemptions(
    quota: tuple[str, ...],
    job: str | None,
    since: str | None,
    most: int | None,
    output: str,
    no_headers: bool,
    remote: Remote,
) -> None:
    """The ledger, newest first: one line for all work that was ended, with the rule, the lost work and the cost (P13).

    Without a preemptor no job took its place: a quota was scaled, a loan returned, a node drained, a limit reached, or its owner
    stopped it.
    """
    from_ms = None if since is None else _now_ms() - _span_ms(since)
    with remote.client() as client:
        about = None if job is None else job_id(client, job)
        entries = list(client.preemptions.list(quota=quota, job=about, from_ms=from_ms, most=most))
    if output not in ("table", "wide", "csv"):
        print_items(WORDS["preemption"], entries, output)
        return
    if output == "csv":
        titles = [*(title.lower() for title in HEADER), "preemptor_name", "victim_name"]
        echo_csv(titles, [_row(*one, named=False) for one in _losses(entries)], headers=not no_headers)
    elif entries:
        rows = [_row(*one, named=True) for one in _losses(entries)]
        echo_table(HEADER, rows, headers=not no_headers, spare=("PRIO", "STEP", "LOST", "QUOTA", "RULE"))
    else:
        click.echo("nobody lost anything", err=True)


def _losses(entries: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Each victim of each entry, with the entry."""
    for entry in entries:
        for victim in entry["preemption"]["victims"]:
            yield entry, victim


def _row(entry: Any, victim: Any, *, named: bool) -> list[str]:
    """The cells of a victim. Names stand beside the ids, or, for programs, in columns of their own behind the others."""
    taken, names = entry["preemption"], entry["names"]
    preemptor, job = taken["preemptor"] or "", victim["job"]
    return [
        moment(entry["at_ms"]),
        (called(preemptor, names) or NOBODY) if named else preemptor,
        (taken["step"] or "").lower() or (NOBODY if named else ""),
        called(job, names) if named else job,
        victim["quota"],
        with_name(victim["priority"], victim["priority_name"]) if named else str(victim["priority"]),
        gpu_seconds(victim["lost_gpu_seconds"]),
        gpu_seconds(victim["cost_gpu_seconds"]),
        victim["what"],
        victim["rule"] or (NOBODY if named else ""),
        *([] if named else [names.get(preemptor, ""), names.get(job, "")]),
    ]


@click.command()
@click.option("-w", "--watch", is_flag=True, help="Go on, and print what happens from now on.")
@click.option("--workspace", multiple=True, metavar="NAME", help="Only of this workspace; may be repeated.")
@click.option("--job", metavar="JOB", help="Only of this job.")
@click.option(
    "--kind", multiple=True, metavar="KIND", help="Only such events, as job.started; may be repeated."
)
@click.option("--after", type=click.IntRange(0), metavar="SEQ", help="Only after the event of this number.")
@formats_option
@remote_options
def events(
    watch: bool,
    workspace: tuple[str, ...],
    job: str | None,
    kind: tuple[str, ...],
    after: int | None,
    output: str,
    no_headers: bool,
    remote: Remote,
) -> None:
    """Show what happened, oldest first, with its figures; with -w what happens. A cut connection is made again, and nothing is
    missed.
    """
    noun = WORDS["event"]
    with remote.client() as client:
        job = None if job is None else job_id(client, job)
        if not watch:
            found = client.events.list(workspace=workspace, job=job, kind=kind, after=after or 0)
            print_items(noun, list(found), output, headers=not no_headers)
            return
        wide = output == "wide"
        if output in ("table", "wide") and not no_headers:
            click.echo(table_lines([noun.header(wide)], EVENT_WIDTHS)[0])
        for event in client.events.watch(workspace=workspace, job=job, kind=kind, after=after):
            _echo_event(event, output)


def _echo_event(event: Any, output: str) -> None:
    noun = WORDS["event"]
    if output in ("json", "yaml"):
        echo_json_line(event)
    elif output == "name":
        click.echo(f"event/{event['seq']}")
    elif output == "csv":
        echo_csv([], [noun.row(event, True)], headers=False)
    else:
        click.echo(table_lines([noun.row(event, output == "wide")], EVENT_WIDTHS)[0])


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _span_ms(text: str) -> int:
    from quotatree.scenario.amounts import Unreadable, as_duration_ms

    try:
        return as_duration_ms(text)
    except Unreadable as error:
        fail(f"--since {text}: {error}", EXIT_BAD_INPUT)
