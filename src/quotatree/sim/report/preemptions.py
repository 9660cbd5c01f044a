"""When was what taken, and by which right? Evictions over time by the victim's priority, one panel per run.

A few hundred are dots, one each. Thousands would cover each other: they become bars, GPUs taken in each span of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from quotatree.core import WHOLE_GPU
from quotatree.sim.outcome import Taken
from quotatree.sim.report.style import FAINT, HOUR_MS, TimeScale, new_figure, shortened, time_scale
from quotatree.sim.result import SimResult

DOTS_AT_MOST: Final = 600
SPANS_AT_MOST: Final = 180
SPANS_MS: Final = tuple(hours * HOUR_MS for hours in (0.25, 0.5, 1, 2, 4, 6, 12, 24, 48, 168, 720))
STEPS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Sizes of dots, in GPUs: few distinct ones are easy to compare and keep the page small."""
SMALLEST_POINTS: Final = 14.0
EMPTY_IN: Final = 0.15
"""Height of the panel of a run without evictions, in inches."""
BASE: Final = -0.45
"""Where bars begin, relative to the middle of their row."""
LEAST: Final = 0.06
"""The least height of a bar as a share of its row, so that one GPU among thousands is still visible."""
# Not the colours of the runs: here a colour stands for a reason.
REASON_COLOURS: Final = (
    "#332288", "#CC6677", "#117733", "#DDCC77", "#AA4499", "#44AA99", "#882255", "#999933",
)  # fmt: skip
REASON_MARKS: Final = ("o", "s", "D", "^", "v", "P", "X", "h")
MOVED: Final = "moved"

Sums = dict[tuple[int, str], dict[int, float]]
"""For each priority and reason, the GPUs taken in each span of time, by the span's number."""


def preemptions(results: Sequence[SimResult]) -> Figure | None:
    """The timeline of evictions, one panel per run; None if nothing was evicted in any of them."""
    if not any(result.taken for result in results):
        return None
    scale = time_scale(results)
    reasons = sorted({reason_of(one) for result in results for one in result.taken})
    priorities = sorted({one.priority for result in results for one in result.taken})
    dense = any(len(result.taken) > DOTS_AT_MOST for result in results)
    each_in = 0.5 if dense else 0.36
    heights = [each_in * max(2, len(priorities)) if result.taken else EMPTY_IN for result in results]
    figure = new_figure(1.2 + 0.45 * len(results) + sum(heights))
    grid = figure.add_gridspec(len(results), 1, height_ratios=heights)
    panels = [figure.add_subplot(grid[number]) for number in range(len(results))]
    for axes, result in zip(panels, results, strict=True):
        _frame(axes, result, priorities, BASE if dense else 0.0)
        scale.apply(axes, labelled=axes is panels[-1])
    sizes: Sequence[Patch | Line2D]
    if dense:
        sizes = _all_bars(panels, results, reasons, priorities, scale)
    else:
        sizes = _all_dots(panels, results, reasons, priorities, scale)
    figure.legend(handles=[*_colours(reasons, dense), *sizes], loc="outside upper left", ncols=5)
    return figure


def reason_of(taken: Taken) -> str:
    return MOVED if taken.moved else taken.code.name


def size_step(gpus: float) -> int:
    """The smallest step of STEPS that is not below `gpus`; the largest for everything beyond."""
    return next((step for step in STEPS if gpus <= step), STEPS[-1])


def span_for(scale: TimeScale) -> float:
    """The length of a bar's time span, in ms: the shortest of SPANS_MS of which the axis has at most SPANS_AT_MOST."""
    whole = (scale.last - scale.first) * scale.unit_ms
    return next((span for span in SPANS_MS if whole <= span * SPANS_AT_MOST), whole / SPANS_AT_MOST)


