"""Whose work was cut short, and what did it cost? Evictions and lost GPU-hours by priority, a bar for each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from quotatree.sim.metrics import JobMetrics
from quotatree.sim.report.style import INK, new_figure, run_colour, shortened
from quotatree.sim.result import SimResult


def evictions(results: Sequence[SimResult]) -> Figure | None:
    """The plot of evictions and lost work by priority; None if nothing was evicted or lost in any run."""
    groups = [{int(name): group for name, group in result.metrics.by_priority} for result in results]
    if not any(group.evictions or group.lost_gpu_hours for run in groups for group in run.values()):
        return None
    figure = new_figure(3.4)
    left, right = figure.subplots(1, 2)
    _bars(left, results, groups, lambda group: group.evictions)
    _bars(right, results, groups, lambda group: group.lost_gpu_hours)
    left.set_title("evictions", fontweight="bold")
    left.set_ylabel("evictions")
    left.yaxis.set_major_locator(MaxNLocator(integer=True))
    right.set_title("lost work", fontweight="bold")
    right.set_ylabel("lost GPU-hours")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=min(4, len(labels)))
    return figure


def _bars(
    axes: Axes,
    results: Sequence[SimResult],
    groups: Sequence[dict[int, JobMetrics]],
    read: Callable[[JobMetrics], float],
) -> None:
    priorities = sorted({priority for run in groups for priority in run})
    width = 0.8 / len(results)
    told_here = len(priorities) * len(results) <= 18
    for number, (result, run) in enumerate(zip(results, groups, strict=True)):
        places = [at + (number - (len(results) - 1) / 2) * width for at in range(len(priorities))]
        heights = [read(run[priority]) if priority in run else 0.0 for priority in priorities]
        axes.bar(places, heights, width * 0.92, color=run_colour(number), label=shortened(result.name, 40))
        for place, height in zip(places, heights, strict=True):
            if told_here and height:
                axes.annotate(
                    f"{height:,.3g}" if height < 10 else f"{height:,.0f}", (place, height), xytext=(0, 2), textcoords="offset points",
                    ha="center", fontsize=8, color=INK,
                )  # fmt: skip
    axes.set_xticks(range(len(priorities)), [str(priority) for priority in priorities])
    axes.set_xlabel("priority of the job that was evicted")
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)
