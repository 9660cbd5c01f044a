"""`quotatree top --since`: the use of quotas over time, as lines for people, and as figures for
programs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from quotatree.cli.output import echo_csv, echo_json, echo_lines
from quotatree.cli.safe_text import unguarded
from quotatree.cli.sparkline import marks_for, spark
from quotatree.cli.words import moment, span

if TYPE_CHECKING:
    from quotatree.client import types as t

PIPED_WIDTH: Final = 120
NARROWEST: Final = 10
WIDEST: Final = 96
FIGURES: Final = (
    "min", "used", "own", "loan", "squeezed", "reserved", "idle_lent", "idle_borrowed", "queued", "free",
)  # fmt: skip
JOB_FIGURES: Final = ("running_jobs", "waiting_jobs", "oldest_waiting_s")
ALWAYS: Final = ("used", "queued")
"""Figures that are drawn also if they were 0 all the time."""

Values = Sequence[float | None]


def print_series(found: Sequence[t.QuotaSeries], output: str, *, one: bool) -> None:
    """Print the figures of quotas over time; `one`: a single quota was asked for, so all its
    figures are drawn.
    """
    if output == "json":
        echo_json(found[0] if one else {"items": list(found)})
    elif output == "csv":
        echo_csv(["quota", "time", "resource", *FIGURES, *JOB_FIGURES], _csv_rows(found))
    else:
        echo_lines(_one_quota(found[0]) if one else _all_quotas(found))


def _csv_rows(found: Sequence[t.QuotaSeries]) -> list[list[str]]:
    """One row for each quota, time and resource; counts of jobs stand in the rows of GPUs. A gap
    has no row.
    """
    rows = []
    for series in found:
        for i, at_ms in enumerate(series["times"]):
            if series["running_jobs"][i] is None:
                continue
            for resource, figures in series["figures"].items():
                lists: dict[str, Any] = dict(figures)
                jobs = [_number(series[name][i]) if resource == "gpu" else "" for name in JOB_FIGURES]
                rows.append(
                    [
                        series["quota"],
                        _utc(at_ms),
                        resource,
                        *(_number(lists[name][i]) for name in FIGURES),
                        *jobs,
                    ]
                )
    return rows


def _all_quotas(found: Sequence[t.QuotaSeries]) -> list[str]:
    """One line for each quota: what it uses of its GPUs now, and how that was."""
    heads = [("QUOTA", "USED", "MIN")]
    for series in found:
        gpu = series["figures"]["gpu"]
        heads.append((series["quota"], _number(_last(gpu["used"])), _number(_last(gpu["min"]))))
    drawn = []
    for series in found:
        gpu = series["figures"]["gpu"]
        drawn.append((_floats(gpu["used"]), max(_highest(gpu["used"]), _highest(gpu["min"]))))
    return [*_lines(heads, drawn), _below(found[0])] if found else ["no quota found"]


def _one_quota(series: t.QuotaSeries) -> list[str]:
    """One line for each figure that was not 0 all the time: its last value, its mean and its
    highest, and how it was.
    """
    heads, drawn = [("FIGURE", "LAST", "MEAN", "HIGHEST")], []
    gpu: dict[str, Any] = dict(series["figures"]["gpu"])
    for name in FIGURES:
        values = _floats(gpu[name])
        if name in ALWAYS or _highest(values) > 0:
            heads.append((name.replace("_", " "), *_told(values, _number)))
            scale = max(_highest(values), _highest(gpu["min"]) if name in ("used", "own", "free") else 0)
            drawn.append((values, scale))
    for name, told in (("running_jobs", _number), ("waiting_jobs", _number), ("oldest_waiting_s", _seconds)):
        values = _floats(series[name])  # type: ignore[literal-required]  # names of its keys
        if _highest(values) > 0:
            heads.append((name.removesuffix("_s").replace("_", " "), *_told(values, told)))
            drawn.append((values, _highest(values)))
    return [f"{series['quota']}, GPUs", *_lines(heads, drawn), _below(series)]


def _lines(heads: Sequence[Sequence[str]], drawn: Sequence[tuple[Values, float]]) -> list[str]:
    """The first columns of a table, the first line its header, with a drawing after each but the
    header.
    """
    widths = [max(len(row[i]) for row in heads) for i in range(len(heads[0]))]
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    room = max(NARROWEST, min(WIDEST, screen - sum(widths) - 2 * len(widths) - 1))
    marks = marks_for(unguarded(sys.stdout).encoding)
    lines = []
    for row, what in zip(heads, [None, *drawn], strict=True):
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append(
            "  ".join([*cells, "" if what is None else spark(what[0], room, what[1], marks)]).rstrip()
        )
    return lines


def _below(series: t.QuotaSeries) -> str:
    """What the drawing is of, in words."""
    unknown = sum(value is None for value in series["running_jobs"])
    gaps = f"; nothing known of {unknown} of {len(series['times'])}" if unknown else ""
    return f"{moment(series['since'])} to {moment(series['until'])} UTC, by {series['step']}{gaps}"


def _told(values: Values, told: Callable[[float | None], str]) -> tuple[str, str, str]:
    known = [value for value in values if value is not None]
    mean = round(sum(known) / len(known), 2) if known else None
    return told(_last(values)), told(mean), told(max(known, default=None))


def _floats(values: Sequence[Any]) -> Values:
    return [value if isinstance(value, int | float) else None for value in values]


def _last(values: Sequence[Any]) -> float | None:
    return next((value for value in reversed(_floats(values)) if value is not None), None)


def _highest(values: Sequence[Any]) -> float:
    return max((value for value in _floats(values) if value is not None), default=0)


def _number(value: object) -> str:
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


def _seconds(value: float | None) -> str:
    return "" if value is None else span(value)


def _utc(at_ms: int) -> str:
    return moment(at_ms).replace(" ", "T") + "Z"
