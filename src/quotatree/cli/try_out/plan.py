"""`quotatree plan FILE`: what is decided, when, why and at which cost?"""

from __future__ import annotations

from pathlib import Path

import click

from quotatree.cli.output import EXIT_BAD_INPUT, at_option, echo_json, echo_table, fail, output_option
from quotatree.cli.try_out.scenario_files import bad_input_exits, played
from quotatree.scenario.render import plan_json, plan_rows


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@at_option("Stop at this time; without it, play until nothing more is to come.")
@output_option
def plan(file: Path, at_ms: int | None, output: str) -> None:
    """Play FILE and print every decision with its reason and cost.

    FILE is a scenario; or, if it ends in .json, a snapshot of a server, from which the next round
    is planned.
    """
    if file.suffix == ".json":
        if at_ms is not None:
            fail("--at: a snapshot shows one time, at which it was made", EXIT_BAD_INPUT)
        _plan_snapshot(file, output)
        return
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


def _plan_snapshot(file: Path, output: str) -> None:
    """Print one round of decisions, as the server would plan them now."""
    from quotatree.codec.decoding import DecodeError
    from quotatree.codec.snapshot_file import read_snapshot
    from quotatree.core import plan as decide
    from quotatree.core import restore
    from quotatree.scenario.kinds import kind_of
    from quotatree.scenario.render import decision_json, decision_text

    try:
        with bad_input_exits():
            snapshot, at_ms = read_snapshot(file)
            decided = decide(restore(snapshot), at_ms).decisions
    except (OSError, UnicodeDecodeError, DecodeError) as error:
        fail(f"{file}: {error}", EXIT_BAD_INPUT)
    if output == "json":
        decisions = [decision_json(decision, at_ms, {}) for decision in decided]
        echo_json({"schema": "quotatree.plan/1", "title": file.name, "decisions": decisions, "refusals": []})
    elif decided:
        rows = [(kind_of(one), str(one.job), decision_text(one)) for one in decided]
        echo_table(("DECISION", "JOB", "WHY"), rows)
    else:
        click.echo("nothing to decide")
