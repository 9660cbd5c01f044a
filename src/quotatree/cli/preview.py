"""`quotatree preview FILE JOB`: what would happen if … ? Changes nothing (X3)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click

from quotatree.cli.files import (
    EXIT_BAD_INPUT,
    at_option,
    bad_input_exits,
    echo_json,
    echo_table,
    fail,
    file_argument,
    output_option,
    played_scenario,
)
from quotatree.core import explain as core
from quotatree.core.events import Event, JobSubmitted, QuotaScaled, ScaleMode
from quotatree.core.quota import QuotaId
from quotatree.core.resources import Bounds
from quotatree.scenario.amounts import ORIGIN_MS, Unreadable, as_gpu_milli, moment_text
from quotatree.scenario.errors import ScenarioError
from quotatree.scenario.kinds import kind_of
from quotatree.scenario.load import load_scenario
from quotatree.scenario.load_jobs import read_jobs
from quotatree.scenario.render import decision_json, decision_text
from quotatree.scenario.run import Player
from quotatree.scenario.table import Table


@click.command()
@file_argument
@click.argument("job", required=False)
@click.option(
    "--submit", type=click.Path(path_type=Path), metavar="JOBFILE", help="Submit the job in this TOML file."
)
@click.option("--scale", metavar="QUOTA=GPUS[:MODE]", help="Scale a quota; MODE is refuse, lazy or reclaim.")
@at_option("Ask at this time; without it, at the last time the file mentions.")
@output_option
def preview(
    file: Path, job: str | None, submit: Path | None, scale: str | None, at_ms: int | None, output: str
) -> None:
    """Play FILE, then say what submitting JOB (a [[preview]] of the file) would decide; nothing is changed."""
    if job is None and submit is None and scale is None:
        fail("nothing to preview: name a JOB of [[preview]], or use --submit or --scale", EXIT_BAD_INPUT)
    with bad_input_exits():
        scenario = load_scenario(file)
        player, _ = played_scenario(scenario, scenario.last_told_ms if at_ms is None else at_ms)
        events: list[Event] = []
        if scale is not None:
            events.append(_scaling(player, scale))
        if job is not None:
            events.append(_declared(player, job))
        if submit is not None:
            events += _from_file(submit, player.now_ms)
        decisions = core.preview(player.state, events, player.now_ms)
    if output == "json":
        echo_json(
            {
                "schema": "quotatree.preview/1",
                "time_ms": player.now_ms - ORIGIN_MS,
                "decisions": [decision_json(decision, player.now_ms) for decision in decisions],
            }
        )
        return
    click.echo(f"at {moment_text(player.now_ms)} this would be decided; nothing has been changed:")
    if decisions:
        rows = [(kind_of(d), str(d.job), decision_text(d)) for d in decisions]
        echo_table(("DECISION", "JOB", "WHY"), rows)
    else:
        click.echo("nothing")


def _declared(player: Player, job: str) -> Event:
    previews = player.scenario.previews
    if job not in previews:
        there = ", ".join(previews) or "none"
        raise ScenarioError(player.scenario.name, f"[[preview]] declares no job {job}; it declares: {there}")
    return JobSubmitted(previews[job])


def _from_file(path: Path, now_ms: int) -> list[Event]:
    try:
        table = Table(str(path), tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise ScenarioError(str(path), f"cannot be read: {why}") from None
    return [JobSubmitted(job.spec) for job in read_jobs(table, table.names("id"), now_ms)]


def _scaling(player: Player, text: str) -> Event:
    """Quota1.1=56 or Quota1.1=56:lazy."""
    name, equals, rest = text.partition("=")
    amount, _, mode_name = rest.partition(":")
    quota = player.state.quotas.get(QuotaId(name))
    if not equals or quota is None:
        there = ", ".join(player.state.quotas)
        raise ScenarioError("--scale", f"{text!r}: must be QUOTA=GPUS[:MODE], with a quota of {there}")
    try:
        bounds = Bounds(as_gpu_milli(float(amount)))
        mode = ScaleMode(mode_name or ScaleMode.REFUSE.value)
    except (ValueError, Unreadable):
        raise ScenarioError(
            "--scale", f"{text!r}: must be QUOTA=GPUS[:MODE], such as {name}=56 or {name}=56:lazy"
        ) from None
    if quota.parent is None and len(quota.spec.draws) == 1:
        return QuotaScaled(name, draws=((quota.spec.draws[0][0], bounds),), mode=mode)
    return QuotaScaled(name, bounds, mode=mode)
