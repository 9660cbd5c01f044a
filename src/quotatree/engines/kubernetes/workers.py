"""Who does what is due, and when? A few threads; what was marked is looked at once, by one of them at a time.

Marking is cheap and may be repeated: what matters is that somebody looks after the last mark. If looking fails, it is done again
after a pause that grows.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

from quotatree.core import JobId
from quotatree.engines.kubernetes.errors import ClusterError

log = structlog.get_logger(__name__)

FIRST_RETRY_SECONDS: Final = 0.2
LONGEST_RETRY_SECONDS: Final = 10.0


class Workers:
    def __init__(
        self, look: Callable[[JobId], None], count: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._look = look
        self._clock = clock
        self._due: dict[JobId, float] = {}
        self._heap: list[tuple[float, int, JobId]] = []
        self._pushed = 0
        self._busy: set[JobId] = set()
        self._faults: dict[JobId, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, name=f"kubernetes-{number}", daemon=True)
            for number in range(count)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the threads; what they are at is finished."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def mark(self, job: JobId, seconds: float = 0.0) -> None:
        """Have the job looked at, in so many seconds at the latest."""
        with self._changed:
            self._put(job, self._clock() + seconds)
            self._changed.notify()

    def look_once(self) -> bool:
        """Look at one job that is due; return whether there was one. Tests call this instead of `start`."""
        with self._changed:
            job = self._take()
        if job is None:
            return False
        self._work(job)
        return True

    def _put(self, job: JobId, at: float) -> None:
        before = self._due.get(job)
        if before is None or at < before:
            self._due[job] = at
            self._pushed += 1
            heapq.heappush(self._heap, (at, self._pushed, job))

    def _take(self) -> JobId | None:
        """The job that is due first; None if there is none, or the end has come. Who is looked at now is put off."""
        while self._heap and self._heap[0][0] <= self._clock() and not self._closed:
            at, _, job = heapq.heappop(self._heap)
            if self._due.get(job) != at:
                continue
            if job in self._busy:
                self._due[job] = at  # put back when it is not looked at any more
                continue
            del self._due[job]
            self._busy.add(job)
            return job
        return None

    def _run(self) -> None:
        while True:
            with self._changed:
                job = self._take()
                while job is None and not self._closed:
                    pause = max(0.0, self._heap[0][0] - self._clock()) if self._heap else None
                    self._changed.wait(pause)
                    job = self._take()
                if job is None:
                    return
            self._work(job)

    def _work(self, job: JobId) -> None:
        again: float | None = None
        try:
            self._look(job)
            self._faults.pop(job, None)
        except Exception as error:
            faults = self._faults[job] = self._faults.get(job, 0) + 1
            log.warning(
                "cluster_call_failed", job=job, error=str(error), exc_info=not isinstance(error, ClusterError)
            )
            again = min(FIRST_RETRY_SECONDS * (1 << min(faults - 1, 8)), LONGEST_RETRY_SECONDS)
        with self._changed:
            self._busy.discard(job)
            waiting = self._due.pop(job, None)
            if waiting is not None:
                self._put(job, waiting)
            if again is not None:
                self._put(job, self._clock() + again)
            self._changed.notify()