def sums_of(taken: Sequence[Taken], span_ms: float) -> Sums:
    sums: Sums = {}
    for one in taken:
        row = sums.setdefault((one.priority, reason_of(one)), {})
        span = int(one.time_ms // span_ms)
        row[span] = row.get(span, 0.0) + one.gpu_milli / WHOLE_GPU
    return sums


def _frame(axes: Axes, result: SimResult, priorities: Sequence[int], base: float) -> None:
    axes.set_title(f"{shortened(result.name, 40)}: {_told(result.taken)}", fontweight="bold")
    if not result.taken:
        axes.set_yticks([])
        return
    axes.set_yticks(
        [row + base for row in range(len(priorities))], [str(priority) for priority in priorities]
    )
    axes.set_ylim(-0.6, len(priorities) - 0.4)
    axes.set_ylabel("victim's priority")


def _told(taken: Sequence[Taken]) -> str:
    if not taken:
        return "nothing taken"
    moved = sum(1 for one in taken if one.moved)
    gpus = sum(one.gpu_milli for one in taken) / WHOLE_GPU
    return f"{len(taken) - moved:,} taken{f', {moved:,} moved' if moved else ''}, {gpus:,.0f} GPUs in all"


def _all_dots(
    panels: Sequence[Axes],
    results: Sequence[SimResult],
    reasons: Sequence[str],
    priorities: Sequence[int],
    scale: TimeScale,
) -> list[Line2D]:
    """Draw a dot for each eviction and return the legend's sizes.

    Within the row of a priority each reason has its own line, so that none hides another.
    """
    for axes, result in zip(panels, results, strict=True):
        for number, reason in enumerate(reasons):
            shift = (number - (len(reasons) - 1) / 2) * min(0.2, 0.7 / len(reasons))
            for step in STEPS:
                mine = [one for one in result.taken if reason_of(one) == reason and _step(one) == step]
                if mine:
                    axes.scatter(
                        [scale.at(one.time_ms) for one in mine],
                        [priorities.index(one.priority) + shift for one in mine],
                        s=_points(step),
                        color=REASON_COLOURS[number % len(REASON_COLOURS)],
                        marker=REASON_MARKS[number % len(REASON_MARKS)],
                        alpha=0.55,
                        linewidths=0,
                    )
    steps = sorted({_step(one) for result in results for one in result.taken})
    shown = sorted({steps[0], steps[len(steps) // 2], steps[-1]})
    return [
        Line2D(
            [], [], linestyle="", color=FAINT, marker="o", markersize=_points(step) ** 0.5,
            label=f"{f'over {STEPS[-2]}' if step == STEPS[-1] else f'up to {step}'} GPU{'' if step == 1 else 's'}",
        )
        for step in shown
    ]  # fmt: skip


def _all_bars(
    panels: Sequence[Axes],
    results: Sequence[SimResult],
    reasons: Sequence[str],
    priorities: Sequence[int],
    scale: TimeScale,
) -> list[Patch]:
    """Draw the GPUs evicted in each span of time as bars and return the legend's scale.

    Within the row of a priority the bars of all reasons are stacked; all rows and runs share one scale.
    """
    span_ms = span_for(scale)
    runs = [sums_of(result.taken, span_ms) for result in results]
    peak = max(_tallest(sums, priority) for sums in runs for priority in priorities)
    count = int(scale.last * scale.unit_ms // span_ms) + 1
    edges = [number * span_ms / scale.unit_ms for number in range(count + 1)]
    for axes, sums in zip(panels, runs, strict=True):
        for row, priority in enumerate(priorities):
            floor = [row + BASE] * (count + 1)
            for number, reason in enumerate(reasons):
                found = sums.get((priority, reason), {})
                top = [
                    low + (max(found[span] / peak * 0.85, LEAST) if span in found else 0.0)
                    for span, low in enumerate(floor)
                ]
                if found:
                    colour = REASON_COLOURS[number % len(REASON_COLOURS)]
                    axes.fill_between(edges, floor, top, step="post", color=colour, linewidth=0)
                floor = top
    hours = span_ms / HOUR_MS
    told = f"{hours / 24:g} d" if hours >= 24 else f"{hours:g} h"
    return [Patch(color="none", label=f"highest bar: {peak:,.0f} GPUs in {told}")]


def _tallest(sums: Sums, priority: int) -> float:
    heights: dict[int, float] = {}
    for (mine, _), row in sums.items():
        if mine == priority:
            for span, gpus in row.items():
                heights[span] = heights.get(span, 0.0) + gpus
    return max(heights.values(), default=0.0)


def _colours(reasons: Sequence[str], dense: bool) -> list[Patch | Line2D]:
    found: list[Patch | Line2D] = []
    for number, reason in enumerate(reasons):
        colour = REASON_COLOURS[number % len(REASON_COLOURS)]
        mark = REASON_MARKS[number % len(REASON_MARKS)]
        if dense:
            found.append(Patch(color=colour, label=reason))
        else:
            found.append(Line2D([], [], linestyle="", color=colour, marker=mark, markersize=7, label=reason))
    return found


def _step(taken: Taken) -> int:
    return size_step(taken.gpu_milli / WHOLE_GPU)


def _points(step: int) -> float:
    """The area of a dot in square points. It grows by half per step, so that large dots leave others visible."""
    return SMALLEST_POINTS * 1.5 ** STEPS.index(step)
