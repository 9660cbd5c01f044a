"""`quotatree doctor`: is everything as it should be, and if not, what is to be done?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from quotatree.cli import contexts, extras
from quotatree.cli.output import EXIT_FAILED, echo_json, echo_table, output_option
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.run.data import data_options
from quotatree.cli.run.doctor import installation, server
from quotatree.cli.run.doctor.finding import Finding, bad


@click.command()
@data_options
@output_option
@remote_options
def doctor(data: Path | None, database: str | None, config: Path | None, output: str, remote: Remote) -> None:
    """Check the installation, the server, and this machine and its data as far as a server would use them.

    Exit 1 if something is bad. Each finding that is not ok says what to do.
    """
    findings = [
        *installation.findings(),
        *_there(remote),
        *_here(data, database, config),
    ]
    if output == "json":
        echo_json({"schema": "quotatree.doctor/1", "checks": [one._asdict() for one in findings]})
    else:
        rows = [(one.check, one.state, one.detail + (f"; {one.do}" if one.do else "")) for one in findings]
        echo_table(("CHECK", "STATE", "DETAIL"), rows)
    if any(one.state == "bad" for one in findings):
        raise SystemExit(EXIT_FAILED)


def _there(remote: Remote) -> Iterator[Finding]:
    """What the server says. Logins that cannot be read are told by the installation's findings already."""
    try:
        target = contexts.resolve(remote.server, remote.token_file, remote.context)
    except contexts.BadContext as error:
        if installation.logins_are_readable():
            yield bad(
                "server", str(error), "name it otherwise: --server URL, or QUOTATREE_URL and QUOTATREE_TOKEN"
            )
        return
    yield from server.findings(target)


def _here(data: Path | None, database: str | None, config: Path | None) -> Iterator[Finding]:
    """What a server would find on this machine; nothing where its packages are not installed."""
    if extras.missing_of_server():
        return
    from quotatree.cli.run.doctor import machine, settings, stored

    found = settings.read(data, database, config)
    if isinstance(found, Finding):
        yield found
        return
    yield from settings.findings(found)
    yield from machine.findings(found)
    yield from stored.findings(
        found, named=bool(data or database or config or os.environ.get("QUOTATREE_DATABASE"))
    )
