"""How does a simulation's result look in a terminal? Rows of text; a dash where nothing was
measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from quotatree.sim.metrics import JobMetrics, Spread, TeamSafety
from quotatree.sim.result import SimResult
from quotatree.sim.summary import MEASURES, NOTHING, number_text, seconds_text

Rows = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]


def overall_rows(result: SimResult) -> Rows:
    return ("METRIC", "VALUE"), [(measure.name, measure.told(result)) for measure in MEASURES]


def compared_rows(results: Sequence[SimResult]) -> Rows:
    """Header and rows: a line for each metric and a column for each run, so that names of metrics
    stay readable.
    """
    header = ("METRIC", *(result.name for result in results))
    rows = [("model", *(result.label for result in results))]
    rows += [(measure.name, *map(measure.told, results)) for measure in MEASURES]
    return header, rows


def group_rows(title: str, groups: Sequence[tuple[str, JobMetrics]]) -> Rows:
    header = (title, "JOBS", "WAIT MEAN", "P95", "COMPLETION", "EVICTIONS", "LOST GPU-H", "USEFUL GPU-H")
    rows = [
        (
            name or NOTHING,
            str(group.jobs),
            _mean(group.wait),
            _p95(group.wait),
            _mean(group.completion),
            str(group.evictions),
            number_text(group.lost_gpu_hours, 1),
            number_text(group.useful_gpu_hours, 0),
        )
        for name, group in groups
    ]
    return header, rows


def safety_rows(teams: Sequence[TeamSafety]) -> Rows:
    header = ("QUOTA", "GPUS", "JOBS", "WAIT HERE", "WAIT ALONE", "SAFE")
    rows = [
        (
            team.quota,
            f"{team.quota_gpus:g}",
            str(team.jobs),
            seconds_text(team.wait_mean_s),
            seconds_text(team.private_wait_mean_s),
            "yes" if team.safe else "NO",
        )
        for team in teams
    ]
    return header, rows


def _mean(times: Spread | None) -> str:
    return NOTHING if times is None else seconds_text(times.mean_s)


def _p95(times: Spread | None) -> str:
    return NOTHING if times is None else seconds_text(times.p95_s)
