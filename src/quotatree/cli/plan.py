"""`quotatree plan FILE`: what is decided, when, why and at which cost?"""

from __future__ import annotations

from pathlib import Path

import click

from quotatree.cli.files import (
    at_option,
    bad_input_exits,
    echo_json,
    echo_table,
    file_argument,
    output_option,
    played,
)
from quotatree.scenario.render import plan_json, plan_rows


@click.command()
@file_argument
@at_option("Stop at this time; without it, play until nothing more is to come.")
@output_option
def plan(file: Path, at_ms: int | None, output: str) -> None:
    """Play FILE and print every decision with its reason and cost."""
    with bad_input_exits():
        player, instants = played(file, at_ms)
    if output == "json":
        echo_json(plan_json(player.scenario, instants))
        return
    rows = plan_rows(instants)
    if rows:
        echo_table(("TIME", "DECISION", "JOB", "WHY"), rows)
    else:
        click.echo("nothing to decide")
