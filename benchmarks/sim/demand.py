"""Which replicas does a service want when its demand follows the day? A curve, cut into the lives of replicas.

An autoscaler looks every few minutes and wants as many replicas as the demand needs. Replica number k of a service is
wanted as long as the demand needs at least k of them: it is submitted when that begins, and withdrawn when it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.sim.shape import DAY_MS, HOUR_MS, MINUTE_MS
from quotatree.sim.trace import TraceJob

LOOKS_EVERY_MS = 5 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class DayCurve:
    """Demand in GPUs: a cosine between `low` at 4:00 and `high` at 16:00, the same every day."""

    low: float
    high: float

    def gpus(self, time_ms: int) -> float:
        hour = time_ms % DAY_MS / HOUR_MS
        return self.low + (self.high - self.low) * (1 - math.cos((hour - 4) / 24 * math.tau)) / 2


@dataclass(frozen=True, slots=True)
class Service:
    """A service that takes `share` of the demand with replicas of `gpus` GPUs each."""

    name: str
    share: float
    gpus: int

    def replicas(self, demand_gpus: float) -> int:
        """The replicas needed for its share; rounded first, so that a rounding error does not add one."""
        return math.ceil(round(self.share * demand_gpus / self.gpus, 6))


def lives(wanted: Callable[[int], int], until_ms: int) -> Iterator[tuple[int, int, int]]:
    """Yield (replica, from ms, to ms) for each time a replica is wanted, as seen every LOOKS_EVERY_MS."""
    since: list[int] = []
    for time_ms in range(0, until_ms, LOOKS_EVERY_MS):
        count = wanted(time_ms)
        while len(since) < count:
            since.append(time_ms)
        while len(since) > count:
            yield len(since), since.pop(), time_ms
    while since:
        yield len(since), since.pop(), until_ms


def replica_jobs(service: Service, curve: DayCurve, until_ms: int, priority: int) -> list[TraceJob]:
    """The service as jobs of one replica each, in the order of submission."""
    found = [
        TraceJob(
            f"{service.name}-{replica:02}@{from_ms // MINUTE_MS:05}",
            from_ms,
            to_ms - from_ms,
            1,
            service.gpus * 1000,
            team="serving",
            module="EAS",
            priority=priority,
            wanted_ms=to_ms - from_ms,
        )
        for replica, from_ms, to_ms in lives(lambda time_ms: service.replicas(curve.gpus(time_ms)), until_ms)
    ]
    return sorted(found, key=lambda job: (job.submit_ms, job.id))
