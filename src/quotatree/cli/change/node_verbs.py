"""`quotatree cordon`, `uncordon`, `drain`: nodes out of use and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from quotatree.cli.change.changing import Manner, Step, changes_option, make
from quotatree.cli.remote import Remote, bare, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client

nodes_argument = click.argument("nodes", nargs=-1, required=True, metavar="NODE...")


@click.command()
@nodes_argument
@changes_option
@remote_options
def cordon(nodes: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Start nothing new on NODEs; what runs goes on."""
    with remote.client() as client:
        _make(client, nodes, manner, "Cordoned", client.nodes.cordon)


@click.command()
@nodes_argument
@changes_option
@remote_options
def uncordon(nodes: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Use NODEs again, after a cordon or a drain."""
    with remote.client() as client:
        _make(client, nodes, manner, "Ready", client.nodes.uncordon)


@click.command()
@nodes_argument
@changes_option
@remote_options
def drain(nodes: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Evict what runs on NODEs, with notice and grace, and start nothing new there. Shows which
    jobs have to go, and asks.
    """
    with remote.client() as client:
        _make(client, nodes, manner, "Draining", client.nodes.drain)


def _make(
    client: Client, nodes: tuple[str, ...], manner: Manner, state: str, do: Callable[[str], object]
) -> None:
    names = [bare(node, "node") for node in nodes]
    done = state.lower()
    steps = [Step("node", name, done, partial(do, name), line=f"{name} {done}") for name in names]
    changes = [{"change": "node-state", "node": name, "state": state} for name in names]
    make(client, steps, manner, changes, ask=state == "Draining")
