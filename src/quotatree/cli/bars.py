"""How full is each quota? The tree as lines with bars, plain text that a terminal may colour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from quotatree.core.quota import Quota
from quotatree.core.report import QuotaReport, quota_report
from quotatree.core.resources import GPU, WHOLE_GPU
from quotatree.core.state import State

BAR_WIDTH: Final = 48
LEGEND: Final = (("█", "own jobs"), ("▓", "jobs below"), ("+", "loan"), ("x", "squeezed"), ("·", "free"))


@dataclass(frozen=True, slots=True)
class Line:
    """One quota: its branch of the drawing, its name, its bar and its figures."""

    label: str
    bar: str
    figures: str


def tree_lines(state: State) -> list[Line]:
    lines = []
    for root in state.roots:
        widest = max(root.used[GPU], root.min[GPU] or 0, 1)
        lines += [
            Line(
                branch + str(quota.id),
                _bar(quota_report(state, quota.id), widest),
                _figures(quota_report(state, quota.id)),
            )
            for branch, quota in _branches(root, "", "")
        ]
    return lines


def _branches(quota: Quota, branch: str, below: str) -> Iterator[tuple[str, Quota]]:
    yield branch, quota
    for child in quota.children:
        last = child is quota.children[-1]
        yield from _branches(child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))


def _bar(report: QuotaReport, widest: int) -> str:
    """Lengths are to the scale of the root, rounded at the borders so that the parts add up."""
    bound = report.desired.gpu_milli or 0
    own, below, loan = report.used_own[GPU], report.used_below[GPU], report.loan[GPU]
    inside = max(0, own + below - loan)
    borders = (
        ("▓", min(below, inside)),
        ("█", inside),
        ("x", inside + min(report.squeezed[GPU], max(0, bound - inside))),
        ("·", max(bound, inside)),
        ("+", max(bound, inside) + loan),
    )
    bar = ""
    for mark, border in borders:
        bar += mark * (round(border * BAR_WIDTH / widest) - len(bar))
    return bar


def _figures(report: QuotaReport) -> str:
    parts = [
        f"{_gpus(report.used_own[GPU] + report.used_below[GPU])} of {_gpus(report.desired.gpu_milli or 0)}"
    ]
    if report.actual.gpu_milli != report.desired.gpu_milli:
        parts.append(f"actual {_gpus(report.actual.gpu_milli or 0)}")
    for name, amount in (
        ("own", report.used_own[GPU] if report.used_below[GPU] else 0),
        ("loan", report.loan[GPU]),
        ("squeezed", report.squeezed[GPU]),
        ("shortfall", report.shortfall[GPU]),
        ("idle borrowed", report.idle_borrowed[GPU]),
        ("queued", report.queued[GPU]),
    ):
        if amount:
            parts.append(f"{name} {_gpus(amount)}")
    return ", ".join(parts)


def _gpus(milli: int) -> str:
    return f"{milli / WHOLE_GPU:g}"
