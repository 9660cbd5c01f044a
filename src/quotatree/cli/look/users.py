"""`quotatree users QUOTA...`, an older spelling of `get users --quota QUOTA`."""

from __future__ import annotations

import click

from quotatree.cli.look.get import list_items
from quotatree.cli.look.noun import Asked
from quotatree.cli.look.nouns import WORDS
from quotatree.cli.look.queued import USE
from quotatree.cli.output import formats_option
from quotatree.cli.remote import Remote, remote_options


@click.command()
@click.argument("quotas", nargs=-1, metavar="QUOTA...")
@click.option("-b", "--below", is_flag=True, help="Those of the quotas below, too.")
@formats_option
@remote_options
def users(quotas: tuple[str, ...], below: bool, output: str, no_headers: bool, remote: Remote) -> None:
    """The same as `get users --quota QUOTA`; without QUOTA, as `get users`."""
    noun = USE if quotas else WORDS["user"]
    with remote.client() as client:
        asked = Asked(quota=quotas, below=below)
        list_items(client, noun, (), asked, output, headers=not no_headers, watch=False)
