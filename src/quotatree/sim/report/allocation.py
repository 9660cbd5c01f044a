"""Who had the cluster, when, and who still wanted some? GPUs in use over time, stacked by quota, one panel per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from quotatree.core import WHOLE_GPU
from quotatree.sim.report.style import FAINT, INK, LAYER_COLOURS, TimeScale, new_figure, shortened, time_scale
from quotatree.sim.result import SimResult
from quotatree.sim.timeline import Sample

POINTS_WANTED: Final = 200
"""More samples than this are averaged in groups: they could not be told apart, and the page stays small."""


class Layer(NamedTuple):
    name: str
    colour: str
    owners: frozenset[str]


def allocation(results: Sequence[SimResult]) -> Figure:
    scale = time_scale(results)
    layers = layers_of(results)
    count = len(results)
    figure = new_figure(0.9 + (3.1 if count < 4 else 2.4) * count)
    grid = figure.add_gridspec(2 * count, 1, height_ratios=[3.2, 1] * count)
    first_main: Axes | None = None
    first_strip: Axes | None = None
    for number, result in enumerate(results):
        main = figure.add_subplot(grid[2 * number], sharey=first_main)
        strip = figure.add_subplot(grid[2 * number + 1], sharey=first_strip)
        _panel(main, strip, result, layers, scale)
        scale.apply(main, labelled=False)
        scale.apply(strip, labelled=number == count - 1)
        first_main, first_strip = first_main or main, first_strip or strip
    for axes in figure.axes:
        axes.set_ylim(bottom=0)
    handles = [Patch(color=layer.colour, label=layer.name) for layer in layers]
    capacity = Line2D([], [], color=INK, linestyle="dashed", linewidth=1.2, label="capacity")
    waiting = Patch(color=FAINT, label="asked for by waiting jobs")
    figure.legend(
        handles=[*handles, capacity, waiting], loc="outside upper left", ncols=min(6, len(layers) + 2)
    )
    return figure


def layers_of(results: Sequence[SimResult]) -> list[Layer]:
    """The layers of the plot: quotas by GPU-time, largest first, with the same colours in all runs.

    Quotas that exceed the number of colours are merged into one last layer.
    """
    amounts: dict[str, int] = {}
    for result in results:
        quotas = _quotas_of_teams(result)
        for index, team in enumerate(result.timeline.teams):
            held = sum(one.by_team[index] for one in result.timeline.samples if index < len(one.by_team))
            amounts[quotas[team]] = amounts.get(quotas[team], 0) + held * result.timeline.step_ms
    names = sorted(amounts, key=lambda name: (-amounts[name], name))
    most = len(LAYER_COLOURS)
    single = names if len(names) <= most else names[: most - 1]
    layers = [
        Layer(shortened(name or "(no name)", 24), colour, frozenset({name}))
        for name, colour in zip(single, LAYER_COLOURS, strict=False)
    ]
    rest = names[len(single) :]
    if rest:
        layers.append(Layer(f"{len(rest)} others", LAYER_COLOURS[-1], frozenset(rest)))
    return layers


def _quotas_of_teams(result: SimResult) -> dict[str, str]:
    """The quota that each team of the timeline stands for, or the team's own name if its jobs go to several quotas."""
    quotas: dict[str, set[str]] = {team: set() for team in result.timeline.teams}
    for job in result.jobs:
        quotas.setdefault(job.team, set()).add(job.quota)
    return {team: next(iter(found)) if len(found) == 1 else team for team, found in quotas.items()}


def _panel(main: Axes, strip: Axes, result: SimResult, layers: Sequence[Layer], scale: TimeScale) -> None:
    groups = _grouped(result.timeline.samples)
    times = [scale.at(_mean([sample.time_ms for sample in group])) for group in groups]
    quotas = _quotas_of_teams(result)
    columns = [
        [i for i, team in enumerate(result.timeline.teams) if quotas[team] in layer.owners]
        for layer in layers
    ]
    heights = [
        [
            _gpus([sum(one.by_team[i] for i in mine if i < len(one.by_team)) for one in group])
            for group in groups
        ]
        for mine in columns
    ]
    if times and layers:
        main.stackplot(times, heights, colors=[layer.colour for layer in layers], linewidth=0)
    capacity = [_gpus([sample.capacity for sample in group]) for group in groups]
    main.step(times, capacity, where="post", color=INK, linestyle="dashed", linewidth=1.2)
    waiting = [_gpus([sample.waiting for sample in group]) for group in groups]
    strip.fill_between(times, waiting, color=FAINT, linewidth=0)
    main.set_title(f"{shortened(result.name, 40)}: {shortened(result.label, 50)}", fontweight="bold")
    main.set_ylabel("GPUs in use")
    strip.set_ylabel("waiting")
    strip.locator_params(axis="y", nbins=3)


def _grouped(samples: Sequence[Sample]) -> list[Sequence[Sample]]:
    each = -(-len(samples) // POINTS_WANTED) or 1
    return [samples[first : first + each] for first in range(0, len(samples), each)]


def _gpus(milli: Sequence[int]) -> float:
    return _mean(milli) / WHOLE_GPU


def _mean(values: Sequence[int]) -> int:
    return round(sum(values) / len(values))
