"""Is a team better off here than alone? Its mean wait beside that in a cluster of its own, one panel per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from quotatree.sim.metrics import TeamSafety
from quotatree.sim.report.style import BAD, FAINT, GOOD, SHORTEST_S, new_figure, shortened, wait_axis
from quotatree.sim.result import SimResult

TEAMS_SHOWN: Final = 24
"""Only the teams that lose most are drawn; the table below the plot has all of them."""
IN_A_ROW: Final = 3


def safety(results: Sequence[SimResult]) -> Figure | None:
    """The plot of mean waits here and alone; None if no run was compared with private clusters."""
    compared = [result for result in results if result.metrics.safety]
    if not compared:
        return None
    quotas = quotas_shown(compared)
    columns = min(IN_A_ROW, len(compared))
    rows = -(-len(compared) // columns)
    figure = new_figure(0.8 + rows * (0.9 + 0.27 * len(quotas)))
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten().tolist()
    waits = [
        _seconds(wait_s)
        for run in compared
        for team in run.metrics.safety
        if team.quota in quotas
        for wait_s in (team.wait_mean_s, team.private_wait_mean_s)
    ]
    for axes, result in zip(panels, compared, strict=False):
        _panel(axes, result, quotas)
        wait_axis(axes, max(waits), min(waits), gap=0.07 * columns)
    for axes in panels[len(compared) :]:
        axes.set_visible(False)
    panels[0].set_yticks(range(len(quotas)), [shortened(quota, 22) for quota in quotas])
    panels[0].set_ylim(len(quotas) - 0.4, -0.6)
    figure.legend(
        handles=[
            Line2D([], [], color=FAINT, marker="o", markerfacecolor="white", linestyle="", label="alone"),
            Line2D([], [], color=GOOD, marker="o", linestyle="", label="here, safe"),
            Line2D(
                [],
                [],
                color=BAD,
                marker="X",
                markersize=8,
                linestyle="",
                label="here, waits longer than alone",
            ),
        ],
        loc="outside upper left",
        ncols=3,
    )
    return figure


def quotas_shown(results: Sequence[SimResult]) -> list[str]:
    """The quotas to draw, in the order of the file; of too many, those that lose most by sharing in any run."""
    worst: dict[str, float] = {}
    for result in results:
        for team in result.metrics.safety:
            ratio = _seconds(team.wait_mean_s) / _seconds(team.private_wait_mean_s)
            worst[team.quota] = max(worst.get(team.quota, 0.0), ratio)
    chosen = sorted(worst, key=lambda quota: (-worst[quota], quota))[:TEAMS_SHOWN]
    return [quota for quota in worst if quota in chosen]


def _panel(axes: Axes, result: SimResult, quotas: Sequence[str]) -> None:
    teams: dict[str, TeamSafety] = {team.quota: team for team in result.metrics.safety}
    for place, quota in enumerate(quotas):
        if quota not in teams:
            continue
        team = teams[quota]
        here, alone = _seconds(team.wait_mean_s), _seconds(team.private_wait_mean_s)
        colour, mark, size = (GOOD, "o", 7) if team.safe else (BAD, "X", 8.5)
        axes.plot([here, alone], [place, place], color=colour, linewidth=2, alpha=0.55, zorder=2)
        axes.plot([alone], [place], color=FAINT, marker="o", markerfacecolor="white", markersize=8, zorder=3)
        axes.plot([here], [place], color=colour, marker=mark, markersize=size, zorder=4, markeredgewidth=0)
    cluster = result.metrics.cluster
    axes.set_title(
        f"{shortened(result.name, 26)}: {cluster.teams_safe} of {cluster.teams_compared} safe",
        fontweight="bold",
    )
    axes.set_xlabel("mean wait, logarithmic")


def _seconds(wait_s: float) -> float:
    return max(wait_s, SHORTEST_S)
