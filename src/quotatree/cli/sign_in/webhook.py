"""`create webhook` and `delete webhook`: events are sent to an address, signed. `webhook` is an
older spelling of both.
"""

from __future__ import annotations

import secrets
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quotatree.cli.change.changing import Manner, Step, Told, changes_option, make
from quotatree.cli.look.get import print_items
from quotatree.cli.look.nouns import WORDS
from quotatree.cli.output import EXIT_BAD_INPUT, fail, formats_option
from quotatree.cli.remote import Remote, bare, remote_options

if TYPE_CHECKING:
    from quotatree.client import types as t


@click.group()
def webhook() -> None:
    """Another word for `create webhook`, `get webhooks` and `delete webhook`."""


@click.command()
@click.argument("name")
@click.option("--url", required=True, help="Where to, http or https.")
@click.option(
    "--workspace", metavar="NAME", help="Only of this workspace. Without it, all events (platform admins)."
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Only such events, such as job.evicted; may be repeated.",
)
@click.option(
    "--secret-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sign with what is in this file; - is stdin. Without it, a secret is made and printed once.",
)
@changes_option
@remote_options
def create_webhook(
    name: str,
    url: str,
    workspace: str | None,
    kinds: tuple[str, ...],
    secret_file: Path | None,
    manner: Manner,
    remote: Remote,
) -> None:
    """Send events to an address: make the webhook NAME. A secret that is made here is all that goes
    to stdout.

    Every delivery is signed with the webhook's secret, and repeated until it is taken.
    """
    secret = secrets.token_urlsafe(32) if secret_file is None else _read(secret_file)
    wanted: t.WebhookIn = {
        "id": name, "url": url, "secret": secret, "kinds": list(kinds), "workspace": workspace,
    }  # fmt: skip
    told = Told(secret=("secret", secret)) if secret_file is None else Told()
    with remote.client() as client:

        def do() -> Told:
            client.webhooks.create(wanted)
            return told

        make(client, [Step("webhook", name, "created", do)], manner)


@webhook.command("list")
@formats_option
@remote_options
def list_webhooks(output: str, no_headers: bool, remote: Remote) -> None:
    """The same as `get webhooks`."""
    with remote.client() as client:
        print_items(WORDS["webhook"], list(client.webhooks.list()), output, headers=not no_headers)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@changes_option
@remote_options
def delete_webhook(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Delete webhooks."""
    with remote.client() as client:
        steps = [
            Step(
                "webhook",
                name,
                "deleted",
                partial(client.webhooks.delete, name),
                partial(client.webhooks.get, name),
            )
            for name in (bare(one, "webhook") for one in names)
        ]
        make(client, steps, manner)


webhook.add_command(create_webhook, "create")
webhook.add_command(delete_webhook, "delete")


def _read(path: Path) -> str:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path}: {getattr(error, 'strerror', None) or 'not text'}", EXIT_BAD_INPUT)
    return text.strip()
