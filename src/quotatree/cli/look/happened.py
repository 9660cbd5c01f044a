"""The nouns of what happened: events, and preemptions, which are the ledger's entries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from quotatree.cli.look.noun import Asked, Column, Noun, key
from quotatree.cli.output import echo_csv, echo_json_line
from quotatree.cli.table_layout import table_lines
from quotatree.cli.words import called, gpu_seconds, moment, with_name

if TYPE_CHECKING:
    from quotatree.client import Client

NONE: Final = "-"
EVENT_WIDTHS: Final = (6, 19, 18, 12, 12, 14)
"""Of the columns while events are watched: the first line is printed before the others are known.
"""


def _events(client: Client, asked: Asked) -> Iterable[Any]:
    return client.events.list(
        workspace=asked.workspace, job=asked.job, kind=asked.kind, after=asked.after or 0
    )


def _facts(body: Any) -> str:
    return " ".join(f"{name}={value}" for name, value in body.items() if not isinstance(value, dict | list))


EVENT: Final = Noun(
    "event", ("events",), key("seq"),
    (
        Column("SEQ", key("seq")),
        Column("TIME", lambda event: moment(event["at_ms"])),
        Column("KIND", key("kind")),
        Column("WORKSPACE", lambda event: event["workspace"] or NONE),
        Column("QUOTA", lambda event: event["quota"] or NONE),
        Column("JOB", lambda event: event["job"] or NONE),
        Column("WHAT", lambda event: _facts(event["body"])),
    ),
    _events, filters=("workspace", "job", "kind", "after"), events=("",), spare=("WORKSPACE", "QUOTA"),
)  # fmt: skip


def watch_events(client: Client, asked: Asked, output: str, *, headers: bool) -> None:
    """Print what happens from now on. A cut connection is made again, and nothing is missed."""
    wide = output == "wide"
    if output in ("table", "wide") and headers:
        click.echo(table_lines([EVENT.header(wide)], EVENT_WIDTHS)[0])
    for event in client.events.watch(
        workspace=asked.workspace, job=asked.job, kind=asked.kind, after=asked.after
    ):
        echo_event(event, output)


def echo_event(event: Any, output: str) -> None:
    if output in ("json", "yaml"):
        echo_json_line(event)
    elif output == "name":
        click.echo(f"event/{event['seq']}")
    elif output == "csv":
        echo_csv([], EVENT.csv_rows(event), headers=False)
    else:
        click.echo(table_lines(EVENT.rows(event, output == "wide"), EVENT_WIDTHS)[0])


class Loss(NamedTuple):
    """One victim of an entry of the ledger (P13). Without a preemptor, no job took its place."""

    entry: Any
    victim: Any

    @property
    def preemptor(self) -> str:
        return str(self.entry["preemption"]["preemptor"] or "")

    @property
    def step(self) -> str:
        return str(self.entry["preemption"]["step"] or "").lower()

    @property
    def job(self) -> str:
        return str(self.victim["job"])

    @property
    def rule(self) -> str:
        return str(self.victim["rule"] or "")

    def named(self, job: str) -> str:
        return called(job, self.entry["names"]) if job else NONE


def _losses(entry: Any) -> list[Loss]:
    return [Loss(entry, victim) for victim in entry["preemption"]["victims"]]


def _ledger(client: Client, asked: Asked) -> Iterable[Any]:
    return client.preemptions.list(quota=asked.quota, job=asked.job, from_ms=asked.since_ms, most=asked.most)


PREEMPTION: Final = Noun(
    "preemption", ("preemptions",), key("seq"),
    (
        Column("TIME", lambda loss: moment(loss.entry["at_ms"])),
        Column("PREEMPTOR", lambda loss: loss.named(loss.preemptor), for_csv=lambda loss: loss.preemptor),
        Column("STEP", lambda loss: loss.step or NONE, for_csv=lambda loss: loss.step),
        Column("VICTIM", lambda loss: loss.named(loss.job), for_csv=lambda loss: loss.job),
        Column("QUOTA", lambda loss: str(loss.victim["quota"])),
        Column(
            "PRIO", lambda loss: with_name(loss.victim["priority"], loss.victim["priority_name"]),
            for_csv=lambda loss: str(loss.victim["priority"]),
        ),
        Column("LOST", lambda loss: gpu_seconds(loss.victim["lost_gpu_seconds"])),
        Column("COST", lambda loss: gpu_seconds(loss.victim["cost_gpu_seconds"])),
        Column("WHAT", lambda loss: str(loss.victim["what"])),
        Column("RULE", lambda loss: loss.rule or NONE, for_csv=lambda loss: loss.rule),
        Column("PREEMPTOR_NAME", lambda loss: loss.entry["names"].get(loss.preemptor, ""), csv=True),
        Column("VICTIM_NAME", lambda loss: loss.entry["names"].get(loss.job, ""), csv=True),
        Column("HIGHEST", lambda loss: str(loss.entry["preemption"]["highest_priority"]), wide=True),
        Column("SEQ", lambda loss: str(loss.entry["seq"]), wide=True),
    ),
    _ledger, filters=("quota", "job", "since", "most"), spare=("PRIO", "STEP", "LOST", "QUOTA"),
    lines=_losses, none="no work was ended before its time",
)  # fmt: skip
