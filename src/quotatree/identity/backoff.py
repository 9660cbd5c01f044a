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


_NONE: Final = _Failures(0, 0)


class Backoff:
    """Counts wrong tries by key. The first `free` are free; each further one doubles the wait, from 1 s to `longest_ms`."""

    def __init__(self, free: int, longest_ms: int = LONGEST_WAIT_MS) -> None:
        self._free = free
        self._longest_ms = longest_ms
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._lock = Lock()

    def check(self, key: str, now_ms: int) -> None:
        """Raise TooManyFailures while the key is blocked."""
        with self._lock:
            self._check(key, now_ms)

    def begin(self, key: str, now_ms: int, free: int | None = None) -> None:
        """Count a try as failed until `succeeded` or `take_back` is called. While the key is blocked, raise
        TooManyFailures instead. `free`: so many are free of this key, if not as many as of others.
        """
        free = self._free if free is None else free
        with self._lock:
            before = self._check(key, now_ms)
            tries = before.tries + 1
            wait_ms = 0
            if tries > free:
                wait_ms = min(self._longest_ms, FIRST_WAIT_MS << min(tries - free - 1, 20))
            self._failures[key] = _Failures(tries, now_ms + wait_ms)
            self._failures.move_to_end(key)
            if len(self._failures) > MOST_KEPT:
                self._failures.popitem(last=False)

    def tries(self, key: str) -> int:
        """How many wrong tries are counted."""
        with self._lock:
            return self._failures.get(key, _NONE).tries

    def succeeded(self, key: str) -> None:
        """Forget the key's failures."""
        with self._lock:
            self._failures.pop(key, None)

    def take_back(self, key: str) -> None:
        """Count the try that was begun last no more; those before it stay."""
        with self._lock:
            found = self._failures.get(key, _NONE)
            if found.tries > 1:
                self._failures[key] = _Failures(found.tries - 1, 0)
            else:
                self._failures.pop(key, None)

    def _check(self, key: str, now_ms: int) -> _Failures:
        found = self._failures.get(key, _NONE)
        if now_ms < found.blocked_until_ms:
            raise TooManyFailures(found.blocked_until_ms - now_ms)
        return found
