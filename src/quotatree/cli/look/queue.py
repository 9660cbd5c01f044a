"""`quotatree queue [QUOTA...]`: who waits, in which order, and for what?"""

from __future__ import annotations

from typing import Any

import click

from quotatree.cli.documents import yaml_text
from quotatree.cli.output import echo_csv, echo_json, echo_lines, echo_table, formats_option
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.words import with_name

HEADER = ("QUOTA", "POS", "JOB", "PRIO", "REASON")


@click.command()
@click.argument("quotas", nargs=-1, metavar="[QUOTA]...")
@click.option("--most", type=click.IntRange(1), metavar="N", help="At most so many of each quota.")
@formats_option
@remote_options
def queue(quotas: tuple[str, ...], most: int | None, output: str, no_headers: bool, remote: Remote) -> None:
    """Show who waits at QUOTAs, first to last; without any, at all that one may see.

    Jobs of other teams have a priority and a size, no name.
    """
    with remote.client() as client:
        names = quotas or tuple(
            quota["id"] for quota in client.quotas.list() if quota["usage"]["queued_jobs"]
        )
        places: list[dict[str, Any]] = [
            {"quota": name, **place} for name in names for place in client.quotas.queue(name, most=most)
        ]
    rows = [
        (
            p["quota"],
            str(p["position"]),
            p["job"],
            str(p["priority"]) if output == "csv" else with_name(p["priority"], p["priority_name"]),
            p["reason_code"],
        )
        for p in places
    ]
    if output == "json":
        echo_json({"items": places})
    elif output == "yaml":
        click.echo(yaml_text({"items": places}), nl=False)
    elif output == "name":
        echo_lines(f"job/{place['job']}" for place in places)
    elif output == "csv":
        echo_csv([title.lower() for title in HEADER], rows, headers=not no_headers)
    elif rows:
        echo_table(HEADER, rows, headers=not no_headers)
    else:
        click.echo("nobody waits", err=True)
