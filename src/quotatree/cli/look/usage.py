"""`quotatree usage`: how many GPU-hours were used, and lost by preemption, by whom and by which
right?
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import click

from quotatree.cli.output import EXIT_BAD_INPUT, echo_csv, echo_json, echo_table, fail
from quotatree.cli.remote import Remote, bare, remote_options
from quotatree.cli.words import moment

KEYS: Final = ("quota", "workspace", "user", "module", "claim", "taker", "cause")
FIGURES: Final = ("gpu_hours", "lost_gpu_hours", "runs", "preempted")
HIDDEN: Final = "-"


@click.command()
@click.option(
    "--since", metavar="TIME", default="7d", show_default=True, help="From then on: 2026-11-01, 30d (ago)."
)
@click.option("--until", metavar="TIME", help="Before then; by itself, up to now.")
@click.option("--by", metavar="KEYS", default="quota", show_default=True, help=f"Some of {','.join(KEYS)}.")
@click.option("--quota", metavar="NAME", help="Only of this quota.")
@click.option("-b", "--below", is_flag=True, help="With --quota: also of the quotas below.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True,
    help="How to print it.",
)  # fmt: skip
@click.option("--no-headers", is_flag=True, help="Print no line with the names of the columns.")
@remote_options
def usage(
    since: str, until: str | None, by: str, quota: str | None, below: bool, output: str, no_headers: bool, remote: Remote
) -> None:  # fmt: skip
    """Account for GPU-hours: what replicas occupied, and what was destroyed, for other jobs or by
    whose wish (--by cause).

    A TIME is a date or time in UTC (2026-11-01, 2026-11-01T12:00), or a span before now (2h, 30d).
    """
    names = [name for name in by.split(",") if name]
    for name in names:
        if name not in KEYS:
            fail(f"--by {name}: must be some of {', '.join(KEYS)}, with commas", EXIT_BAD_INPUT)
    if below and quota is None:
        fail("--below: needs --quota; without, all quotas that you see are summed", EXIT_BAD_INPUT)
    since_ms = _time_ms("--since", since)
    until_ms = None if until is None else _time_ms("--until", until)
    with remote.client() as client:
        found = client.usage(
            since_ms=since_ms, until_ms=until_ms, by=names, quota=quota and bare(quota, "quota"), below=below
        )
    if output == "json":
        echo_json(found)
        return
    columns = [
        key for name in names for key in (("taker_quota", "taker_workspace") if name == "taker" else (name,))
    ]
    header = [*columns, *FIGURES]
    if output == "csv":
        rows = [[*_keys(row, columns, ""), *(repr(row[name]) for name in FIGURES)] for row in found["rows"]]
        echo_csv(header, rows, headers=not no_headers)
        return
    rows = [[*_keys(row, columns, HIDDEN), *_rounded(row)] for row in found["rows"]]
    if columns:
        rows.append([*(["TOTAL"] + [""] * (len(columns) - 1)), *_rounded(found["total"])])
    echo_table([title.upper().replace("_", "-") for title in header], rows, headers=not no_headers)
    span = f"{moment(found['since_ms'])} to {moment(found['until_ms'])} UTC"
    click.echo(f"GPU-hours from {span}", err=True)


def _keys(row: Mapping[str, Any], columns: Sequence[str], hidden: str) -> list[str]:
    return [hidden if row[name] is None else str(row[name]) for name in columns]


def _rounded(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['gpu_hours']:.2f}",
        f"{row['lost_gpu_hours']:.2f}",
        str(row["runs"]),
        str(row["preempted"]),
    ]


def _time_ms(option: str, text: str) -> int:
    """A time in milliseconds since the epoch, from a date, a time or a span before now. One that is
    neither ends the command.
    """
    from quotatree.scenario.amounts import Unreadable, as_duration_ms

    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        try:
            return max(0, time.time_ns() // 1_000_000 - as_duration_ms(text))
        except Unreadable:
            fail(f"{option} {text}: must be a date such as 2026-11-01, a time such as 2026-11-01T12:00, "
                 "or a span such as 30d", EXIT_BAD_INPUT)  # fmt: skip
    return max(0, round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000))
