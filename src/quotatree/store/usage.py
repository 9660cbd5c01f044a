"""How much GPU time was used and lost in a stretch of time, by whom and by which right?

Everything is summed by the database. Closed stretches lie within one day, so those of a time are a range of one index; open
ones are as many as there are runs. Amounts are integers, in milli-GPU x milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    Text,
    and_,
    case,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    true,
)

from quotatree.store import tables as t

DAY_MS: Final = 86_400_000
KEYS: Final = ("quota", "workspace", "owner", "module", "claim", "taker_quota", "taker_workspace", "cause")
"""What sums may be by, in the order in which it stands in a row. Use has no taker and no cause, only what was lost has; a cause is empty
where none was recorded."""
FIGURES: Final = ("used", "lost", "runs", "preempted")


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which stretches and losses to sum: from `from_ms` on, before `before_ms`, those that are not over up to `now_ms`.

    `quotas`: of these; None: of any. `or_workspaces`: also whatever these workspaces have in other quotas.
    """

    from_ms: int
    before_ms: int
    now_ms: int
    quotas: tuple[str, ...] | None = None
    or_workspaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Sums under one combination of keys; `keys` are in the order of KEYS, None for a use that has no taker.

    `runs` began in the time. `lost` is work that preemption destroyed (P6), `preempted` how often that counted (P11).
    """

    keys: tuple[str | None, ...]
    used: int
    lost: int
    runs: int
    preempted: int


def usage(connection: Connection, asked: UsageFilter, by: Sequence[str]) -> list[UsageSum]:
    """Sums by these KEYS, in the order of their values; without keys, one sum, of what there is."""
    names = [key for key in KEYS if key in by]
    sums: dict[tuple[str | None, ...], list[int]] = {}
    for part in _parts(asked, names):
        for row in connection.execute(part):
            sum_ = sums.setdefault(tuple(row[: len(names)]), [0] * len(FIGURES))
            for i, figure in enumerate(row[len(names) : -1]):
                sum_[i] += int(figure)
    return [
        UsageSum(keys, *sums[keys]) for keys in sorted(sums, key=lambda keys: [key or "" for key in keys])
    ]


def _parts(asked: UsageFilter, names: Sequence[str]) -> list[Select[Any]]:
    """Sums of closed stretches, of open ones and of losses of the time, each with those of FIGURES that it has."""
    c, lost = t.USAGE.c, t.LOSSES.c
    since_ms, now_ms = _number(asked.from_ms), _number(asked.now_ms)
    before_ms, end_ms = _number(asked.before_ms), _number(min(asked.before_ms, asked.now_ms))
    start = case((c.from_ms < since_ms, since_ms), else_=c.from_ms)
    until = func.coalesce(c.until_ms, now_ms)
    end = case((until > end_ms, end_ms), else_=until)
    used = {
        "used": c.gpu_milli * (end - start),
        "runs": case((c.from_ms >= since_ms, c.begins), else_=_number(0)),
    }
    first_day_ms = _number(asked.from_ms // DAY_MS * DAY_MS)
    within = or_(c.until_ms > since_ms, c.from_ms >= since_ms)
    closed = and_(c.from_ms >= first_day_ms, c.from_ms < before_ms, c.until_ms.is_not(None), within)
    still = and_(c.until_ms.is_(None), c.from_ms < before_ms)
    of_the_time = and_(lost.at_ms >= since_ms, lost.at_ms < before_ms)
    losses: dict[str, ColumnElement[Any]] = {"lost": lost.lost_work, "preempted": lost.preempted}
    return [
        _part(t.USAGE, names, used).where(closed, _of(t.USAGE, asked)),
        _part(t.USAGE, names, used).where(still, _of(t.USAGE, asked)),
        _part(t.LOSSES, names, losses).where(of_the_time, _of(t.LOSSES, asked)),
    ]


def _part(table: Table, names: Sequence[str], figures: Mapping[str, ColumnElement[Any]]) -> Select[Any]:
    """A query for the sums of these figures by these keys; those that the table does not have are 0 and null."""
    keys = [table.c[name] if name in table.c else cast(null(), Text) for name in names]
    sums = [func.sum(figures[name]) if name in figures else _number(0) for name in FIGURES]
    query = select(*keys, *sums, func.count()).having(func.count() > 0)
    return query.group_by(*(key for key in keys if isinstance(key, Column)))


def _of(table: Table, asked: UsageFilter) -> ColumnElement[bool]:
    """Whether a row is of the quotas and workspaces that are asked for."""
    if asked.quotas is None:
        return true()
    return or_(table.c.quota.in_(asked.quotas), table.c.workspace.in_(asked.or_workspaces))


def _number(value: int) -> ColumnElement[int]:
    return literal(value, t.NUMBER)
