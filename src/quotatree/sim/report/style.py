"""What do all plots have in common? Size, fonts, colours that colour-blind people can tell apart, axes of time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import log
from typing import Any, Final, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from quotatree.sim.result import SimResult

WIDTH_IN: Final = 9.6
INK: Final = "#222222"
FAINT: Final = "#777777"
GOOD: Final = "#0072B2"
BAD: Final = "#D55E00"

# Okabe and Ito; a run keeps its colour in every plot.
RUN_COLOURS: Final = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)  # fmt: skip
RUN_DASHES: Final = ("solid", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))
# Tol's "muted"; the last one, grey, is for all others.
LAYER_COLOURS: Final = (
    "#332288", "#88CCEE", "#44AA99", "#DDCC77", "#CC6677", "#117733", "#AA4499", "#999933", "#882255", "#BBBBBB",
)  # fmt: skip

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
SHORTEST_S: Final = 1.0
"""Shorter waits are drawn at the left end of a logarithmic axis, which has no place for 0."""
WAIT_TICKS: Final = (
    (1.0, "≤ 1 s"), (10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"), (21_600.0, "6 h"),
    (86_400.0, "1 d"), (604_800.0, "7 d"), (2_592_000.0, "30 d"), (31_536_000.0, "1 y"),
)  # fmt: skip

_PARAMETERS: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.facecolor": "white",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same widths everywhere
    "font.size": 10,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small, sharp, and can be searched
    "text.color": INK,
    "text.parse_math": False,  # a $ in a team's name is a $
    "xtick.color": INK,
    "xtick.labelsize": 9.5,
    "ytick.color": INK,
    "ytick.labelsize": 9.5,
}


@contextmanager
def styled(salt: str) -> Iterator[None]:
    """Context in which plots are drawn: our style whatever the user's matplotlibrc says, ids derived from `salt`."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Texts are measured with a font that may lack a letter; the browser draws them with one that has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        mpl.rcParams.update({**_PARAMETERS, "svg.hashsalt": salt})
        yield


def new_figure(height_in: float) -> Figure:
    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


class TimeScale(NamedTuple):
    """One axis of time for all runs, in hours or days since the start of the trace."""

    unit_ms: int
    label: str
    first: float
    last: float

    def at(self, time_ms: int) -> float:
        return time_ms / self.unit_ms

    def apply(self, axes: Axes, labelled: bool) -> None:
        axes.set_xlim(self.first, self.last)
        axes.xaxis.set_major_locator(MaxNLocator(10, steps=[1, 2, 2.5, 5, 10], integer=self.last > 10))
        if labelled:
            axes.set_xlabel(self.label)
        else:
            axes.tick_params(labelbottom=False)


def time_scale(results: Sequence[SimResult]) -> TimeScale:
    first_ms = min(result.timeline.from_ms for result in results)
    last_ms = max(result.timeline.until_ms for result in results)
    days = last_ms - first_ms > 3 * DAY_MS
    unit_ms, word = (DAY_MS, "days") if days else (HOUR_MS, "hours")
    last_ms = max(last_ms, first_ms + 60_000)  # a run that was stopped at once still has an axis
    return TimeScale(unit_ms, f"{word} since the start of the trace", first_ms // unit_ms, last_ms / unit_ms)


def wait_axis(axes: Axes, longest_s: float, shortest_s: float = SHORTEST_S, gap: float = 0.1) -> None:
    """Make the x axis logarithmic, for waits. Ticks are at least `gap` apart, as a share of the axis."""
    last = max(longest_s, 10 * shortest_s)
    margin = (last / shortest_s) ** 0.04
    first, last = shortest_s / margin, last * margin
    axes.set_xscale("log")
    axes.set_xlim(first, last)
    ticks: list[tuple[float, str]] = []
    for seconds, text in WAIT_TICKS:
        far = not ticks or log(seconds / ticks[-1][0]) >= gap * log(last / first)
        if first <= seconds <= last and far:
            ticks.append((seconds, text))
    axes.xaxis.set_major_locator(FixedLocator([seconds for seconds, _ in ticks]))
    axes.xaxis.set_major_formatter(FixedFormatter([text for _, text in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())


def run_colour(number: int) -> str:
    return RUN_COLOURS[number % len(RUN_COLOURS)]


def shortened(text: str, length: int) -> str:
    """The text cut to `length` characters. A leading underscore gets a blank before it: legends hide such names."""
    text = " ".join(text.split())
    text = text if len(text) <= length else text[: length - 1].rstrip() + "…"
    return f" {text}" if text.startswith("_") else text
