"""Which numbers sum a run up, when is each better, and how is it told? One list for the terminal and the report.

The definitions are those of docs/reference/metrics.md, in one sentence each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from quotatree.sim.metrics import Spread
from quotatree.sim.result import SimResult

Read = Callable[[SimResult], float | None]

NOTHING: Final = "-"
"""Shown where nothing was measured."""


class Better(Enum):
    LOWER = "lower is better"
    HIGHER = "higher is better"


class Unit(Enum):
    SECONDS = "s"
    SHARE = "%"
    NUMBER = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a run. `of` reads the total that it is a part of, which is shown beside it."""

    name: str
    says: str
    better: Better
    read: Read
    unit: Unit = Unit.NUMBER
    digits: int = 0
    of: Read | None = None

    def told(self, result: SimResult) -> str:
        return self.told_value(self.read(result), None if self.of is None else self.of(result))

    def told_value(self, value: float | None, whole: float | None = None) -> str:
        if value is None:
            return NOTHING
        if self.unit is Unit.SECONDS:
            return seconds_text(value)
        if self.unit is Unit.SHARE:
            return share_text(value)
        if whole is not None:
            return f"{value:.0f} of {whole:.0f}"
        return number_text(value, self.digits)


def _wait(part: str) -> Read:
    return lambda run: _part(run.metrics.overall.wait, part)


MEASURES: Final[tuple[Measure, ...]] = (
    Measure("jobs done", "Jobs that did all their work, of those submitted.", Better.HIGHER,
            lambda run: run.metrics.overall.done, of=lambda run: run.metrics.overall.jobs),
    Measure("wait mean", "All time between submit and end in which a job did not run: in the queue, with a hold, after "
            "evictions. Of jobs that started.", Better.LOWER, _wait("mean_s"), Unit.SECONDS),
    Measure("wait p50", "Half of the jobs waited no longer.", Better.LOWER, _wait("p50_s"), Unit.SECONDS),
    Measure("wait p95", "95 % of the jobs waited no longer.", Better.LOWER, _wait("p95_s"), Unit.SECONDS),
    Measure("wait p99", "99 % of the jobs waited no longer.", Better.LOWER, _wait("p99_s"), Unit.SECONDS),
    Measure("completion mean", "From submit to the end, of jobs that are done.", Better.LOWER,
            lambda run: _part(run.metrics.overall.completion, "mean_s"), Unit.SECONDS),
    Measure("high-priority start", "Mean time from submit to the first start, of high-priority jobs.", Better.LOWER,
            lambda run: _part(run.metrics.cluster.high_priority_start, "mean_s"), Unit.SECONDS),
    Measure("allocation", "GPU-time of running work, of the capacity over the time of the run.", Better.HIGHER,
            lambda run: run.metrics.cluster.allocation, Unit.SHARE),
    Measure("while jobs wait", "Allocation over just the time in which at least one job waited.", Better.HIGHER,
            lambda run: run.metrics.cluster.contended_allocation, Unit.SHARE),
    Measure("utilisation", "Useful GPU-time, of the capacity over the time of the run: work that counts, nothing done "
            "twice.", Better.HIGHER, lambda run: run.metrics.cluster.utilisation, Unit.SHARE),
    Measure("fragmentation", "Free GPUs that one more replica, as the trace asks for them, could not use, of the "
            "capacity.", Better.LOWER, lambda run: run.metrics.cluster.fragmentation, Unit.SHARE),
    Measure("evictions", "Times a whole job was told to stop.", Better.LOWER,
            lambda run: run.metrics.overall.evictions),
    Measure("per start", "Evictions for each start, restarts included.", Better.LOWER,
            lambda run: run.metrics.overall.evictions_per_start, digits=3),
    Measure("jobs evicted", "Of jobs that started, the share that was evicted at least once.", Better.LOWER,
            lambda run: run.metrics.overall.evicted_share, Unit.SHARE),
    Measure("lost GPU-h", "GPU-hours of work that had to be done again, and of restarts.", Better.LOWER,
            lambda run: run.metrics.overall.lost_gpu_hours, digits=1),
    Measure("useful GPU-h", "GPU-hours of work that counts.", Better.HIGHER,
            lambda run: run.metrics.overall.useful_gpu_hours),
    Measure("fairness", "Jain's index over the quotas of what each held of its guarantee while it had work: 1 if all "
            "are equal.", Better.HIGHER, lambda run: run.metrics.cluster.fairness, digits=3),
    Measure("teams safe", "Teams that waited no longer than they would with their quota as a cluster of their own.",
            Better.HIGHER, lambda run: run.metrics.cluster.teams_safe,
            of=lambda run: run.metrics.cluster.teams_compared),
    Measure("fruitless", "Evictions for a job that did not start from them. Must be 0.", Better.LOWER,
            lambda run: run.metrics.cluster.fruitless_evictions),
)  # fmt: skip


def seconds_text(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def share_text(share: float) -> str:
    return f"{share * 100:.1f} %"


def number_text(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}"


def _part(times: Spread | None, name: str) -> float | None:
    return None if times is None else getattr(times, name)
