"""How much did a run occupy, and from when until when? Stretches of use, put together from its placements.

A migration made the first stretches so (0004), and books that do not fit are mended so. The loop itself writes them as things
change (`control/accounting`), and knows loans, which no placement tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

DAY_MS: Final = 86_400_000


class Place(NamedTuple):
    """So much was occupied from then on; `until_ms` None: it still is."""

    from_ms: int
    until_ms: int | None
    gpu_milli: int


def stretches(places: Sequence[Place], since_ms: int | None = None) -> Iterator[Place]:
    """Return the stretches in which a run occupied the same amount, oldest first, cut at midnight (UTC) where they are over.

    The last one is open if a placement is. `since_ms`: only from then on.
    """
    for from_ms, until_ms, gpu_milli in _constant(places):
        if since_ms is not None and until_ms is not None and until_ms <= since_ms:
            continue
        start_ms = from_ms if since_ms is None else max(from_ms, since_ms)
        for begin_ms, end_ms in _days(start_ms, until_ms):
            yield Place(begin_ms, end_ms, gpu_milli)


def _constant(places: Sequence[Place]) -> Iterator[Place]:
    moments = sorted(
        {place.from_ms for place in places}
        | {place.until_ms for place in places if place.until_ms is not None}
    )
    is_open = any(place.until_ms is None for place in places)
    ends: list[int | None] = [*moments[1:], None] if is_open else [*moments[1:]]
    if not ends:  # it began and ended in one millisecond
        yield Place(moments[0], moments[0], places[0].gpu_milli)
    for from_ms, until_ms in zip(moments, ends, strict=False):
        amount = sum(
            place.gpu_milli
            for place in places
            if place.from_ms <= from_ms and (place.until_ms is None or place.until_ms > from_ms)
        )
        yield Place(from_ms, until_ms, amount)


def _days(from_ms: int, until_ms: int | None) -> Iterator[tuple[int, int | None]]:
    if until_ms is None:
        yield from_ms, None
        return
    while (midnight := (from_ms // DAY_MS + 1) * DAY_MS) < until_ms:
        yield from_ms, midnight
        from_ms = midnight
    yield from_ms, until_ms
