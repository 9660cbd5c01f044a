"""What is looked at next, and by whom? A few threads; what was marked, a job or a node, is looked at once, by one of them at a time.

Marking is cheap and may be repeated: what matters is that somebody looks after the last mark. If looking fails, it is done again
after a pause that grows.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import structlog

from quotatree.engines.kubernetes.errors import Clash, ClusterError

log = structlog.get_logger(__name__)

FIRST_RETRY_SECONDS: Final = 0.2
LONGEST_RETRY_SECONDS: Final = 10.0
CLASH_SECONDS: Final = 0.05
CLASHES_AT_ONCE: Final = 5

K = TypeVar("K", bound=str)


class DueWork(Generic[K]):
    def __init__(
        self,
        name: str,
        look: Callable[[K], None],
        workers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name`: of its threads, and in the log."""
        self._name = name
        self._look = look
        self._clock = clock
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._pushed = 0
        self._busy: set[K] = set()
        self._faults: dict[K, int] = {}
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

    def mark(self, key: K, seconds: float = 0.0) -> None:
        """Have it looked at, in so many seconds at the latest."""
        with self._changed:
            self._put(key, self._clock() + seconds)
            self._changed.notify()

    def look_once(self) -> bool:
        """Look at one thing that is due; return whether there was one. Tests call this instead of `start`."""
        with self._changed:
            key = self._take()
        if key is None:
            return False
        self._work(key)
        return True

    def _put(self, key: K, at: float) -> None:
        before = self._due.get(key)
        if before is None or at < before:
            self._due[key] = at
            self._pushed += 1
            heapq.heappush(self._heap, (at, self._pushed, key))

    def _take(self) -> K | None:
        """What is due first; None if nothing is, or the end has come. What is looked at now is put off."""
        while self._heap and self._heap[0][0] <= self._clock() and not self._closed:
            at, _, key = heapq.heappop(self._heap)
            if self._due.get(key) != at:
                continue
            if key in self._busy:
                self._due[key] = at  # put back when it is not looked at any more
                continue
            del self._due[key]
            self._busy.add(key)
            return key
        return None

    def _run(self) -> None:
        while True:
            with self._changed:
                key = self._take()
                while key is None and not self._closed:
                    pause = max(0.0, self._heap[0][0] - self._clock()) if self._heap else None
                    self._changed.wait(pause)
                    key = self._take()
                if key is None:
                    return
            self._work(key)

    def _work(self, key: K) -> None:
        pause: float | None = None
        try:
            self._look(key)
            self._faults.pop(key, None)
        except Exception as error:
            pause = self._pause_seconds(key, error)
        with self._changed:
            self._busy.discard(key)
            waiting = self._due.pop(key, None)
            if waiting is not None:
                self._put(key, waiting)
            if pause is not None:
                self._put(key, self._clock() + pause)
            self._changed.notify()

    def _pause_seconds(self, key: K, error: Exception) -> float:
        """Time until it is looked at again. That somebody else was quicker is no fault, unless it goes on and on."""
        faults = self._faults[key] = self._faults.get(key, 0) + 1
        if isinstance(error, Clash) and faults < CLASHES_AT_ONCE:
            return CLASH_SECONDS
        log.warning(
            "cluster_work_failed",
            who=self._name,
            what=key,
            error=str(error),
            exc_info=not isinstance(error, ClusterError),
        )
        return min(FIRST_RETRY_SECONDS * (1 << min(faults - 1, 8)), LONGEST_RETRY_SECONDS)
