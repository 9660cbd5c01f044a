"""Was every team as well off as alone, and every single job? A replay beside each team in a cluster of its own.

Two yardsticks for a team, its mean wait (that of quotatree.sim.metrics) and its mean time from submit to end, in which
lost work shows too; and one for jobs: those that ended later than they would have alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quotatree.sim.metrics import SAFE_WITHIN_S
from quotatree.sim.outcome import JobOutcome

LATE_MS = 60_000
"""Twice the grace of a victim. A job that is later by less only had to wait for victims to leave."""


@dataclass(frozen=True, slots=True)
class Safety:
    """How teams and jobs fare beside being alone.

    `by_wait` teams wait no longer on average, `by_completion` teams end no later, `late_jobs` end later by more than
    LATE_MS, the latest of all by `latest_s`.
    """

    teams: int
    by_wait: int
    by_completion: int
    late_jobs: int
    latest_s: float


def safety(here: Iterable[JobOutcome], alone: dict[str, JobOutcome]) -> Safety:
    """Compare the jobs that ended both here and alone."""
    pairs: dict[str, list[tuple[int, int]]] = {}
    later_ms: list[int] = []
    for job in here:
        other = alone.get(job.id)
        if job.end_ms is None or other is None or other.end_ms is None:
            continue
        pairs.setdefault(job.quota, []).append((job.waited_ms - other.waited_ms, job.end_ms - other.end_ms))
        later_ms.append(job.end_ms - other.end_ms)
    within_ms = SAFE_WITHIN_S * 1000
    means = [[sum(column) / len(column) for column in zip(*team, strict=True)] for team in pairs.values()]
    return Safety(
        teams=len(means),
        by_wait=sum(1 for wait_ms, _ in means if wait_ms <= within_ms),
        by_completion=sum(1 for _, took_ms in means if took_ms <= within_ms),
        late_jobs=sum(1 for ms in later_ms if ms > LATE_MS),
        latest_s=max(later_ms, default=0) / 1000,
    )
