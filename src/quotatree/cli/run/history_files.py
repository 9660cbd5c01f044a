"""`quotatree snapshot` and `quotatree export`: the state, and the history, as files."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.safe_text import no_formula

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t

COLUMNS: Final = (
    "id", "submit_s", "duration_s", "gpus", "replicas", "cpu", "memory", "team", "user", "module", "priority",
    "models", "checkpoint_s", "workspace", "outcome", "first_started_s", "preempted",
)  # fmt: skip
"""The columns of docs/reference/traces.md, and a few that only people read."""


@click.command()
@click.option("-f", "--file", type=click.Path(path_type=Path), help="Write it there; without it, to stdout.")
@remote_options
def snapshot(file: Path | None, remote: Remote) -> None:
    """Write pools, nodes, quotas and active jobs as JSON, for `quotatree plan FILE.json`
    (operators).
    """
    with remote.client() as client:
        found = client.snapshot()
    text = json.dumps(found, indent=1) + "\n"
    if file is None:
        click.echo(text, nl=False)
        return
    with _private(file) as out:
        out.write(text)
    click.echo(f"{file}: {len(text):,} bytes", err=True)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--workspace", multiple=True, metavar="NAME", help="Only of this workspace; may be repeated.")
@click.option("--quota", multiple=True, metavar="NAME", help="Only of this quota; may be repeated.")
@remote_options
def export(file: Path, workspace: tuple[str, ...], quota: tuple[str, ...], remote: Remote) -> None:
    """Write the jobs that ran and are over to FILE (- is stdout), a CSV that the simulator reads as
    a plain trace.

    Times count from the first submission; `team` is the quota. What ran again from its start counts
    once, what went on from checkpoints with all its runs.
    """
    with remote.client() as client:
        ended = [
            job
            for job in client.jobs.list(
                workspace=workspace, quota=quota, phase=("Succeeded", "Failed", "Cancelled")
            )
            if job["started_ms"] is not None and job["ended_ms"] is not None
        ]
        if not ended:
            fail("no job that ran is over yet", EXIT_BAD_INPUT)
        ended.sort(key=lambda job: (job["submitted_ms"], job["id"]))
        rows = list(trace_rows(client, ended))
    if str(file) == "-":
        _write(sys.stdout, rows)
        return
    with _private(file) as out:
        _write(out, rows)
    several = sum(1 for job in ended if len(job["groups"]) > 1)
    more = f"; {several} with several kinds of replicas have those of the largest" if several else ""
    click.echo(f"{file}: {len(rows)} jobs{more}", err=True)


def trace_rows(client: Client, jobs: Sequence[t.JobOut]) -> Iterator[tuple[Any, ...]]:
    start_ms = jobs[0]["submitted_ms"]
    for job in jobs:
        group = max(job["groups"], key=lambda one: one["gpus"])
        interval = job["checkpoint_interval"]
        yield (
            job["id"], _seconds(job["submitted_ms"] - start_ms), _seconds(_worked_ms(client, job)), f"{group['gpus']:g}",
            job["replicas"], f"{group['cpu']:g}", group["memory"], job["quota"], job["owner"], job["module"],
            job["priority"], "|".join(group["models"]), "" if interval is None else _interval(interval),
            job["workspace"], job["phase"],
            "" if job["first_started_ms"] is None else _seconds(job["first_started_ms"] - start_ms), job["preempted"],
        )  # fmt: skip


def _worked_ms(client: Client, job: t.JobOut) -> int:
    if job["preempted"] and job["checkpoint_interval"] is not None:
        return sum(
            run["ended_ms"] - run["started_ms"]
            for run in client.jobs.runs(job["id"])
            if run["ended_ms"] is not None
        )
    return max(0, (job["ended_ms"] or 0) - (job["started_ms"] or 0))


def _interval(text: str) -> str:
    from quotatree.scenario.amounts import as_duration_ms

    return _seconds(as_duration_ms(text))


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.3f}".rstrip("0").rstrip(".")


def _write(out: TextIO, rows: Sequence[tuple[Any, ...]]) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([[no_formula(str(cell)) for cell in row] for row in rows])


def _private(path: Path) -> TextIO:
    """Open a file that only its owner may read, since it names people and jobs. A failure ends the
    command.
    """
    try:
        return os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8")
    except OSError as error:
        fail(f"{path}: {error.strerror}", EXIT_BAD_INPUT)
