"""Which plots are there, and how does one become SVG? For the page, and for a file that a document shows.

write_plot("waits", results, Path("waits.svg"))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from quotatree.sim.report.allocation import allocation
from quotatree.sim.report.evictions import evictions
from quotatree.sim.report.preemptions import preemptions
from quotatree.sim.report.safety import safety
from quotatree.sim.report.style import styled
from quotatree.sim.report.waits import waits
from quotatree.sim.result import SimResult

NO_METADATA: Final = {"Date": None, "Creator": None, "Format": None, "Type": None}
"""Fields left out of an SVG, so that the same results give the same bytes."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot of the page. `draw` returns None when there is nothing to draw; then `absent` is shown instead."""

    name: str
    title: str
    says: str
    draw: Callable[[Sequence[SimResult]], Figure | None]
    absent: str = ""


PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        "allocation",
        "Allocation over time",
        "GPUs in use, stacked by quota, below the capacity of the cluster; under each, the GPUs that waiting jobs ask "
        "for. GPUs that are free while jobs wait are what a policy could still use.",
        allocation,
    ),
    Plot(
        "waits",
        "Waits",
        "The share of jobs that waited no longer than the time below: the further up and left, the better. Waits under a "
        "second stand at the left end.",
        waits,
    ),
    Plot(
        "evictions",
        "Evictions and lost work by priority",
        "How often jobs of each priority were told to stop, and the GPU-hours that had to be done again because of it, "
        "restarts included.",
        evictions,
        "No run evicted anything.",
    ),
    Plot(
        "safety",
        "Per-team safety",
        "Each team's mean wait in the shared cluster, beside the wait with its quota as a cluster of its own. A team whose "
        "mark is right of its ring would be better off alone.",
        safety,
        "No run was compared with private clusters: it was interrupted, or private_clusters is off.",
    ),
    Plot(
        "preemptions",
        "Timeline of preemptions",
        "What was told to stop, when, of which priority and by which right (the reason's code). A dot is an eviction; where "
        "there are very many, a bar is the GPUs taken in a span of time.",
        preemptions,
        "No run evicted anything.",
    ),
)


def svg(plot: Plot, results: Sequence[SimResult]) -> str | None:
    """The plot as an SVG document, the same bytes for the same results; None if there is nothing to draw."""
    with styled(f"quotatree-{plot.name}"):
        figure = plot.draw(results)
        if figure is None:
            return None
        file = StringIO()
        figure.savefig(file, format="svg", metadata=NO_METADATA)
    return _smaller(file.getvalue())


def write_plot(name: str, results: Sequence[SimResult], path: Path) -> bool:
    """Write the plot of PLOTS called `name` into a file. Returns False if there was nothing to draw."""
    plot = next(plot for plot in PLOTS if plot.name == name)
    text = svg(plot, results)
    if text is None:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def _smaller(text: str) -> str:
    """Shorten an SVG: coordinates to hundredths of a point, no ids on groups (they would repeat within a page)."""
    text = re.sub(r'<g id="[^"]*">', "<g>", text)
    return re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)
