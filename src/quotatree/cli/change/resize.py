"""`quotatree resize JOB`: more or fewer replicas, or as many as its demand asks for. Shows which
jobs would have to go, and asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.change.autoscale_option import AUTOSCALE_FORM, AUTOSCALE_OR_OFF, OFF
from quotatree.cli.change.changing import Manner, Step, Told, changes_option, make
from quotatree.cli.naming import job_id
from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.cli.remote import Remote, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t


@click.command()
@click.argument("job")
@click.option("--replicas", type=click.IntRange(1), metavar="N", help="How many replicas it wants.")
@click.option("--min-replicas", type=click.IntRange(1), metavar="N", help="How many of them it insists on.")
@click.option(
    "--max-replicas", type=click.IntRange(1), metavar="N", help="How many it can use while other jobs do not."
)
@click.option(
    "--autoscale",
    type=AUTOSCALE_OR_OFF,
    metavar=f"{AUTOSCALE_FORM}|off",
    help="Let a service's replicas follow its requests, or no more.",
)
@changes_option
@remote_options
def resize(
    job: str,
    replicas: int | None,
    min_replicas: int | None,
    max_replicas: int | None,
    autoscale: t.AutoscaleIn | str | None,
    manner: Manner,
    remote: Remote,
) -> None:
    """Give JOB more or fewer replicas (P12), or let them follow its demand (P16).

    What is not named stays. A service that follows its demand can be resized within its bounds, and
    goes on from there. If other jobs would have to go, it shows them and asks.
    """
    figures = {"replicas": replicas, "min_replicas": min_replicas, "max_replicas": max_replicas}
    sizes = {name: value for name, value in figures.items() if value is not None}
    if not sizes and autoscale is None:
        fail("--replicas, --min-replicas, --max-replicas or --autoscale is missing", EXIT_BAD_INPUT)

    def do() -> Told:
        done: list[t.Done] = []
        if autoscale == OFF:
            done.append(client.jobs.drop_autoscale(name))
        if sizes:
            done.append(client.jobs.resize(name, **sizes))
        if autoscale is not None and not isinstance(autoscale, str):
            done.append(client.jobs.set_autoscale(name, autoscale))
        return Told(notices=tuple(one["notice"] or "" for one in done if one.get("notice")))

    done = "resized" if sizes else "follows its demand no more" if autoscale == OFF else "follows its demand"
    with remote.client() as client:
        name = job_id(client, job)
        changes = _changes(client, name, sizes, autoscale)
        make(client, [Step("job", name, done, do, line=f"{name} {done}")], manner, changes, of=name)


def _changes(
    client: Client, job: str, sizes: dict[str, int], autoscale: t.AutoscaleIn | str | None
) -> list[Any]:
    """What is to be previewed. Following demand is a change of size only where replicas must be
    moved into its bounds.
    """
    resized = [{"change": "resize", "job": job, **sizes}] if sizes else []
    if autoscale is None:
        return [*resized]
    known = client.jobs.get(job)
    free = [] if known["autoscale"] is None else [{"change": "drop-autoscale", "job": job}]
    if isinstance(autoscale, str):
        return [*free, *resized]
    now = sizes.get("replicas", known["replicas"])
    wanted = max(autoscale["min"], min(autoscale["max"], now))
    moved = [] if wanted == now else [{"change": "resize", "job": job, "replicas": wanted}]
    return [*resized, *free, *moved] if moved else [*resized]
