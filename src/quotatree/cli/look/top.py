"""`quotatree top`: use, queues and nodes at a glance, again and again in a terminal, once in a
pipe; or over time.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from quotatree.cli.look.tree import figures
from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.safe_text import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from quotatree.client import Client


@click.command()
@click.option(
    "--every", type=click.FloatRange(0.2), default=2.0, show_default=True, help="Seconds between looks."
)
@click.option("--once", is_flag=True, help="Look once, also in a terminal.")
@click.option("--since", metavar="TIME", help="The last TIME, such as 6h or 30d, drawn as lines.")
@click.option(
    "--step",
    type=click.Choice(["minute", "hour", "day"]),
    help="With --since: one value for each; by itself, a fitting one.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="With --since: how to print it.",
)
@click.argument("quota", required=False)
@remote_options
def top(
    every: float,
    once: bool,
    since: str | None,
    step: str | None,
    output: str,
    quota: str | None,
    remote: Remote,
) -> None:
    """Show the tree with its use, the phases of jobs, and the nodes. Ctrl-C ends it.

    With --since, show the use of every quota over time, or with QUOTA all figures of that one (Q7).
    """
    if since is not None:
        _over_time(since, step, output, quota, remote)
        return
    if quota is not None or step is not None or output != "table":
        fail("QUOTA, --step and -o: only with --since, such as --since 6h", EXIT_BAD_INPUT)
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


def _over_time(since: str, step: str | None, output: str, quota: str | None, remote: Remote) -> None:
    from quotatree.cli.amounts_text import milliseconds
    from quotatree.cli.look.top_since import print_series

    until_ms = time.time_ns() // 1_000_000
    since_ms = max(0, until_ms - milliseconds(since))
    with remote.client() as client:
        names = [quota] if quota is not None else [one["id"] for one in client.quotas.list()]
        found = [
            client.quotas.series(name, since_ms=since_ms, until_ms=until_ms, step=step) for name in names
        ]
    print_series(found, output, one=quota is not None)


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
    out.print(
        _line("jobs: " + (", ".join(f"{count} {phase}" for phase, count in sorted(phases.items())) or "none"))
    )
    try:
        nodes = client.nodes.list()
    except (Forbidden, NotFound):  # not every user may see nodes
        return
    states: dict[str, int] = {}
    for node in nodes:
        states[node["state"]] = states.get(node["state"], 0) + 1
    free, whole = sum(node["free_gpus"] for node in nodes), sum(node["gpus"] for node in nodes)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    out.print(_line(f"nodes: {told}; {free:g} of {whole} GPU free"))


def _line(text: str) -> Text:
    """The text as one line, in which rich looks for no markup."""
    from rich.text import Text

    return Text(one_line(text))
