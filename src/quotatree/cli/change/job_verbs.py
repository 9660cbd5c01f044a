"""What can be done to jobs by name: cancel, hold, release, stop, start, restart, checkpoint,
priority, open.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import click

from quotatree.cli.change.changing import Manner, Step, changes_option, make
from quotatree.cli.naming import job_id
from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, echo_json, echo_lines, fail, output_option
from quotatree.cli.priority_option import PRIORITY
from quotatree.cli.remote import Remote, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t

CHECKPOINT_FILE: Final = "QUOTATREE_CHECKPOINT_FILE"
OVER: Final = ("Succeeded", "Failed", "Cancelled", "Stopped")
WAIT_SECONDS: Final = 0.3


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@changes_option
@remote_options
def cancel(jobs: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """End jobs for good, waiting or running: none can be started again. What runs gets notice and
    its grace period.
    """
    _each(remote, manner, jobs, lambda client, job: client.jobs.cancel(job), "cancelled", _cancel)


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@changes_option
@remote_options
def hold(jobs: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Keep waiting jobs out of the queue until you `release` them; running jobs are for `stop`."""
    _each(remote, manner, jobs, lambda client, job: client.jobs.hold(job), "on hold")


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@changes_option
@remote_options
def release(jobs: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Put held jobs back into the queue, with the submit time they had."""
    _each(remote, manner, jobs, lambda client, job: client.jobs.release(job), "released")


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@changes_option
@remote_options
def stop(jobs: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Stop running jobs and keep their directories; `start` queues them again. They get notice and
    their grace period.
    """
    _each(remote, manner, jobs, lambda client, job: client.jobs.stop(job), "stopping")


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@changes_option
@remote_options
def start(jobs: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Queue stopped jobs again."""
    _each(remote, manner, jobs, lambda client, job: client.jobs.start(job), "queued again")


@click.command()
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@changes_option
@remote_options
def restart(jobs: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Replace the replicas of running services one after another. A stopped job is queued again."""
    _each(remote, manner, jobs, lambda client, job: client.jobs.restart(job), "restarting")


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@changes_option
@remote_options
def checkpoint(jobs: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Report that a checkpoint was written: work before it is not lost when the job is evicted
    (P6).

    Inside a job, without JOB, it is reported for that job, and no server is needed.
    """
    if jobs:
        _each(remote, manner, jobs, lambda client, job: client.jobs.checkpoint(job), "checkpointed")
        return
    file = os.environ.get(CHECKPOINT_FILE)
    if not file:
        fail(
            f"say which JOB: this is not a job of the local engine ({CHECKPOINT_FILE} is not set)",
            EXIT_BAD_INPUT,
        )
    if manner.dry_run:
        click.echo(f"{file} would be touched; nothing has been changed")
        return
    try:
        Path(file).touch()
    except OSError as error:
        fail(f"{file}: {error.strerror}", EXIT_FAILED)


@click.command("open")
@click.argument("job")
@click.option("--wait", is_flag=True, help="Wait until it answers.")
@output_option
@remote_options
def open_job(job: str, wait: bool, output: str, remote: Remote) -> None:
    """Print where the notebook or service JOB answers, with its token if you may have it."""
    with remote.client() as client:
        name = job_id(client, job)
        found = client.jobs.endpoint(name)
        while wait:
            told = client.jobs.get(name)
            if found["address"] is not None and (told["module"] != "EAS" or found["ready"]):
                break
            if told["phase"] in OVER:
                fail(f"{name} is {told['phase']}", EXIT_FAILED)
            time.sleep(WAIT_SECONDS)
            found = client.jobs.endpoint(name)
        if output == "json":
            echo_json(found)
        elif found["address"] is None:
            fail(f"{name} has no address: {_why_none(client.jobs.get(name))}", EXIT_FAILED)
        else:
            echo_lines([address_of(found)])


def _why_none(job: t.JobOut) -> str:
    if job["module"] == "DLC":
        return "it is a training job (DLC); notebooks and services have one"
    if job["phase"] == "Running":
        return "it does not answer yet; --wait waits for it"
    return f"it is {job['phase']}" + (
        "; start it again with `quotatree start`" if job["phase"] == "Stopped" else ""
    )


def address_of(endpoint: t.EndpointOut) -> str:
    """The address as a browser wants it, with the token if there is one."""
    address, token = str(endpoint["address"]), endpoint["token"]
    if not token:
        return address
    return f"{address}{'&' if '?' in address else '?'}token={quote(token, safe='')}"


@click.command()
@click.argument("job")
@click.argument("priority", type=PRIORITY, metavar="PRIORITY")
@changes_option
@remote_options
def priority(job: str, priority: int | str, manner: Manner, remote: Remote) -> None:
    """Give a waiting JOB another PRIORITY, 1 to 9 or the name of one (W5, W6)."""
    _each(
        remote,
        manner,
        [job],
        lambda client, name: client.jobs.set_priority(name, priority),
        f"priority {priority}",
        lambda name: {"change": "priority", "job": name, "priority": priority},
    )


def _cancel(job: str) -> Any:
    return {"change": "cancel", "job": job}


def _each(
    remote: Remote,
    manner: Manner,
    names: Sequence[str],
    do: Callable[[Client, str], object],
    done: str,
    change: Callable[[str], Any] | None = None,
) -> None:
    """Do this to each job, also after a failure with another; the exit status is that of the first
    failure.

    `change`: what it is to the server's preview; None if the server previews no such change.
    """
    status, jobs = 0, []
    with remote.client() as client:
        for name in names:
            try:
                jobs.append(job_id(client, name))
            except SystemExit as ended:  # no job has this name, or several have; that is told already
                status = status or int(ended.code or EXIT_FAILED)
        steps = [
            Step(
                "job",
                job,
                done,
                partial(do, client, job),
                check=partial(client.jobs.get, job),
                line=f"{job} {done}",
            )
            for job in jobs
        ]
        changes = [] if change is None else [change(job) for job in jobs]
        make(client, steps, manner, changes, ask=False, go_on=True)
    if status:
        raise SystemExit(status)
