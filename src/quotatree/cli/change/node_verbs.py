"""`quotatree cordon`, `uncordon`, `drain`: nodes out of use and back."""

from __future__ import annotations

import click

from quotatree.cli.decided import agreed
from quotatree.cli.remote import Remote, bare, remote_options


@click.command()
@click.argument("nodes", nargs=-1, required=True, metavar="NODE...")
@remote_options
def cordon(nodes: tuple[str, ...], remote: Remote) -> None:
    """Start nothing new on NODEs; what runs goes on."""
    with remote.client() as client:
        for node in (bare(name, "node") for name in nodes):
            client.nodes.cordon(node)
            click.echo(f"{node} cordoned")


@click.command()
@click.argument("nodes", nargs=-1, required=True, metavar="NODE...")
@remote_options
def uncordon(nodes: tuple[str, ...], remote: Remote) -> None:
    """Use NODEs again, after a cordon or a drain."""
    with remote.client() as client:
        for node in (bare(name, "node") for name in nodes):
            client.nodes.uncordon(node)
            click.echo(f"{node} ready")


@click.command()
@click.argument("nodes", nargs=-1, required=True, metavar="NODE...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@remote_options
def drain(nodes: tuple[str, ...], yes: bool, remote: Remote) -> None:
    """Evict what runs on NODEs, with notice and grace, and start nothing new there. Shows who has to go, and asks."""
    with remote.client() as client:
        agreed(
            client,
            [{"change": "node-state", "node": bare(name, "node"), "state": "Draining"} for name in nodes],
            yes,
        )
        for node in (bare(name, "node") for name in nodes):
            client.nodes.drain(node)
            click.echo(f"{node} draining")
