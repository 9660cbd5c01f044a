"""`quotatree top`: use, queues and nodes at a glance, again and again in a terminal, once in a pipe."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from quotatree.cli.look.tree import figures
from quotatree.cli.remote import Remote, remote_options

if TYPE_CHECKING:
    from rich.console import Console

    from quotatree.client import Client


@click.command()
@click.option(
    "--every", type=click.FloatRange(0.2), default=2.0, show_default=True, help="Seconds between looks."
)
@click.option("--once", is_flag=True, help="Look once, also in a terminal.")
@remote_options
def top(every: float, once: bool, remote: Remote) -> None:
    """Show the tree with its use, the phases of jobs, and the nodes. Ctrl-C ends it."""
    from quotatree.cli.terminal import console

    out = console()
    with remote.client() as client:
        if once or not sys.stdout.isatty():
            _look(out, client)
            return
        with out.screen():
            while True:
                out.clear()
                _look(out, client)
                time.sleep(every)


def _look(out: Console, client: Client) -> None:
    from quotatree.cli.terminal import print_legend, print_tree
    from quotatree.client.errors import Forbidden, NotFound

    quotas = client.quotas.list()
    if quotas:
        print_tree(out, figures(quotas))
        print_legend(out)
    phases: dict[str, int] = {}
    for job in client.jobs.list(active=True):
        phases[job["phase"]] = phases.get(job["phase"], 0) + 1
    out.print("jobs: " + (", ".join(f"{count} {phase}" for phase, count in sorted(phases.items())) or "none"))
    try:
        nodes = client.nodes.list()
    except (Forbidden, NotFound):  # not every user may see nodes
        return
    states: dict[str, int] = {}
    for node in nodes:
        states[node["state"]] = states.get(node["state"], 0) + 1
    free, whole = sum(node["free_gpus"] for node in nodes), sum(node["gpus"] for node in nodes)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    out.print(f"nodes: {told}; {free:g} of {whole} GPU free")
