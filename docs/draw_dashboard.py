"""Draws docs/pictures/dashboard.png: the dashboard in deploy/grafana, from what a real Prometheus answers to its queries.

It is not Grafana that draws. A story of some minutes runs on a server, a Prometheus scrapes that server, and each panel is drawn
where the dashboard puts it.

make dashboard
"""

from __future__ import annotations

import io
import math
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator, MultipleLocator
from PIL import Image

from quotatree.control import logs
from tests.prometheus import story
from tests.prometheus.binary import PROMETHEUS
from tests.prometheus.dashboard import Panel, panels
from tests.prometheus.scraping import Prometheus, scraping

PICTURE: Final = Path(__file__).parent / "pictures" / "dashboard.png"
MOST_BYTES: Final = 300 * 1024
STORY_SECONDS: Final = 180
COLUMNS: Final = 24
CELL: Final = (0.58, 0.235)  # inches
DPI: Final = 100
GAP: Final = 0.05
IN_LEGEND: Final = 6
COLOURS: Final = (
    "#3d71d9", "#e0792f", "#4f9d4d", "#8f5cc2", "#c94a53", "#3aa6a1", "#b8962e", "#7a7f87",
)  # fmt: skip
STATES: Final = {"green": "#37872d", "orange": "#d9731a", "red": "#c4162a", "": "#2c5fb3"}

Series = dict[str, np.ndarray]


def main() -> None:
    logs.configure(io.StringIO())
    with (
        tempfile.TemporaryDirectory() as server_files,
        tempfile.TemporaryDirectory() as scraped_files,
        story.busy_server(Path(server_files)) as serving,
        scraping(PROMETHEUS.path(), Path(scraped_files), serving.url, serving.token) as prometheus,
    ):
        start = time.time()
        story.play(serving, STORY_SECONDS)
        draw(prometheus, np.arange(start, time.time(), 1.0)).save(PICTURE, optimize=True)
    assert PICTURE.stat().st_size < MOST_BYTES, f"{PICTURE} is too large"


def draw(prometheus: Prometheus, times: np.ndarray) -> Image.Image:
    """The whole dashboard at these times, in so few colours that it is small."""
    mpl.rcParams.update({"font.size": 7, "axes.linewidth": 0.5, "axes.edgecolor": "#c7cbd1"})
    shown = panels()
    rows = max(panel.y + panel.height for panel in shown)
    figure = Figure(figsize=(COLUMNS * CELL[0], rows * CELL[1]), dpi=DPI, facecolor="#f1f3f5")
    for panel in shown:
        _place(figure, panel, rows, _series(prometheus, panel, times), times)
    file = io.BytesIO()
    figure.savefig(file)
    return Image.open(file).convert("RGB").quantize(128, dither=Image.Dither.NONE)


def _series(prometheus: Prometheus, panel: Panel, times: np.ndarray) -> Series:
    """Each series of the panel by what the legend calls it, with nan where it has no value."""
    found: Series = {}
    for query in panel.queries:
        for one in prometheus.over(query.expression, times[0], times[-1]):
            values = np.full(len(times), math.nan)
            for at, value in one["values"]:
                values[round(at - times[0])] = float(value)
            found[query.name(one["metric"])] = values
    return found


