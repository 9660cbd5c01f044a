"""What must happen at a time although nobody says anything: longest run and wait (W3), a grace that is over, and a look
at the demand of a service that follows it (P16).

A heap of times. An entry is a reason to look, nothing more: whether it still holds is found out when its time comes, so
nothing need be taken out when a job ends or a batch is taken back.
"""

from __future__ import annotations

import heapq
from enum import Enum
from typing import NamedTuple

from quotatree.core import JobId


class DeadlineKind(Enum):
    LONGEST_RUN = "longest run"
    LONGEST_WAIT = "longest wait"
    GRACE = "grace"
    DEMAND = "demand"


class Deadline(NamedTuple):
    """A time to look at a job. `since_ms` is when the run, wait or stop began that is meant, not a later one."""

    at_ms: int
    job: JobId
    kind: DeadlineKind
    since_ms: int


class Deadlines:
    def __init__(self) -> None:
        self._heap: list[tuple[int, str, str, Deadline]] = []
        self._known: set[Deadline] = set()

    def add(self, deadline: Deadline) -> None:
        if deadline not in self._known:
            self._known.add(deadline)
            heapq.heappush(self._heap, (deadline.at_ms, deadline.job, deadline.kind.value, deadline))

    def next_ms(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def take_due(self, now_ms: int) -> list[Deadline]:
        found = []
        while self._heap and self._heap[0][0] <= now_ms:
            deadline = heapq.heappop(self._heap)[3]
            self._known.discard(deadline)
            found.append(deadline)
        return found
