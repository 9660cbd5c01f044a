"""How long must a caller wait after too many wrong guesses? Kept in memory, bounded, thread-safe.

A try counts as failed from its beginning until it is known to be right, so that many guesses at the same moment
do not get past the count.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

from quotatree.identity.errors import TooManyFailures

FIRST_WAIT_MS: Final = 1_000
LONGEST_WAIT_MS: Final = 15 * 60_000
MOST_KEPT: Final = 10_000


class _Failures(NamedTuple):
    tries: int
    blocked_until_ms: int


class Backoff:
    """Counts wrong tries by key. The first `free` are free; each further one doubles the wait, from 1 s to 15 min."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._lock = Lock()

    def begin(self, key: str, now_ms: int) -> None:
        """Count a try as failed until `succeeded` is called. While the key is blocked, raise TooManyFailures instead."""
        with self._lock:
            before = self._failures.get(key, _Failures(0, 0))
            if now_ms < before.blocked_until_ms:
                raise TooManyFailures(before.blocked_until_ms - now_ms)
            tries = before.tries + 1
            wait_ms = 0
            if tries > self._free:
                wait_ms = min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(tries - self._free - 1, 20))
            self._failures[key] = _Failures(tries, now_ms + wait_ms)
            self._failures.move_to_end(key)
            if len(self._failures) > MOST_KEPT:
                self._failures.popitem(last=False)

    def succeeded(self, key: str) -> None:
        with self._lock:
            self._failures.pop(key, None)
