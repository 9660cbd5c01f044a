"""`quotatree tree FILE`: what do the quotas of a scenario use?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from quotatree.cli.try_out.scenario_files import (
    bad_input_exits,
    echo_json,
    played_scenario,
)
from quotatree.cli.try_out.state_figures import state_figures
from quotatree.core import quota_report
from quotatree.scenario.amounts import ORIGIN_MS, moment_text
from quotatree.scenario.load import load_scenario
from quotatree.scenario.run import Player

UNITS: Final = ("gpu_milli", "cpu_milli", "memory_mib")


def tree_file(file: Path, at_ms: int | None, output: str) -> None:
    """Play the file and draw its quotas."""
    with bad_input_exits():
        scenario = load_scenario(file)
        player, _ = played_scenario(scenario, scenario.last_told_ms if at_ms is None else at_ms)
    if output == "json":
        echo_json(_json(player))
        return
    from quotatree.cli.terminal import console, print_legend, print_tree  # rich takes a while to import

    out = console()
    print_tree(out, state_figures(player.state), f"{scenario.title}, at {moment_text(player.now_ms)}")
    print_legend(out)


def _json(player: Player) -> dict[str, object]:
    quotas = []
    for quota in player.state.quotas.values():
        report = quota_report(player.state, quota.id)
        figures = {
            "desired": report.desired,
            "actual": report.actual,
            "used_own": report.used_own,
            "used_below": report.used_below,
            "loan": report.loan,
            "squeezed": report.squeezed,
            "shortfall": report.shortfall,
            "idle_lent": report.idle_lent,
            "idle_borrowed": report.idle_borrowed,
            "queued": report.queued,
            "free": report.free,
        }
        quotas.append(
            {
                "id": quota.id,
                "parent": quota.parent.id if quota.parent else None,
                "depth": report.depth,
                "queued_jobs": report.queued_jobs,
                **{name: dict(zip(UNITS, amount, strict=True)) for name, amount in figures.items()},
            }
        )
    return {"schema": "quotatree.tree/1", "time_ms": player.now_ms - ORIGIN_MS, "quotas": quotas}
