"""What becomes of a row: a job with its labels, a reason to leave it out, or replicas that fit on nodes.

A loader turns a row into an id, two times and a Request, and hands them to Jobs, which adds what the mapping says
about team, priority and the rest, keeps ids unique, counts what was left out, and makes the Trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, Final, NamedTuple

from quotatree.core import WHOLE_GPU
from quotatree.sim.loaders.table import Row, Table
from quotatree.sim.mapping import FIELDS, FieldValue, Mapping, Source, parse
from quotatree.sim.trace import Trace, TraceError, TraceJob

DAY_MS: Final = 86_400_000
UNIX_SINCE_MS: Final = 100_000_000_000
"""Traces whose first job is later than this (three years) have Unix times; the others count from their own start."""


class Request(NamedTuple):
    """The resources a job asks for: `replicas` replicas of the given size each."""

    replicas: int
    gpu_milli: int
    cpu_milli: int = 0
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of trace file: the columns to recognise it by, its default mapping, and the function that reads rows."""

    name: str
    required: tuple[str, ...]
    defaults: Mapping
    read: Callable[[Table, Jobs], None]


def spread(gpus: int, gpus_per_node: int, nodes: int = 0, cpu_milli: int = 0, memory_mib: int = 0) -> Request:
    """Divide a job's totals into equal replicas, none larger than a node.

    `nodes`, if the trace has it, is kept when the GPUs divide evenly over it and fit; otherwise the job takes as few
    nodes as hold its GPUs, each with the same number: 12 GPUs on nodes of 8 are 2 × 6. Divisions round up, so that a
    job never asks for less than it did.
    """
    if nodes > 0 and gpus % nodes == 0 and gpus // nodes <= gpus_per_node:
        replicas = nodes
    else:
        replicas = max(1, -(-gpus // gpus_per_node))
    return Request(
        replicas, -(-gpus // replicas) * WHOLE_GPU, -(-cpu_milli // replicas), -(-memory_mib // replicas)
    )


def device_milli(gpu_milli: int) -> int:
    """Milli-GPU of one replica as devices can serve it (R1): above one GPU it is rounded up to whole GPUs."""
    return gpu_milli if gpu_milli <= WHOLE_GPU else -(-gpu_milli // WHOLE_GPU) * WHOLE_GPU


class Jobs:
    """Collects the jobs of one file and makes the Trace of them."""

    def __init__(self, table: Table, mapping: Mapping, gpus_per_node: int) -> None:
        self.gpus_per_node = gpus_per_node
        self._labels = [_Label(name, getattr(mapping, name), table) for name in FIELDS]
        self._rows: list[_Read] = []
        self._seen: dict[str, int] = {}
        self._skipped: Counter[str] = Counter()

    def add(
        self,
        row: Row,
        id: str,
        submit_ms: int,
        duration_ms: int,
        request: Request,
        wanted_ms: int | None = None,
    ) -> None:
        """Add one job. An id that occurred before gets "#2", "#3" …, because ids in traces are not always unique.

        A job that asks for nothing is left out, for no job may (R1).
        `wanted_ms`: how long after the submit its owner ends the job; None: the job runs until its work is done.
        """
        if not (request.gpu_milli or request.cpu_milli or request.memory_mib):
            self.skip("ask for no GPU, CPU or memory")
            return
        again = self._seen.get(id, 0)
        self._seen[id] = again + 1
        unique = f"{id}#{again + 1}" if again else id
        labels = tuple(label.read(row) for label in self._labels)
        self._rows.append(_Read(submit_ms, unique, max(1, duration_ms), request, labels, wanted_ms))

    def knows(self, id: str) -> bool:
        return id in self._seen

    def skip(self, reason: str) -> None:
        self._skipped[reason] += 1

    def trace(self, source: str) -> Trace:
        """The trace of all jobs, in order. Unix times are made to count from the midnight before the first job."""
        rows = sorted(self._rows, key=itemgetter(0, 1))
        dated = bool(rows) and rows[0].submit_ms > UNIX_SINCE_MS
        first_ms = rows[0].submit_ms // DAY_MS * DAY_MS if dated else 0
        origin = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=first_ms) if dated else None
        jobs = tuple(row.job(first_ms) for row in rows)
        skipped = tuple(f"{count} rows: {reason}" for reason, count in sorted(self._skipped.items()))
        return Trace(jobs, source, skipped, origin)


class _Read(NamedTuple):
    """A job as read, before it is known which time the trace counts from. `labels` are in the order of FIELDS."""

    submit_ms: int
    id: str
    duration_ms: int
    request: Request
    labels: tuple[Any, ...]
    wanted_ms: int | None

    def job(self, first_ms: int) -> TraceJob:
        team, user, module, priority, models, checkpoint_ms, guaranteed = self.labels
        request = self.request
        return TraceJob(
            id=self.id,
            submit_ms=self.submit_ms - first_ms,
            duration_ms=self.duration_ms,
            replicas=request.replicas,
            gpu_milli=request.gpu_milli,
            cpu_milli=request.cpu_milli,
            memory_mib=request.memory_mib,
            team=team,
            user=user,
            module=module,
            priority=priority,
            models=models,
            checkpoint_interval_ms=checkpoint_ms,
            guaranteed=guaranteed,
            wanted_ms=self.wanted_ms,
        )


class _Label:
    """One field of the mapping, bound to a column. Each distinct cell text is parsed once and cached in `_known`."""

    __slots__ = ("_field", "_source", "_at", "_known")

    def __init__(self, field: str, source: Source | None, table: Table) -> None:
        self._field = field
        self._source = source if source is not None else Source()
        self._at = table.index.get(self._source.column)
        self._known: dict[str, FieldValue] = {}
        if self._at is None and self._source.column:
            if self._source.required:
                has = ", ".join(table.columns)
                raise TraceError(
                    table.file, 1, self._source.column, "", f"no such column for {field}; there are {has}"
                )
            self._source = Source("", (), self._source.default)

    def read(self, row: Row) -> FieldValue:
        raw = row.cells[self._at] if self._at is not None else ""
        try:
            return self._known[raw]
        except KeyError:
            pass
        try:
            value = parse(self._field, self._source.text(raw.strip()))
        except ValueError as error:
            raise row.wrong(self._source.column, f"{self._field} {error}") from None
        self._known[raw] = value
        return value
