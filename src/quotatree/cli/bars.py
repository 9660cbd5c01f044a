"""How full is each quota? The tree as lines with bars, plain text that a terminal may colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BAR_WIDTH: Final = 48
LEGEND: Final = (("█", "own jobs"), ("▓", "jobs below"), ("+", "loan"), ("x", "squeezed"), ("·", "free"))


@dataclass(frozen=True, slots=True)
class Line:
    """One quota: its branch of the drawing, its name, its bar and its figures."""

    label: str
    bar: str
    figures: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What is drawn of a quota, in thousandths of a GPU. Parents come before their children."""

    id: str
    parent: str | None
    desired: int
    actual: int
    used_own: int
    used_below: int
    loan: int = 0
    squeezed: int = 0
    shortfall: int = 0
    idle_borrowed: int = 0
    queued: int = 0


def tree_lines(quotas: Sequence[Figures], bar_width: int = BAR_WIDTH) -> list[Line]:
    """One line for each quota, children below their parents. A quota whose parent is not given is
    drawn as a root: users may not see what is above theirs.
    """
    known = {quota.id for quota in quotas}
    children: dict[str | None, list[Figures]] = {}
    for quota in quotas:
        children.setdefault(quota.parent if quota.parent in known else None, []).append(quota)
    lines = []
    for root in children.get(None, ()):
        widest = max(root.used_own + root.used_below, root.desired, 1)
        lines += [
            Line(branch + quota.id, _bar(quota, widest, bar_width), _figures(quota))
            for branch, quota in _branches(root, children, "", "")
        ]
    return lines


def _branches(
    quota: Figures, children: dict[str | None, list[Figures]], branch: str, below: str
) -> Iterator[tuple[str, Figures]]:
    yield branch, quota
    mine = children.get(quota.id, [])
    for child in mine:
        last = child is mine[-1]
        corner, wall = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield from _branches(child, children, below + corner, below + wall)


def _bar(quota: Figures, widest: int, bar_width: int) -> str:
    """The bar of a quota, to the scale of its root (`widest`). Borders are rounded, not lengths, so
    that the parts add up.
    """
    inside = max(0, quota.used_own + quota.used_below - quota.loan)
    borders = (
        ("▓", min(quota.used_below, inside)),
        ("█", inside),
        ("x", inside + min(quota.squeezed, max(0, quota.desired - inside))),
        ("·", max(quota.desired, inside)),
        ("+", max(quota.desired, inside) + quota.loan),
    )
    bar = ""
    for mark, border in borders:
        bar += mark * (round(border * bar_width / widest) - len(bar))
    return bar


def _figures(quota: Figures) -> str:
    parts = [f"{_gpus(quota.used_own + quota.used_below)} of {_gpus(quota.desired)}"]
    if quota.actual != quota.desired:
        parts.append(f"actual {_gpus(quota.actual)}")
    for name, amount in (
        ("own", quota.used_own if quota.used_below else 0),
        ("loan", quota.loan),
        ("squeezed", quota.squeezed),
        ("shortfall", quota.shortfall),
        ("idle borrowed", quota.idle_borrowed),
        ("queued", quota.queued),
    ):
        if amount:
            parts.append(f"{name} {_gpus(amount)}")
    return ", ".join(parts)


def _gpus(milli: int) -> str:
    return f"{milli / 1000:g}"
