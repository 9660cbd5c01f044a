"""How does a simulation's result look in a terminal? Rows of text; a dash where nothing was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from quotatree.sim.metrics import ClusterMetrics, JobMetrics, Spread, TeamSafety
from quotatree.sim.result import SimResult

Rows = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]

# What the table of one run and the table that compares several show, one line or column each.
FIGURES: Final[tuple[tuple[str, Callable[[SimResult], str]], ...]] = (
    ("jobs done", lambda r: f"{r.metrics.overall.done} of {r.metrics.overall.jobs}"),
    ("wait mean", lambda r: _mean(r.metrics.overall.wait)),
    ("wait p50", lambda r: _part(r.metrics.overall.wait, "p50_s")),
    ("wait p95", lambda r: _part(r.metrics.overall.wait, "p95_s")),
    ("wait p99", lambda r: _part(r.metrics.overall.wait, "p99_s")),
    ("completion mean", lambda r: _mean(r.metrics.overall.completion)),
    ("high-priority start", lambda r: _mean(r.metrics.cluster.high_priority_start)),
    ("allocation", lambda r: _share(r.metrics.cluster.allocation)),
    ("while jobs wait", lambda r: _share(r.metrics.cluster.contended_allocation)),
    ("fragmentation", lambda r: _share(r.metrics.cluster.fragmentation)),
    ("evictions", lambda r: str(r.metrics.overall.evictions)),
    ("per start", lambda r: _number(r.metrics.overall.evictions_per_start, 3)),
    ("jobs evicted", lambda r: _share(r.metrics.overall.evicted_share)),
    ("lost GPU-h", lambda r: _number(r.metrics.overall.lost_gpu_hours, 1)),
    ("useful GPU-h", lambda r: _number(r.metrics.overall.useful_gpu_hours, 0)),
    ("fairness", lambda r: _number(r.metrics.cluster.fairness, 3)),
    ("teams safe", lambda r: _safe(r.metrics.cluster)),
    ("fruitless", lambda r: str(r.metrics.cluster.fruitless_evictions)),
)


def overall_rows(result: SimResult) -> Rows:
    return ("METRIC", "VALUE"), [(name, read(result)) for name, read in FIGURES]


def compared_rows(results: Sequence[SimResult]) -> Rows:
    """One line for each metric, one column for each run: names stay readable however many there are."""
    header = ("METRIC", *(result.name for result in results))
    rows = [("model", *(result.label for result in results))]
    rows += [(name, *(read(result) for result in results)) for name, read in FIGURES]
    return header, rows


def group_rows(title: str, groups: Sequence[tuple[str, JobMetrics]]) -> Rows:
    header = (title, "JOBS", "WAIT MEAN", "P95", "COMPLETION", "EVICTIONS", "LOST GPU-H", "USEFUL GPU-H")
    rows = [
        (
            name or "-",
            str(group.jobs),
            _mean(group.wait),
            _part(group.wait, "p95_s"),
            _mean(group.completion),
            str(group.evictions),
            _number(group.lost_gpu_hours, 1),
            _number(group.useful_gpu_hours, 0),
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
            _seconds(team.wait_mean_s),
            _seconds(team.private_wait_mean_s),
            "yes" if team.safe else "NO",
        )
        for team in teams
    ]
    return header, rows


def _mean(times: Spread | None) -> str:
    return _part(times, "mean_s")


def _part(times: Spread | None, name: str) -> str:
    return "-" if times is None else _seconds(getattr(times, name))


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.1f} %"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _safe(cluster: ClusterMetrics) -> str:
    return "-" if cluster.teams_compared is None else f"{cluster.teams_safe} of {cluster.teams_compared}"
