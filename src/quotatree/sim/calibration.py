"""Which range holds eight of ten starts? It follows from how earlier answers came true.

An answer says how long a job will wait. Once the job has started, the real wait is known, and the ratio of the two.
The range of a new answer is its likely wait times the ratios that most of the newest answers kept to. So it is wide
where answers were bad and narrow where they were good, whatever the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, exp, log
from typing import Final, NamedTuple

NEWEST: Final = 200
"""So many of the newest outcomes count: a cluster changes. 100 and 500 held fewer starts of Philly in wider ranges."""
ENOUGH: Final = 30
"""With fewer outcomes, nothing is said by them: of 30, two or three are beyond each end."""
LEFT_OUT: Final = 0.08
"""This part of the outcomes is beyond each end. A tenth would be eight of ten of what has been; what comes differs more."""
NOTICED_MS: Final = 60_000
"""A wait no longer than this counts neither as an outcome nor as an error: none of its users would have asked."""


class Outcome(NamedTuple):
    """An earlier answer that has come true: how long the job was said to wait, and how long it did, in milliseconds."""

    told_ms: int
    real_ms: int


class Calibration(NamedTuple):
    """How far real waits were from what was told. `low` and `high` are logarithms of ratios; `outcomes` gave them."""

    outcomes: int
    low: float
    high: float

    def range_ms(self, told_ms: int) -> tuple[int, int]:
        """The shortest and the longest wait to tell for a likely one. It always holds the likely one."""
        middle = log(told_ms + NOTICED_MS)
        shortest = round(exp(middle + self.low)) - NOTICED_MS
        longest = round(exp(middle + self.high)) - NOTICED_MS
        return max(0, min(shortest, told_ms)), max(longest, told_ms)


def calibrated(
    newest_first: Iterable[Outcome], left_out: float = LEFT_OUT, most: int = NEWEST
) -> Calibration | None:
    """Learn from the newest outcomes; None if they are too few. Short waits are left out."""
    ratios: list[float] = []
    for told_ms, real_ms in newest_first:
        if real_ms > NOTICED_MS:
            ratios.append(log(real_ms + NOTICED_MS) - log(told_ms + NOTICED_MS))
            if len(ratios) == most:
                break
    if len(ratios) < ENOUGH:
        return None
    ratios.sort()
    return Calibration(len(ratios), _quantile(ratios, left_out), _quantile(ratios, 1 - left_out))


def _quantile(ordered: list[float], share: float) -> float:
    """The value that a next one like these exceeds with a chance of 1 - `share`."""
    return ordered[min(len(ordered) - 1, max(0, ceil(share * (len(ordered) + 1)) - 1))]
