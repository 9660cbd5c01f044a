"""`quotatree logs JOB`: what a job prints, as it printed it; with -f as it prints it, through all
its runs.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from quotatree.cli.naming import job_id
from quotatree.cli.remote import Remote, patiently, remote_options
from quotatree.cli.safe_text import LogOutput

if TYPE_CHECKING:
    from quotatree.client import Client

ENDED: Final = ("Succeeded", "Failed", "Cancelled", "Stopped")
APPEARS_SECONDS: Final = 20.0
"""How long a missing log is waited for: a job may be Running a moment before its engine has opened
the log.
"""


@click.command()
@click.argument("job")
@click.option("-f", "--follow", is_flag=True, help="Go on until the job is over.")
@click.option(
    "--replica", type=click.IntRange(0), default=0, metavar="N", help="Of this replica. Without it, 0."
)
@click.option("--run", type=click.IntRange(1), metavar="N", help="Of this run. Without it, the last one.")
@click.option("--tail", type=click.IntRange(0, 100_000), metavar="N", help="Begin with the last N lines.")
@remote_options
def logs(job: str, follow: bool, replica: int, run: int | None, tail: int | None, remote: Remote) -> None:
    """Print what JOB printed, output and errors together. A terminal gets no control sequences but
    colours.

    With -f, and without --run, a job that waits is waited for, and one that is preempted is
    followed into its next run.
    """
    with remote.client() as client:
        to = LogOutput(sys.stdout)
        output = _Output(client, job_id(client, job), replica, to)
        try:
            if not follow:
                output.copy(run, tail, follow=False)
            elif run is not None:
                output.copy(run, tail, follow=True)
            else:
                output.follow(tail)
        finally:
            to.end()


class _Output:
    def __init__(self, client: Client, job: str, replica: int, to: LogOutput) -> None:
        self._client, self._job, self._replica, self._to = client, job, replica, to

    def follow(self, tail: int | None) -> None:
        """Print run after run, until the job is over."""
        seen = 0
        while (run := self._run_after(seen)) is not None:
            if seen:
                click.echo(f"-- run {run} --", err=True)
            self._copy_soon(run, tail if seen == 0 else None)
            seen = run

    def copy(self, run: int | None, tail: int | None, *, follow: bool) -> None:
        pieces = self._client.jobs.logs(
            self._job, replica=self._replica, run=run, tail_lines=tail, follow=follow, gap=_told
        )
        for piece in pieces:
            self._to.write(piece)

    def _copy_soon(self, run: int, tail: int | None) -> None:
        from quotatree.client.errors import NotFound

        until = time.monotonic() + APPEARS_SECONDS
        while True:
            try:
                return self.copy(run, tail, follow=True)
            except NotFound:
                if time.monotonic() > until or self._client.jobs.get(self._job)["phase"] in ENDED:
                    raise
                time.sleep(0.2)

    def _run_after(self, seen: int) -> int | None:
        """Wait for a newer run, and return its number; None if the job is over."""
        found: list[int | None] = []

        def look() -> None:
            job = patiently(partial(self._client.jobs.get, self._job))
            if job["run"] > seen:
                found.append(job["run"])
            elif job["phase"] in ENDED:
                found.append(None)
            if found:
                raise _Found

        try:
            look()
            for _ in self._client.events.watch(job=self._job, opened=look):
                look()
        except _Found:
            pass
        return found[0]


class _Found(Exception):
    pass


def _told(lost_bytes: int) -> None:
    click.echo(f"-- {lost_bytes} bytes were thrown away before they could be read --", err=True)
