"""How do reports reach the one who listens? In the order in which they were collected, by one thread at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from quotatree.engines.base import Report

log = logging.getLogger(__name__)


class Teller:
    """Reports that were collected, and the listener they go to. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._told: list[Report] = []
        self._report: Callable[[Report], None] | None = None
        self._telling = False
        self._lock = threading.Lock()

    @property
    def telling(self) -> bool:
        """Whether a thread reports right now."""
        return self._telling

    def begin(self, report: Callable[[Report], None]) -> None:
        """Report to this listener from now on, and drop what was collected before."""
        with self._lock:
            self._told.clear()
            self._report = report

    def end(self) -> None:
        """Report to nobody any more; what is collected is kept."""
        with self._lock:
            self._report = None

    def collect(self, reports: Iterable[Report]) -> None:
        """Keep these reports until the next `tell`."""
        with self._lock:
            self._told += reports

    def tell(self) -> None:
        """Report what was collected. Never call it with a lock that the listener may wait for: it may call back.

        One thread reports at a time; another one that comes meanwhile leaves its reports to it.
        """
        with self._lock:
            if self._telling:
                return
            self._telling = True
        while True:
            with self._lock:
                told, self._told, report = self._told, [], self._report
                if not told or report is None:
                    self._telling = False
                    return
            for one in told:
                try:
                    report(one)
                except Exception:
                    log.exception("local engine: nobody could be told of %s", one)
