"""`quotatree preview FILE [JOB]`: what would happen in a scenario if … ? Changes nothing (X3)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import click

from quotatree import core
from quotatree.cli.try_out.scenario_files import (
    EXIT_BAD_INPUT,
    bad_input_exits,
    echo_json,
    echo_table,
    fail,
    played_scenario,
)
from quotatree.core import Bounds, JobId, QuotaId, apply
from quotatree.core.events import Event, JobSubmitted, QuotaScaled, QuotaUpdated, ScaleMode
from quotatree.scenario.amounts import ORIGIN_MS, Unreadable, as_gpu_milli, as_text, moment_text
from quotatree.scenario.errors import ScenarioError
from quotatree.scenario.kinds import kind_of
from quotatree.scenario.load import load_scenario
from quotatree.scenario.load_jobs import read_jobs
from quotatree.scenario.load_quota import read_quota_changes
from quotatree.scenario.model import with_changes
from quotatree.scenario.priorities import with_numbers
from quotatree.scenario.render import decision_json, decision_text
from quotatree.scenario.run import Player
from quotatree.scenario.table import Table


def preview_file(
    file: Path,
    job: str | None,
    *,
    submit: Path | None,
    scale: str | None,
    policy: Path | None,
    at_ms: int | None,
    output: str,
) -> None:
    """Play the file, then print what would be decided."""
    if job is None and submit is None and scale is None and policy is None:
        fail(
            "nothing to preview: name a JOB of [[preview]], or use --submit, --scale or --policy",
            EXIT_BAD_INPUT,
        )
    with bad_input_exits():
        scenario = load_scenario(file)
        player, _ = played_scenario(scenario, scenario.last_told_ms if at_ms is None else at_ms)
        events: list[Event] = []
        if scale is not None:
            events.append(_scaling(player, scale))
        if policy is not None:
            events.append(_saving(player, policy))
        exposed = _newly_exposed(player, events) if policy is not None else []
        if job is not None:
            events.append(_declared(player, job))
        if submit is not None:
            events += _from_file(player, submit)
        decisions = core.preview(player.state, events, player.now_ms)
    if output == "json":
        echo_json(
            {
                "schema": "quotatree.preview/1",
                "time_ms": player.now_ms - ORIGIN_MS,
                "decisions": [
                    decision_json(decision, player.now_ms, scenario.priority_names) for decision in decisions
                ],
                "exposed": [
                    {"job": risk_job, "quota": risk.quota, "rule": risk.rule, "who": risk.who}
                    for risk_job, risk in exposed
                ],
            }
        )
        return
    click.echo(f"at {moment_text(player.now_ms)} this would be decided; nothing has been changed:")
    if decisions:
        rows = [(kind_of(d), str(d.job), decision_text(d)) for d in decisions]
        echo_table(("DECISION", "JOB", "WHY"), rows)
    else:
        click.echo("nothing")
    if policy is not None:
        _print_exposed(exposed)


def _declared(player: Player, job: str) -> Event:
    previews = player.scenario.previews
    if job not in previews:
        there = ", ".join(previews) or "none"
        raise ScenarioError(player.scenario.name, f"[[preview]] declares no job {job}; it declares: {there}")
    return JobSubmitted(previews[job])


def _from_file(player: Player, path: Path) -> list[Event]:
    table = _table(player, path)
    return [JobSubmitted(job.spec) for job in read_jobs(table, table.names("id"), player.now_ms)]


def _saving(player: Player, path: Path) -> Event:
    """Read a file with a quota and its changes, in the fields of an `update` step, as an event."""
    table = _table(player, path)
    name = table.need("quota", as_text)
    quota = player.state.quotas.get(QuotaId(name))
    if quota is None:
        raise table.fail("quota", name, f"no such quota; there are: {', '.join(player.state.quotas)}")
    changes = read_quota_changes(table)
    table.end()
    if not changes:
        raise ScenarioError(str(path), f"changes nothing about {name}: name self_level or child_level")
    return QuotaUpdated(with_changes(quota.spec, changes))


def _table(player: Player, path: Path) -> Table:
    """Read a file beside the scenario, in which the scenario's names of priorities may be used."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise ScenarioError(str(path), f"cannot be read: {why}") from None
    return Table(str(path), with_numbers(raw, player.scenario.priority_names, str(path)))


Risk = tuple[JobId, core.Exposure]


def _newly_exposed(player: Player, events: Sequence[Event]) -> list[Risk]:
    """Running work that could be taken after these events in a way in which it cannot be taken now
    (P2, X4).
    """
    before = _risks(player)
    player.state.begin()
    try:
        for event in events:
            apply(player.state, event, player.now_ms)
        after = _risks(player)
    finally:
        player.state.rollback()
    return [risk for risk in after if risk not in before]


def _risks(player: Player) -> list[Risk]:
    return [
        (job.id, risk)
        for job in player.state.jobs.values()
        if job.running
        for risk in core.exposure(player.state, job.id, player.now_ms)
    ]


def _print_exposed(exposed: list[Risk]) -> None:
    if not exposed:
        click.echo("no running work becomes exposed that is not exposed now")
        return
    click.echo("running work that becomes exposed:")
    echo_table(
        ("JOB", "COULD BE TAKEN BY"), [(str(job), f"{risk.who} [{risk.rule}]") for job, risk in exposed]
    )


def _scaling(player: Player, text: str) -> Event:
    """Read Quota1.1=56 or Quota1.1=56:lazy as an event; the mode is "refuse" if none is given."""
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
