"""Shall a run that failed be tried again, and when? Pure.

`retries` counts further attempts: with 2, a command runs at most three times. The wait doubles from `backoff_seconds` on.
What could not even be started is not tried again: the same command will not be there a second later either.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST_BACKOFF_SECONDS = 60.0
DEFAULT_BACKOFF_SECONDS = 1.0


class Retries:
    __slots__ = ("_backoff_seconds", "_retries", "failures")

    def __init__(self, program: Mapping[str, Any]) -> None:
        self._retries = int(program.get("retries", 0))
        self._backoff_seconds = float(program.get("backoff_seconds", DEFAULT_BACKOFF_SECONDS))
        self.failures = 0

    def after_failure(self, *, could_start: bool) -> float | None:
        """Count a failure; return the seconds until the next attempt, or None if there is none."""
        self.failures += 1
        if not could_start or self.failures > self._retries:
            return None
        doublings = min(self.failures - 1, 62)  # beyond that a float gains nothing
        return min(LONGEST_BACKOFF_SECONDS, self._backoff_seconds * 2.0**doublings)

    def attempts_words(self) -> str:
        return f" (attempt {self.failures} of {self._retries + 1})" if self._retries else ""
