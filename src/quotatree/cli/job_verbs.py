"""What can be done to jobs by name: cancel, hold, release, restart, priority."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from quotatree.cli.output import EXIT_FAILED
from quotatree.cli.remote import Remote, bare, remote_options, status_of, text_of

if TYPE_CHECKING:
    from quotatree.client import Client


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@remote_options
def cancel(jobs: tuple[str, ...], remote: Remote) -> None:
    """End jobs. What runs gets notice and its grace period."""
    _each(remote, jobs, lambda client, job: client.jobs.cancel(job), "cancelled")


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@remote_options
def hold(jobs: tuple[str, ...], remote: Remote) -> None:
    """Take waiting jobs out of the queue until they are released."""
    _each(remote, jobs, lambda client, job: client.jobs.hold(job), "on hold")


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@remote_options
def release(jobs: tuple[str, ...], remote: Remote) -> None:
    """Put held jobs back into the queue, with the submit time they had."""
    _each(remote, jobs, lambda client, job: client.jobs.release(job), "released")


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@remote_options
def restart(jobs: tuple[str, ...], remote: Remote) -> None:
    """Start stopped jobs again."""
    _each(remote, jobs, lambda client, job: client.jobs.restart(job), "queued again")


@click.command()
@click.argument("job")
@click.argument("priority", type=click.IntRange(1, 9), metavar="PRIORITY")
@remote_options
def priority(job: str, priority: int, remote: Remote) -> None:
    """Give a waiting JOB another PRIORITY, 1 to 9 (W5)."""
    _each(
        remote, [job], lambda client, name: client.jobs.set_priority(name, priority), f"priority {priority}"
    )


def _each(remote: Remote, names: Sequence[str], do: Callable[[Client, str], object], done: str) -> None:
    """One that cannot be done does not keep the others from it; the first failure is the exit status."""
    from quotatree.client.errors import ApiError

    status = 0
    with remote.client() as client:
        for name in (bare(one, "job") for one in names):
            try:
                do(client, name)
                click.echo(f"{name} {done}")
            except ApiError as error:
                click.echo(f"quotatree: {name}: {text_of(error)}", err=True)
                status = status or status_of(error) or EXIT_FAILED
    if status:
        raise SystemExit(status)
