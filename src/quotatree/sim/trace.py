"""What was asked of a cluster, by whom, when and for how long: a trace as the simulator sees it.

A trace is a list of jobs in the order of their submission. Where it came from, and how its columns became teams and
priorities, is the business of the loaders (quotatree.sim.loaders) and of the mapping (quotatree.sim.mapping).

    QuotaTreeError
    └── TraceError   a file that cannot be read as a trace: names the file, the line, the column and the value
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter

from quotatree.core import QuotaTreeError


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One job of a trace. GPUs, CPUs and memory are those of one replica.

    `submit_ms` counts from the start of the trace and is never negative. `duration_ms` is the time the job ran on the
    cluster it was recorded on, at least 1. `gpu_milli` is whole GPUs as thousands, or a fraction of one (1 to 999),
    or 0. `checkpoint_interval_ms` is None when the job saves nothing or nothing is known. `guaranteed` is None where
    the trace does not tell guaranteed from best-effort work. `wanted_ms` is how long after its submission the owner
    ends the job, running or waiting (a replica that an autoscaler takes away again); None: when its work is done.
    """

    id: str
    submit_ms: int
    duration_ms: int
    replicas: int
    gpu_milli: int
    cpu_milli: int = 0
    memory_mib: int = 0
    team: str = ""
    user: str = ""
    module: str = "DLC"
    priority: int = 1
    models: tuple[str, ...] = ()
    checkpoint_interval_ms: int | None = None
    guaranteed: bool | None = None
    wanted_ms: int | None = None

    @property
    def total_gpu_milli(self) -> int:
        """The GPUs of all replicas together."""
        return self.replicas * self.gpu_milli


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs sorted by submit_ms, then id; ids are unique.

    `skipped` says how many rows were left out, by reason: "12 rows: never ran". `origin` is the wall clock at
    submit_ms 0, or None when the trace counts from a start of its own.
    """

    jobs: tuple[TraceJob, ...]
    source: str
    skipped: tuple[str, ...] = ()
    origin: datetime | None = None

    def between(self, first: datetime, until: datetime) -> Trace:
        """The jobs submitted from `first` on and before `until`, with submit_ms counted from `first`.

        Jobs that were submitted earlier are left out even if they still ran. Raises ValueError when the trace has no
        wall clock.
        """
        if self.origin is None:
            raise ValueError(f"{self.source} counts from a start of its own: it has no dates to cut at")
        millisecond = timedelta(milliseconds=1)
        first_ms, until_ms = (first - self.origin) // millisecond, (until - self.origin) // millisecond
        at = attrgetter("submit_ms")
        low = bisect_left(self.jobs, first_ms, key=at)
        kept = self.jobs[low : bisect_left(self.jobs, until_ms, lo=low, key=at)]
        jobs = tuple(replace(job, submit_ms=job.submit_ms - first_ms) for job in kept)
        return Trace(jobs, self.source, self.skipped, first)


class TraceError(QuotaTreeError):
    """A trace cannot be read. `line` is 0 if the error is about the whole file, `column` "" if about the whole line."""

    def __init__(self, file: str, line: int, column: str, value: str, message: str) -> None:
        self.file = file
        self.line = line
        self.column = column
        self.value = value
        self.message = message
        super().__init__(file, line, column, value, message)

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        what = f"{self.column} = {self.value!r}: " if self.column else ""
        return f"{where}: {what}{self.message}"
