"""Figures of quotas over time: written minute by minute, put together into hours and days, forgotten by age.

Every write says what a span is, and none adds to what is there: written twice, by a server that was killed or by the one
that took over, it is the same row. A span is put together from finer ones that are all there still, or left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select

from quotatree.store import rows as r
from quotatree.store import tables as t
from quotatree.store.samples import FINER, Sample, Span, from_text, grouped
from quotatree.store.statements import upsert_all
from quotatree.store.write import sample_values

_T = t.QUOTA_SAMPLES


def put(connection: Connection, rows: Sequence[r.SampleRow]) -> None:
    """Write samples, over those that are there; one of a quota that has been deleted meanwhile is left out."""
    known = set(connection.execute(select(t.QUOTAS.c.id)).scalars())
    upsert_all(connection, _T, [sample_values(row) for row in rows if row.quota in known])


def between(
    connection: Connection, quota: str, span: Span, from_ms: int, before_ms: int
) -> list[tuple[int, Sample]]:
    """Return the stored samples of a quota that begin in this time, oldest first."""
    asked = select(_T.c.at_ms, _T.c.body).where(
        _T.c.quota == quota, _T.c.span_ms == int(span), _T.c.at_ms >= from_ms, _T.c.at_ms < before_ms
    )
    found = connection.execute(asked.order_by(_T.c.at_ms)).all()
    return [(at_ms, from_text(body)) for at_ms, body in found]


def series(
    connection: Connection, quota: str, span: Span, from_ms: int, before_ms: int
) -> list[tuple[int, Sample]]:
    """Return the samples of a quota, oldest first; what is not put together yet is put together from finer ones."""
    found = between(connection, quota, span, from_ms, before_ms)
    if span not in FINER:
        return found
    last_ms = _last(connection, quota, span)
    open_ms = from_ms if last_ms is None else max(from_ms, last_ms + span)
    finer = series(connection, quota, FINER[span], open_ms, before_ms)
    return [*found, *grouped(finer, span)]


def put_together(connection: Connection, quota: str, span: Span, now_ms: int) -> list[r.SampleRow]:
    """Return the hours, or days, of a quota that are over and to be stored: the last one there is, made anew, and later ones."""
    last_ms = _last(connection, quota, span)
    over_ms = span.start_of(now_ms)
    finer = between(connection, quota, FINER[span], 0 if last_ms is None else last_ms, over_ms)
    return [r.SampleRow(quota, span, at_ms, sample) for at_ms, sample in grouped(finer, span)]


def forget(connection: Connection, quota: str, span: Span, before_ms: int) -> int:
    """Delete samples of a quota that begin before this time; return how many."""
    old = (_T.c.quota == quota) & (_T.c.span_ms == int(span)) & (_T.c.at_ms < before_ms)
    return connection.execute(delete(_T).where(old)).rowcount


def _last(connection: Connection, quota: str, span: Span) -> int | None:
    asked = select(func.max(_T.c.at_ms)).where(_T.c.quota == quota, _T.c.span_ms == int(span))
    found: int | None = connection.execute(asked).scalar()
    return found
