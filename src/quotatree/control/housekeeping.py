"""What has served its time is deleted: answers to repeat after a day, deliveries of webhooks after a while.

A thread of its own deletes a few rows at a time, and only where this server leads, so that commits never wait long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

import structlog

from quotatree.control.world import ANSWERS_KEPT_MS
from quotatree.store.errors import StoreError

log = structlog.get_logger(__name__)

AT_ONCE: Final = 200
PAUSE_SECONDS: Final = 0.1
EVERY_SECONDS: Final = 60.0


class PrunedStore(Protocol):
    def prune(self, answers_before_ms: int, deliveries_before_ms: int, most: int) -> int: ...


class Housekeeping:
    def __init__(
        self,
        store: PrunedStore,
        leads: Callable[[], bool],
        deliveries_ms: int,
        *,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        also: Callable[[], None] = lambda: None,
    ) -> None:
        """`deliveries_ms`: how long a delivery is kept after its last attempt. `also` is done each time, where we lead."""
        self._also = also
        self._store = store
        self._leads = leads
        self._deliveries_ms = deliveries_ms
        self._clock = clock
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def prune(self) -> int:
        """Delete expired rows, a few, in one transaction; return how many."""
        now_ms = self._clock()
        return self._store.prune(now_ms - ANSWERS_KEPT_MS, now_ms - self._deliveries_ms, AT_ONCE)

    def _run(self) -> None:
        pause_seconds = EVERY_SECONDS
        while not self._stopping.wait(pause_seconds):
            try:
                gone = self.prune() if self._leads() else 0
                if not gone and self._leads():
                    self._also()
            except StoreError as error:
                log.warning("not_pruned", error=str(error))
                gone = 0
            pause_seconds = PAUSE_SECONDS if gone else EVERY_SECONDS
