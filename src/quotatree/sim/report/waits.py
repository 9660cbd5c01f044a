"""How long did jobs wait? The share of jobs that waited no longer than a time, all of them and the urgent ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from quotatree.sim.report.style import (
    FAINT,
    RUN_DASHES,
    SHORTEST_S,
    new_figure,
    run_colour,
    shortened,
    wait_axis,
)
from quotatree.sim.result import SimResult

POINTS_WANTED: Final = 400


def waits(results: Sequence[SimResult]) -> Figure:
    """Two plots of cumulative shares: `wait` of all jobs on the left, `high_priority_start` on the right."""
    all_jobs = [waits_of(result) for result in results]
    urgent = [urgent_starts_of(result) for result in results]
    figure = new_figure(3.9)
    left, right = figure.subplots(1, 2, sharey=True)
    _curves(left, results, all_jobs)
    _curves(right, results, urgent)
    levels = sorted({result.high_priority for result in results})
    left.set_title("all jobs that started: time waited in all", fontweight="bold")
    right.set_title(
        f"priority {' or '.join(map(str, levels))} and above: time to the first start", fontweight="bold"
    )
    left.set_ylabel("share of jobs")
    left.set_ylim(0, 1.02)
    left.yaxis.set_major_formatter(PercentFormatter(1.0))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=min(4, max(1, len(labels))))
    return figure


def waits_of(result: SimResult) -> list[float]:
    """Waits of all jobs that started, in seconds, sorted."""
    return sorted(job.waited_ms / 1000 for job in result.jobs if job.first_start_ms is not None)


def urgent_starts_of(result: SimResult) -> list[float]:
    return sorted(
        (job.first_start_ms - job.submit_ms) / 1000
        for job in result.jobs
        if job.priority >= result.high_priority and job.first_start_ms is not None
    )


def cumulative(ordered: Sequence[float]) -> tuple[list[float], list[float]]:
    """Times in seconds, at most POINTS_WANTED of them, and the share of values up to each."""
    times = sorted({max(value, SHORTEST_S) for value in ordered})
    if len(times) > POINTS_WANTED:
        ratio = times[-1] / SHORTEST_S
        times = [SHORTEST_S * ratio ** (i / (POINTS_WANTED - 1)) for i in range(POINTS_WANTED - 1)] + times[
            -1:
        ]
    return times, [bisect_right(ordered, time) / len(ordered) for time in times]


def _curves(axes: Axes, results: Sequence[SimResult], found: Sequence[Sequence[float]]) -> None:
    longest = max((values[-1] for values in found if values), default=SHORTEST_S)
    wait_axis(axes, longest)
    axes.set_xlabel("time, logarithmic")
    end = axes.get_xlim()[1]
    for number, (result, values) in enumerate(zip(results, found, strict=True)):
        times, shares = cumulative(values) if values else ([], [])
        axes.step(
            [*times[:1], *times, end] if times else [],
            [0, *shares, 1] if times else [],
            where="post",
            color=run_colour(number),
            linestyle=RUN_DASHES[number % len(RUN_DASHES)],
            linewidth=1.8,
            label=shortened(result.name, 40),
        )
    if not any(found):
        axes.text(0.5, 0.5, "no such job started", transform=axes.transAxes, ha="center", color=FAINT)
