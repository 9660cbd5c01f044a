"""Which job is looked at next, and by whom? A few threads; a job that was marked is looked at once, by one of them at a time.

Marking is cheap and may be repeated: what matters is that after the last mark somebody looks. If looking fails it is done again,
after a pause that grows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

from quotatree.core import JobId
from quotatree.engines.kubernetes.errors import Clash, ClusterError

log = structlog.get_logger(__name__)

FIRST_RETRY_SECONDS: Final = 0.5
LONGEST_RETRY_SECONDS: Final = 10.0
CLASH_SECONDS: Final = 0.05
CLASHES_AT_ONCE: Final = 5


class DueWork:
    def __init__(self, look: Callable[[JobId], None], workers: int) -> None:
        self._look = look
        self._due: dict[JobId, float] = {}
        self._busy: set[JobId] = set()
        self._faults: dict[JobId, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, name=f"native-{number}", daemon=True)
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
        at = time.monotonic() + seconds
        with self._changed:
            if job not in self._due or self._due[job] > at:
                self._due[job] = at
                self._changed.notify()

    def look_once(self) -> bool:
        """Look at one job that is due; return whether there was one. Tests call this instead of `start`."""
        with self._changed:
            job = self._take()
        if job is None:
            return False
        self._work(job)
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                job = self._take()
                while job is None and not self._closed:
                    self._changed.wait(self._pause_seconds())
                    job = self._take()
                if job is None:
                    return
            self._work(job)

    def _take(self) -> JobId | None:
        """The job that was due first and that nobody looks at; None if there is none, or the end has come."""
        now = time.monotonic()
        ready = [job for job, at in self._due.items() if at <= now and job not in self._busy]
        if not ready or self._closed:
            return None
        job = min(ready, key=self._due.__getitem__)
        del self._due[job]
        self._busy.add(job)
        return job

    def _pause_seconds(self) -> float | None:
        now = time.monotonic()
        return min(
            (max(0.0, at - now) for job, at in self._due.items() if job not in self._busy), default=None
        )

    def _work(self, job: JobId) -> None:
        try:
            self._look(job)
            self._faults.pop(job, None)
        except Exception as error:
            self._note_fault(job, error)
        finally:
            with self._changed:
                self._busy.discard(job)
                self._changed.notify()

    def _note_fault(self, job: JobId, error: Exception) -> None:
        """Mark the job again for later. That somebody else was quicker is no fault, unless it goes on and on."""
        faults = self._faults[job] = self._faults.get(job, 0) + 1
        if isinstance(error, Clash) and faults < CLASHES_AT_ONCE:
            self.mark(job, CLASH_SECONDS)
            return
        log.warning("native_failed", job=job, error=str(error), exc_info=not isinstance(error, ClusterError))
        self.mark(job, min(FIRST_RETRY_SECONDS * 2 ** min(faults - 1, 8), LONGEST_RETRY_SECONDS))