def _place(figure: Figure, panel: Panel, rows: int, series: Series, times: np.ndarray) -> None:
    wide, high = figure.get_size_inches()
    left, top = panel.x * CELL[0] + GAP, (rows - panel.y) * CELL[1] - GAP
    width, height = panel.width * CELL[0] - 2 * GAP, panel.height * CELL[1] - 2 * GAP

    def text(x: float, y: float, said: str, **style: Any) -> None:
        figure.text((left + x) / wide, (top - y) / high, said, va="top", **style)

    if panel.kind == "row":
        text(0.02, 0.0, panel.title, fontsize=9, weight="bold", color="#3b4048")
        return
    box = Rectangle(
        (left / wide, (top - height) / high), width / wide, height / high, transform=figure.transFigure,
        facecolor="white", edgecolor="#d8dbe0", linewidth=0.6, zorder=-1,
    )  # fmt: skip
    figure.add_artist(box)
    text(0.07, 0.06, panel.title, fontsize=7.5, weight="bold", color="#24292e")
    if panel.kind == "stat":
        value = next((values[~np.isnan(values)][-1] for values in series.values()), math.nan)
        colour = next((name for least, name in reversed(panel.steps) if value >= least), "")
        said = UNITS[panel.unit](value)
        text(width / 2, height * 0.38, said, fontsize=19, ha="center", weight="bold", color=STATES[colour])
        return
    names = [name for name in series if name][:IN_LEGEND]
    below = 0.2 + 0.13 * (1 if len(names) <= 3 else 2)
    inside = (left + 0.5) / wide, (top - height + below + 0.1) / high
    axes = figure.add_axes((*inside, (width - 0.6) / wide, (height - below - 0.38) / high))
    _plot(axes, panel, series, times - times[0])
    handles, labels = axes.get_legend_handles_labels()
    more = f" and {len(labels) - IN_LEGEND} more" if len(labels) > IN_LEGEND else ""
    figure.legend(
        handles[:IN_LEGEND], [*labels[: IN_LEGEND - 1], *(one + more for one in labels[IN_LEGEND - 1 : IN_LEGEND])],
        loc="lower left", bbox_to_anchor=((left + 0.02) / wide, (top - height) / high), ncols=min(3, len(names) or 1),
        fontsize=6.2, frameon=False, handlelength=1.2, columnspacing=1.0, handletextpad=0.4, labelspacing=0.2, borderpad=0.3,
    )  # fmt: skip


def _plot(axes: Axes, panel: Panel, series: Series, seconds: np.ndarray) -> None:
    axes.set_facecolor("white")
    if panel.stacked and series:
        filled = [np.nan_to_num(values) for values in series.values()]
        colours = [COLOURS[place % len(COLOURS)] for place in range(len(filled))]
        axes.stackplot(seconds, filled, labels=list(series), colors=colours, alpha=0.65, step="post", lw=0)
    else:
        _lines(axes, panel, series, seconds)
    axes.set_xlim(0, seconds[-1])
    axes.set_ylim(0, _top(series, panel.stacked) * 1.08)
    axes.grid(color="#e8eaed", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=6.2, colors="#5b626b", pad=2)
    axes.yaxis.set_major_locator(_ticks(panel.unit, axes.get_ylim()[1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: UNITS[panel.unit](value)))
    axes.xaxis.set_major_locator(MultipleLocator(30))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _clock(value) if value else ""))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _lines(axes: Axes, panel: Panel, series: Series, seconds: np.ndarray) -> None:
    """A line for each series; a dashed one has the colour of the series whose name it begins with."""
    colours: dict[str, str] = {}
    for name, values in series.items():
        dashed = bool(panel.dashed) and re.fullmatch(panel.dashed, name) is not None
        plain = name.rpartition(" ")[0] if dashed else name
        colour = colours.setdefault(plain, COLOURS[len(colours) % len(COLOURS)])
        axes.step(
            seconds, values, where="post", label=name, color=colour, lw=0.8 if dashed else 1.1, ls="--" if dashed else "-"
        )  # fmt: skip


def _top(series: Series, stacked: bool) -> float:
    """Largest value that is drawn; 1 if nothing is above 0."""
    values = np.nan_to_num(np.array([*series.values()] or [np.zeros(1)]))
    return float(values.sum(axis=0).max() if stacked else values.max()) or 1.0


def _ticks(unit: str, top: float) -> Locator:
    """About four lines, at values that are round in the unit."""
    if unit == "bytes":
        return MultipleLocator(2 ** round(math.log2(top / 4)))
    if unit == "s" and top > 60:
        return MultipleLocator(60 * max(0.5, round(top / 240 * 2) / 2))
    return MaxNLocator(4, steps=[1, 2, 5, 10], integer=unit in ("none", "short") and top > 2)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2g}" if value < 1 else f"{value:,.1f}"


def _seconds(value: float) -> str:
    if 0 < value < 1:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s" if value < 60 else f"{value / 60:.3g} min"


UNITS: Final[dict[str, Callable[[float], str]]] = {
    "none": _plain,
    "short": _plain,
    "s": _seconds,
    "percentunit": lambda value: f"{value:.0%}",
    "bytes": lambda value: f"{value / 2**40:.3g} TiB",
}


if __name__ == "__main__":
    main()
