"""`quotatree delete NOUN NAME...`"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from quotatree.cli.remote import Remote, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client

DELETED_BY: Final[dict[str, Callable[[Client, str], object]]] = {
    "quota": lambda client, name: client.quotas.delete(name),
    "workspace": lambda client, name: client.workspaces.delete(name),
    "webhook": lambda client, name: client.webhooks.delete(name),
}


@click.command()
@click.argument("noun", type=click.Choice(sorted(DELETED_BY)), metavar="NOUN")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@remote_options
def delete(noun: str, names: tuple[str, ...], remote: Remote) -> None:
    """Delete quotas, workspaces or webhooks: NOUN is quota, workspace or webhook.

    A quota with jobs, children or workspaces is not deleted (Q6), nor a workspace with active jobs (W1). Jobs are
    ended with `cancel`, tokens with `token revoke`.
    """
    with remote.client() as client:
        for name in names:
            DELETED_BY[noun](client, name)
            click.echo(f"{noun}/{name} deleted")
