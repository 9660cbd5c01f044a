"""What is told in numbers? The facts of the runs, the summary with the best of each line, and the groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quotatree.sim.export import plain
from quotatree.sim.metrics import JobMetrics, Metrics, Spread
from quotatree.sim.report.markup import Html, head_cell, row_head, table, tag, text
from quotatree.sim.result import SimResult
from quotatree.sim.summary import MEASURES, NOTHING, Better, Measure, Unit, number_text

ARROWS: Final = {Better.LOWER: "↓", Better.HIGHER: "↑"}


def facts_table(results: Sequence[SimResult]) -> Html:
    """A table of facts about the runs: one wide cell where all agree, else one cell for each run."""
    facts = [
        {"title": one.title, "who decides": one.label, **dict(one.facts), "end": _ended(one)}
        for one in results
    ]
    names = list(dict.fromkeys(name for run in facts for name in run))
    rows = []
    for name in names:
        values = [run.get(name, NOTHING) for run in facts]
        if len(set(values)) == 1:
            cells = [tag("td", text(values[0]), colspan=str(len(results)))]
        else:
            cells = [tag("td", text(value), class_="differs") for value in values]
        rows.append(tag("tr", row_head(text(name)), *cells))
    return table([head_cell("run"), *(head_cell(one.name) for one in results)], rows, "facts")


def summary_table(results: Sequence[SimResult]) -> Html:
    """A table with a row for each measure and a column for each run. Changes are relative to the first run."""
    rows = []
    for measure in MEASURES:
        best = best_of(measure, results)
        first = measure.read(results[0])
        cells = [_value(measure, one, best, None if one is results[0] else first) for one in results]
        arrow = tag("span", text(ARROWS[measure.better]), title=measure.better.value, class_="arrow")
        says = tag("small", text(f"{measure.says} {measure.better.value.capitalize()}."))
        rows.append(tag("tr", row_head(text(measure.name + " "), arrow, says), *cells))
    header = [head_cell("metric"), *(head_cell(one.name, number=True) for one in results)]
    return table(header, rows, "summary")


def best_of(measure: Measure, results: Sequence[SimResult]) -> frozenset[str]:
    """The texts that mark a best value: one, or none if fewer than two different values are shown.

    Values are compared as they are shown, so that equal texts are equally good. Incomplete runs do not take part.
    """
    values = [value for one in results if one.complete and (value := measure.read(one)) is not None]
    told = {human(measure, value) for value in values}
    if len(told) < 2:
        return frozenset()
    best = min(values) if measure.better is Better.LOWER else max(values)
    return frozenset({human(measure, best)})


def group_table(heading: str, kind: str, results: Sequence[SimResult]) -> Html:
    """A table of the metrics of each team, module or priority, with a row for each run."""
    found = [dict(_groups(one.metrics, kind)) for one in results]
    names = sorted({name for run in found for name in run}, key=lambda name: (name.zfill(3), name))
    rows = []
    for name in names:
        mine = [(one, run[name]) for one, run in zip(results, found, strict=True) if name in run]
        for number, (result, group) in enumerate(mine):
            head = [row_head(text(name or NOTHING), rowspan=str(len(mine)))] if number == 0 else []
            rows.append(
                tag("tr", *head, *_group_cells(result, group), class_="first" if number == 0 else "more")
            )
    numbers = (
        "jobs",
        "done",
        "wait mean",
        "wait p95",
        "completion",
        "evictions",
        "lost GPU-h",
        "useful GPU-h",
    )
    return table(
        [head_cell(heading), head_cell("run"), *(head_cell(name, number=True) for name in numbers)],
        rows,
        "groups",
    )


def safety_table(results: Sequence[SimResult]) -> Html:
    quotas = dict.fromkeys(team.quota for one in results for team in one.metrics.safety)
    rows = []
    for quota in quotas:
        mine = [(one, team) for one in results for team in one.metrics.safety if team.quota == quota]
        for number, (result, team) in enumerate(mine):
            head = [row_head(text(quota), rowspan=str(len(mine)))] if number == 0 else []
            verdict = tag(
                "td", text("yes" if team.safe else "NO"), class_="words" if team.safe else "words unsafe"
            )
            cells = [
                _number(f"{team.quota_gpus:g}"),
                _number(number_text(team.jobs, 0)),
                _time(team.wait_mean_s),
                _time(team.private_wait_mean_s),
                verdict,
            ]
            name = tag("td", text(result.name), class_="words")
            rows.append(tag("tr", *head, name, *cells, class_="first" if number == 0 else "more"))
    header = [head_cell("quota"), head_cell("run")]
    header += [head_cell(name, number=True) for name in ("GPUs", "jobs", "wait here", "wait alone")]
    return table([*header, head_cell("safe")], rows, "groups")


def human(measure: Measure, value: float | None) -> str:
    if value is not None and measure.unit is Unit.SECONDS:
        return span_text(value)
    return measure.told_value(value)


def span_text(seconds: float) -> str:
    """A duration in seconds, minutes, hours or days, whichever reads best."""
    for unit_s, name, upto in ((1, "s", 90), (60, "min", 5400), (3600, "h", 172_800)):
        if seconds < upto:
            return f"{seconds / unit_s:.1f} {name}"
    return f"{seconds / 86_400:,.1f} d"


def _value(measure: Measure, result: SimResult, best: frozenset[str], first: float | None) -> Html:
    value = measure.read(result)
    if value is None:
        return _number(NOTHING)
    told = human(measure, value)
    is_best = result.complete and told in best
    whole = None if measure.of is None else measure.of(result)
    inside = [text(told if whole is None else f"{told} of {number_text(whole, 0)}")]
    if is_best:
        inside = [tag("strong", *inside), tag("span", text(" best"), class_="tag")]
    if first and whole is None and told != human(measure, first):
        inside.append(tag("small", text(_change(measure, value, first))))
    exact = plain(value)
    return tag("td", *inside, class_="number best" if is_best else "number", data_value=str(exact))


def _change(measure: Measure, value: float, first: float) -> str:
    """The change against `first`: in points for shares, otherwise in percent or as a factor."""
    if measure.unit is Unit.SHARE:
        told = f"{(value - first) * 100:+.1f} points"
    elif value >= 10 * first:
        told = f"{value / first:,.0f} times"
    else:
        digits = 1 if value < 0.1 * first or abs(value / first - 1) < 0.1 else 0
        told = f"{(value / first - 1) * 100:+.{digits}f} %"
    return told.replace("-", "−")


def _group_cells(result: SimResult, group: JobMetrics) -> list[Html]:
    return [
        tag("td", text(result.name), class_="words"),
        _number(number_text(group.jobs, 0)),
        _number(number_text(group.done, 0)),
        _time(_part(group.wait, "mean_s")),
        _time(_part(group.wait, "p95_s")),
        _time(_part(group.completion, "mean_s")),
        _number(number_text(group.evictions, 0)),
        _number(number_text(group.lost_gpu_hours, 1)),
        _number(number_text(group.useful_gpu_hours, 0)),
    ]


def _groups(metrics: Metrics, kind: str) -> tuple[tuple[str, JobMetrics], ...]:
    found: tuple[tuple[str, JobMetrics], ...] = getattr(metrics, kind)
    return found


def _part(times: Spread | None, name: str) -> float | None:
    return None if times is None else getattr(times, name)


def _number(told: str) -> Html:
    return tag("td", text(told), class_="number")


def _time(seconds: float | None) -> Html:
    if seconds is None:
        return _number(NOTHING)
    return tag("td", text(span_text(seconds)), class_="number", data_value=str(plain(seconds)))


def _ended(result: SimResult) -> str:
    days = span_text(result.metrics.cluster.hours * 3600)
    if result.complete:
        return f"complete, {days} from the first submit to the last end"
    return f"INCOMPLETE: cut off after {days} of the trace's time"
