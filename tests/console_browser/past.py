"""Two days of figures for the tree of the example, as if the server had looked at it once a minute, with two hours in which it did not."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from quotatree.store.samples import Amounts, Sample, Span, grouped, to_text

DAYS: Final = 2
GAP: Final = (20 * 60, 22 * 60)  # minutes before now
MIN: Final = {"Quota1": 128, "Quota1.1": 48, "Quota1.2": 80}


def remember(data: Path) -> None:
    """Write the minutes, and what the server makes of them, hours and days, into a server's SQLite file."""
    (file,) = data.glob("*.db")
    now_ms = Span.MINUTE.start_of(time.time_ns() // 1_000_000)
    with sqlite3.connect(file, timeout=30) as store:
        for quota in MIN:
            minutes = list(_minutes(quota, now_ms))
            for span in (Span.MINUTE, Span.HOUR, Span.DAY):
                rows = minutes if span is Span.MINUTE else list(grouped(minutes, span))
                store.executemany(
                    "INSERT OR REPLACE INTO quota_samples VALUES (?, ?, ?, ?)",
                    [(quota, int(span), at_ms, to_text(sample)) for at_ms, sample in rows],
                )
    store.close()


def _minutes(quota: str, now_ms: int) -> Iterator[tuple[int, Sample]]:
    for ago in range(DAYS * 24 * 60, 0, -1):
        if not GAP[0] <= ago < GAP[1]:
            yield now_ms - ago * Span.MINUTE, _minute(quota, ago)


def _minute(quota: str, ago: int) -> Sample:
    """Busy by day, quieter by night; the training team is squeezed for some hours, and queues while it is."""
    least = MIN[quota]
    busy = 0.72 + 0.28 * math.sin((ago / 60 - 8) * math.pi / 12)
    squeezed = 8 if quota == "Quota1.1" and 150 < ago < 420 else 0
    used = min(least, 8 * round(least * busy / 8)) - squeezed
    own = 16 if quota == "Quota1" and 150 < ago < 420 else 0 if quota == "Quota1" else used
    queued = 8 * (2 if squeezed else 1 if busy > 0.95 else 0)
    free = max(0, least - used - squeezed)
    figures = (least, used, own, 0, squeezed, 0, min(8, free), 0, queued, free)
    jobs = (own // 8, queued // 8, 60 * (420 - ago) if squeezed else 40 * (queued // 8))
    return Sample.of_minute(jobs, (Amounts.of_minute(*(1000 * one for one in figures)), None, None))
