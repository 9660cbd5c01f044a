"""How many requests does a service have in flight? An average over time: one look at a moment says little."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Load:
    """Counts requests from their head to their answer, those that wait for a replica among them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` tells seconds and never goes back."""
        self._clock = clock
        self._count = 0
        self._request_seconds = 0.0
        self._began = self._changed = clock()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one request as in flight."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def take(self) -> tuple[int, int]:
        """Requests in flight on average since the last call, in thousandths, and how long ago that was, in milliseconds."""
        self._change(0)
        seconds = self._changed - self._began
        milli = self._request_seconds / seconds * 1000 if seconds > 0 else self._count * 1000
        self._began, self._request_seconds = self._changed, 0.0
        return round(milli), round(seconds * 1000)

    def _change(self, by: int) -> None:
        now = self._clock()
        self._request_seconds += self._count * (now - self._changed)
        self._changed = now
        self._count += by
