"""When was what taken, and by which right? Evictions over time by the victim's priority, one panel per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from quotatree.core.resources import WHOLE_GPU
from quotatree.sim.outcome import Taken
from quotatree.sim.report.style import FAINT, TimeScale, new_figure, shortened, time_scale
from quotatree.sim.result import SimResult

DOTS_WANTED: Final = 900
"""With more evictions than that in a run, those of one time span, priority and right are one dot."""
SPANS: Final = 512
EMPTY_IN: Final = 0.15
"""How high the panel of a run without evictions is."""
STEPS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Sizes of dots, in GPUs: few different ones, which a reader can compare and which keep the page small."""
SMALLEST_POINTS: Final = 14.0
# Not the colours of the runs: here a colour is a right.
REASON_COLOURS: Final = (
    "#332288", "#CC6677", "#117733", "#DDCC77", "#AA4499", "#44AA99", "#882255", "#999933",
)  # fmt: skip
REASON_MARKS: Final = ("o", "s", "D", "^", "v", "P", "X", "h")
MOVED: Final = "moved"


class Dot(NamedTuple):
    time: float
    priority: int
    reason: str
    gpus: float


def preemptions(results: Sequence[SimResult]) -> Figure | None:
    """None where nothing was taken."""
    if not any(result.taken for result in results):
        return None
    scale = time_scale(results)
    dots = [dots_of(result.taken, scale) for result in results]
    reasons = sorted({dot.reason for run in dots for dot in run})
    priorities = sorted({dot.priority for run in dots for dot in run})
    count = len(results)
    heights = [0.36 * max(2, len(priorities)) if run else EMPTY_IN for run in dots]
    figure = new_figure(1.2 + 0.45 * count + sum(heights))
    grid = figure.add_gridspec(count, 1, height_ratios=heights)
    for number, (result, run) in enumerate(zip(results, dots, strict=True)):
        axes = figure.add_subplot(grid[number])
        _panel(axes, result, run, reasons, priorities)
        scale.apply(axes, labelled=number == count - 1)
    figure.legend(handles=[*_colours(reasons), *_sizes(dots)], loc="outside upper left", ncols=5)
    return figure


def dots_of(taken: Sequence[Taken], scale: TimeScale) -> list[Dot]:
    """One for each eviction; of very many, one for each span of time, priority and reason, as short as it can be."""
    single = [
        Dot(
            scale.at(one.time_ms),
            one.priority,
            MOVED if one.moved else one.code.name,
            one.gpu_milli / WHOLE_GPU,
        )
        for one in taken
    ]
    spans, dots = SPANS, single
    while len(dots) > DOTS_WANTED and spans > 1:
        dots = _merged(single, (scale.last - scale.first) / spans)
        spans //= 2
    return dots


def size_step(gpus: float) -> int:
    """The nearest step that is not smaller; the largest one for all beyond."""
    return next((step for step in STEPS if gpus <= step), STEPS[-1])


def _merged(dots: Sequence[Dot], width: float) -> list[Dot]:
    sums: dict[tuple[int, int, str], float] = {}
    for dot in dots:
        key = (int(dot.time / width), dot.priority, dot.reason)
        sums[key] = sums.get(key, 0.0) + dot.gpus
    return [
        Dot((span + 0.5) * width, priority, reason, gpus)
        for (span, priority, reason), gpus in sorted(sums.items())
    ]


def _panel(
    axes: Axes, result: SimResult, dots: Sequence[Dot], reasons: Sequence[str], priorities: Sequence[int]
) -> None:
    """Each reason has its own line within the row of a priority, so that none hides another."""
    for number, reason in enumerate(reasons):
        shift = (number - (len(reasons) - 1) / 2) * min(0.2, 0.7 / len(reasons))
        for step in STEPS:
            mine = [dot for dot in dots if dot.reason == reason and size_step(dot.gpus) == step]
            if mine:
                axes.scatter(
                    [dot.time for dot in mine],
                    [priorities.index(dot.priority) + shift for dot in mine],
                    s=_points(step),
                    color=REASON_COLOURS[number % len(REASON_COLOURS)],
                    marker=REASON_MARKS[number % len(REASON_MARKS)],
                    alpha=0.55,
                    linewidths=0,
                )
    axes.set_title(f"{shortened(result.name, 40)}: {_told(result.taken)}", fontweight="bold")
    if not dots:
        axes.set_yticks([])
        return
    axes.set_yticks(range(len(priorities)), [str(priority) for priority in priorities])
    axes.set_ylim(-0.6, len(priorities) - 0.4)
    axes.set_ylabel("victim's priority")


def _told(taken: Sequence[Taken]) -> str:
    if not taken:
        return "nothing taken"
    moved = sum(1 for one in taken if one.moved)
    gpus = sum(one.gpu_milli for one in taken) / WHOLE_GPU
    return f"{len(taken) - moved:,} taken{f', {moved:,} moved' if moved else ''}, {gpus:,.0f} GPUs in all"


def _colours(reasons: Sequence[str]) -> list[Line2D]:
    return [
        Line2D(
            [], [], linestyle="", color=REASON_COLOURS[number % len(REASON_COLOURS)],
            marker=REASON_MARKS[number % len(REASON_MARKS)], markersize=7, label=reason,
        )
        for number, reason in enumerate(reasons)
    ]  # fmt: skip


def _sizes(dots: Sequence[Sequence[Dot]]) -> list[Line2D]:
    """The smallest, the largest and one between them."""
    steps = sorted({size_step(dot.gpus) for run in dots for dot in run})
    shown = sorted({steps[0], steps[len(steps) // 2], steps[-1]})
    return [
        Line2D(
            [], [], linestyle="", color=FAINT, marker="o", markersize=_points(step) ** 0.5,
            label=f"{'more than ' + str(STEPS[-2]) if step == STEPS[-1] else 'up to ' + str(step)} GPU{'' if step == 1 else 's'}",
        )
        for step in shown
    ]  # fmt: skip


def _points(step: int) -> float:
    """Area, in square points: a doubling of GPUs is seen, and the largest does not cover its neighbours."""
    return SMALLEST_POINTS * 1.5 ** STEPS.index(step)
