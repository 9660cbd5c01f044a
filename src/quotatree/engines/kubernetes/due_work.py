"""Which job is looked at next, and by whom? A few threads; a job that was marked is looked at once, by one of them at a time.

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
from quotatree.engines.kubernetes.errors import Clash, ClusterError

log = structlog.get_logger(__name__)

FIRST_RETRY_SECONDS: Final = 0.2
LONGEST_RETRY_SECONDS: Final = 10.0
CLASH_SECONDS: Final = 0.05
CLASHES_AT_ONCE: Final = 5


class DueWork:
    def __init__(
        self,
        name: str,
        look: Callable[[JobId], None],
        workers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name`: of its threads, and in the log."""
        self._name = name
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
            threading.Thread(target=self._run, name=f"{name}-{number}", daemon=True)
            for number in range(workers)
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
        pause: float | None = None
        try:
            self._look(job)
            self._faults.pop(job, None)
        except Exception as error:
            pause = self._pause_seconds(job, error)
        with self._changed:
            self._busy.discard(job)
            waiting = self._due.pop(job, None)
            if waiting is not None:
                self._put(job, waiting)
            if pause is not None:
                self._put(job, self._clock() + pause)
            self._changed.notify()

    def _pause_seconds(self, job: JobId, error: Exception) -> float:
        """Time until a job is looked at again. That somebody else was quicker is no fault, unless it goes on and on."""
        faults = self._faults[job] = self._faults.get(job, 0) + 1
        if isinstance(error, Clash) and faults < CLASHES_AT_ONCE:
            return CLASH_SECONDS
        log.warning(
            "cluster_work_failed",
            who=self._name,
            job=job,
            error=str(error),
            exc_info=not isinstance(error, ClusterError),
        )
        return min(FIRST_RETRY_SECONDS * (1 << min(faults - 1, 8)), LONGEST_RETRY_SECONDS)
