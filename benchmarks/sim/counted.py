"""How long would jobs wait if only GPUs were counted? Strict FIFO, no nodes: a check on traces and quotas.

It shares no code with the simulator, so that a wrong start of a month or a wrong quota shows as a different mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import NamedTuple


class Counted(NamedTuple):
    """A job as a strict FIFO queue sees it."""

    submit_ms: int
    duration_ms: int
    gpus: int


def fifo_waits(jobs: Iterable[Counted], capacity: int) -> list[int]:
    """How long each job waits, in ms, in the order of the queue.

    No job starts before the one ahead of it. Raises ValueError for a job larger than `capacity`.
    """
    ends: list[tuple[int, int]] = []
    free, head_ms = capacity, 0
    waits = []
    for job in jobs:
        if job.gpus > capacity:
            raise ValueError(f"a job of {job.gpus} GPUs never fits {capacity}")
        start_ms = max(job.submit_ms, head_ms)
        while ends and (ends[0][0] <= start_ms or free < job.gpus):
            end_ms, gpus = heappop(ends)
            free += gpus
            start_ms = max(start_ms, end_ms)
        free -= job.gpus
        heappush(ends, (start_ms + job.duration_ms, job.gpus))
        head_ms = start_ms
        waits.append(start_ms - job.submit_ms)
    return waits
