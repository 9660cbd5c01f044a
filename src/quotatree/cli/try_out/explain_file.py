"""`quotatree explain FILE JOB`: why does a job of a scenario wait, who took its place, who could?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from quotatree import core
from quotatree.cli.try_out.scenario_files import (
    EXIT_BAD_INPUT,
    bad_input_exits,
    echo_json,
    fail,
    played_scenario,
)
from quotatree.cli.words import holder_line, why
from quotatree.core import JobId, PriorityNames, name_of
from quotatree.scenario.amounts import ORIGIN_MS, moment_text
from quotatree.scenario.kinds import step_word
from quotatree.scenario.load import load_scenario
from quotatree.scenario.render import cost_text, gpu_seconds, reason_json, tried_json


def explain_file(file: Path, job: str, at_ms: int | None, output: str) -> None:
    """Play the file and explain the state of a job."""
    with bad_input_exits():
        scenario = load_scenario(file)
        player, _ = played_scenario(scenario, scenario.last_told_ms if at_ms is None else at_ms)
        if JobId(job) not in player.state.jobs:
            there = ", ".join(player.state.jobs) or "none"
            fail(f"{file}: no job {job} at {moment_text(player.now_ms)}; there are: {there}", EXIT_BAD_INPUT)
        told = core.explain(player.state, JobId(job), player.now_ms)
        runs = player.state.jobs[JobId(job)].running
        risks = core.exposure(player.state, JobId(job), player.now_ms) if runs else ()
    if output == "json":
        echo_json(_json(told, risks, player.now_ms, scenario.priority_names))
    else:
        _print(told, risks, player.now_ms, scenario.priority_names)


def _json(
    told: core.Explanation, risks: tuple[core.Exposure, ...], now_ms: int, names: PriorityNames
) -> dict[str, Any]:
    return {
        "schema": "quotatree.explain/1",
        "time_ms": now_ms - ORIGIN_MS,
        "job": told.job,
        "phase": _value(told.phase),
        "quota": told.quota,
        "position": told.position,
        "ahead": list(told.ahead),
        "reasons": [reason_json(reason) for reason in told.reasons],
        "holders": [_holder_json(holder, names) for holder in told.holders],
        "nodes": [
            {
                "pool": group.pool,
                "model": group.model,
                "state": group.state,
                "nodes": group.nodes,
                "free_gpus": group.free_gpus,
                "replicas_fit": group.replicas_fit,
            }
            for group in told.nodes
        ],
        "tried": tried_json(told.tried),
        "helps": [one.text for one in told.helps],
        "preempted_by": told.preempted_by,
        "lost_gpu_seconds": None if told.lost_work is None else gpu_seconds(told.lost_work),
        "next_try": told.next_try,
        "exposure": [{"quota": risk.quota, "rule": risk.rule, "who": risk.who} for risk in risks],
    }


def _print(
    told: core.Explanation, risks: tuple[core.Exposure, ...], now_ms: int, names: PriorityNames
) -> None:
    click.echo(f"{told.job} is {_value(told.phase)} in {told.quota} at {moment_text(now_ms)}")
    if told.position is not None:
        ahead = f", behind {', '.join(told.ahead)}" if told.ahead else ""
        click.echo(f"  position {told.position}{ahead}")
    _section("because", [why(reason_json(reason)) for reason in told.reasons])
    _section(
        "the capacity is held by",
        [holder_line(_holder_json(one, names), one.gpu_milli / 1000) for one in told.holders],
    )
    _section("the nodes", [_group_text(group) for group in told.nodes])
    _section("tried", [f"{step_word(tried.step)}: {tried.reason.text}" for tried in told.tried])
    _section("what would help", [one.text for one in told.helps])
    if told.preempted_by is not None:
        lost = "" if told.lost_work is None else f", losing {cost_text(told.lost_work)}"
        click.echo(f"  preempted by {told.preempted_by}{lost}")
    if told.next_try:
        click.echo(f"  next try: {told.next_try}")
    _section("could be taken by", [f"{risk.who} [{risk.rule}]" for risk in risks])


def _section(title: str, lines: list[str]) -> None:
    if lines:
        click.echo(f"  {title}:")
        for line in lines:
            click.echo(f"    - {line}")


def _group_text(group: core.NodeGroup) -> str:
    state = "" if group.state == "Ready" else f", {group.state}"
    fits = f"room for {group.replicas_fit} replica(s)" if group.replicas_fit else "no room"
    return f"{group.nodes} x {group.model} of pool {group.pool}{state}: {group.free_gpus} GPU free on each, {fits}"


def _holder_json(holder: core.Holder, names: PriorityNames) -> dict[str, Any]:
    return {
        "quota": holder.quota,
        "claim": holder.claim.value,
        "jobs": holder.jobs,
        "held": holder.held,
        "gpu_milli": holder.gpu_milli,
        "lowest_priority": holder.lowest_priority,
        "lowest_priority_name": name_of(holder.lowest_priority, names),
        "highest_priority": holder.highest_priority,
        "highest_priority_name": name_of(holder.highest_priority, names),
    }


def _value(phase: object) -> str:
    return str(getattr(phase, "value", phase))
