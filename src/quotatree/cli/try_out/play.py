"""`quotatree play`: a scenario in the terminal, told step by step; nothing really runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.text import Text

from quotatree.cli.terminal import console, print_legend, print_tree
from quotatree.cli.try_out.scenario_files import bad_input_exits
from quotatree.cli.try_out.state_figures import state_figures
from quotatree.cli.words import with_name
from quotatree.core import name_of
from quotatree.scenario.amounts import moment_text
from quotatree.scenario.kinds import kind_of, preemption_of
from quotatree.scenario.load import EXAMPLES, load_scenario
from quotatree.scenario.model import Scenario
from quotatree.scenario.render import cost_text, decision_text
from quotatree.scenario.run import Instant, Player

EXAMPLE: Final = EXAMPLES / "gpu-128.toml"
KIND_STYLES: Final = {"start": "green", "promote": "green", "hold": "cyan", "evict": "red", "wait": "yellow"}


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def play(file: Path | None) -> None:
    """Play FILE, or the 128-GPU example: what happens, who has to go and why, and the tree after
    each step.

    Nothing really runs: a scenario has a virtual clock. `quotatree demo` shows the same with
    processes.
    """
    with bad_input_exits():
        scenario = load_scenario(file or EXAMPLE)
        player = Player(scenario)
        out = console()
        _print_prologue(out, scenario)
        notes = _notes(scenario)
        for instant in player.instants():
            told = notes.get(instant.time_ms, [])
            if told or any(kind_of(decision) != "wait" for decision in instant.decisions):
                _print_instant(out, player, instant, told)
    out.print(Text("Nothing more is to come.", style="bold"))


def _print_prologue(out: Console, scenario: Scenario) -> None:
    out.print(Text(scenario.title, style="bold underline"))
    for line in scenario.story.strip().splitlines():
        out.print(Text(line))
    print_legend(out)
    out.print()


def _notes(scenario: Scenario) -> dict[int, list[str]]:
    """The file's notes by time in ms, each sentence once; times without notes are left out."""
    notes: dict[int, list[str]] = {}
    told = [(entry.time_ms, entry.note) for entry in scenario.timeline]
    told += [(expected.time_ms, expected.note) for expected in scenario.expectations]
    for time_ms, note in told:
        lines = notes.setdefault(time_ms, [])
        if note and note not in lines:
            lines.append(note)
    return {time_ms: lines for time_ms, lines in notes.items() if lines}


def _print_instant(out: Console, player: Player, instant: Instant, notes: list[str]) -> None:
    out.rule(Text(moment_text(instant.time_ms)), align="left")
    for note in notes:
        out.print(Text(note, style="italic"))
    for outcome in instant.outcomes:
        out.print(Text(f"  > {outcome.entry.label}" + (f": {outcome.refusal}" if outcome.refusal else "")))
    for decision in instant.decisions:
        kind = kind_of(decision)
        line = Text("  ").append(f"{kind:<8}", style=KIND_STYLES.get(kind, ""))
        out.print(line.append(f"{decision.job:<14} ").append(decision_text(decision)))
        entry = preemption_of(decision)
        if entry is not None and entry.victims:
            names = player.scenario.priority_names
            for victim in entry.victims:
                out.print(
                    Text(
                        f"            victim {victim.job} of {victim.quota}, priority {with_name(victim.priority, name_of(victim.priority, names))}: "
                        f"loses {cost_text(victim.lost_work)}, cost {cost_text(victim.cost)}",
                        style="red",
                    )
                )
    out.print()
    print_tree(out, state_figures(player.state), "the tree now")
    out.print()
