"""`quotatree users QUOTA...`: who uses quotas, and waits for how much of them?"""

from __future__ import annotations

from typing import Any

import click

from quotatree.cli.documents import yaml_text
from quotatree.cli.output import echo_csv, echo_json, echo_lines, echo_table, formats_option
from quotatree.cli.remote import Remote, bare, remote_options
from quotatree.cli.words import age, moment

HEADER = ("QUOTA", "USER", "WORKSPACE", "RUNNING", "GPUS", "IDLE", "WAITING", "WANTED", "SINCE")
OTHERS = "(others)"


@click.command()
@click.argument("quotas", nargs=-1, required=True, metavar="QUOTA...")
@click.option("-b", "--below", is_flag=True, help="With the quotas below, too.")
@formats_option
@remote_options
def users(quotas: tuple[str, ...], below: bool, output: str, no_headers: bool, remote: Remote) -> None:
    """Show who uses QUOTAs and waits for how much, largest use first.

    Everybody whose jobs one may not see is one line without a name.
    """
    names = tuple(bare(quota, "quota") for quota in quotas)
    with remote.client() as client:
        found: list[dict[str, Any]] = [
            {"quota": name, **one} for name in names for one in client.quotas.users(name, below=below)
        ]
    if output == "json":
        echo_json({"items": found})
    elif output == "yaml":
        click.echo(yaml_text({"items": found}), nl=False)
    elif output == "name":
        echo_lines(f"user/{one['user']}" for one in found if one["user"] is not None)
    elif output == "csv":
        rows = [(*_cells(one), moment(one["oldest_waiting_since_ms"])) for one in found]
        echo_csv([title.lower() for title in HEADER], rows, headers=not no_headers)
    elif found:
        rows = [(*_cells(one), age(one["oldest_waiting_since_ms"])) for one in found]
        echo_table(HEADER, rows, headers=not no_headers)
    else:
        click.echo("nobody uses it or waits", err=True)


def _cells(one: dict[str, Any]) -> tuple[str, ...]:
    """All columns but the last: how long the oldest has waited, or since when."""
    return (
        one["quota"],
        one["user"] or OTHERS,
        one["workspace"] or "-",
        str(one["running_jobs"]),
        f"{one['regular_gpus']:g}",
        f"{one['idle_gpus']:g}",
        str(one["waiting_jobs"]),
        f"{one['waiting_gpus']:g}",
    )
