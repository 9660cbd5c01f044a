"""How is our own CSV read and written: the format for one's own history, and for exports of the server?

A header and one line per job. Needed: submit_s, duration_s, gpus. Optional: id, replicas, cpu, memory, team, user,
module, priority, models, checkpoint_s, guaranteed, wanted_s. `gpus`, `cpu` and `memory` are those of one replica; without
`replicas`, more GPUs than a node has are spread over nodes. Other columns are allowed: a mapping may use them.
docs/reference/traces.md is the long description.
"""

from __future__ import annotations

import csv
import gzip
import lzma
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TextIO

from quotatree.core import WHOLE_GPU
from quotatree.sim.loaders.collect import Format, Jobs, Request, spread
from quotatree.sim.loaders.table import Row, Table
from quotatree.sim.mapping import Mapping, column
from quotatree.sim.trace import TraceJob

COLUMNS: Final = (
    "id",
    "submit_s",
    "duration_s",
    "gpus",
    "replicas",
    "cpu",
    "memory",
    "team",
    "user",
    "module",
    "priority",
    "models",
    "checkpoint_s",
    "guaranteed",
    "wanted_s",
)
_MEMORY: Final = re.compile(r"(\d+(?:\.\d+)?)(Mi|Gi|Ti)")
_MIB: Final = {"Mi": 1, "Gi": 1024, "Ti": 1024 * 1024}


def write_plain(jobs: Iterable[TraceJob], path: Path) -> int:
    """Write jobs to `path`, compressed if it ends in .gz or .xz, and return how many there were.

    `jobs` may be an iterator; it is consumed one job at a time.
    """
    written = 0
    with _create(path) as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for job in jobs:
            writer.writerow(_cells(job))
            written += 1
    return written


def _read(table: Table, jobs: Jobs) -> None:
    for row in table.rows():
        name = row.text("id") or f"job-{row.line:07}"
        if jobs.knows(name):
            raise row.wrong("id", "stands on an earlier line too")
        request = _request(row, jobs.gpus_per_node)
        wanted_ms = None if row.missing("wanted_s") else row.milli("wanted_s")
        jobs.add(row, name, row.milli("submit_s"), row.milli("duration_s"), request, wanted_ms)


def _request(row: Row, gpus_per_node: int) -> Request:
    gpu_milli = row.milli("gpus")
    cpu_milli = 0 if row.missing("cpu") else row.milli("cpu")
    memory_mib = 0 if row.missing("memory") else _memory_mib(row)
    if gpu_milli > WHOLE_GPU and gpu_milli % WHOLE_GPU:
        raise row.wrong("gpus", "must be whole GPUs, or a part of one")
    if not (gpu_milli or cpu_milli or memory_mib):
        raise row.wrong("gpus", "must ask for some GPU, CPU or memory")
    if row.missing("replicas"):
        if gpu_milli > gpus_per_node * WHOLE_GPU:
            return spread(gpu_milli // WHOLE_GPU, gpus_per_node, 0, cpu_milli, memory_mib)
        return Request(1, gpu_milli, cpu_milli, memory_mib)
    replicas = row.count("replicas")
    if not replicas:
        raise row.wrong("replicas", "must be 1 or more")
    return Request(replicas, gpu_milli, cpu_milli, memory_mib)


def _memory_mib(row: Row) -> int:
    found = _MEMORY.fullmatch(row.text("memory"))
    if found is None:
        raise row.wrong("memory", "must be an amount of memory such as 512Mi, 64Gi or 2Ti")
    return round(float(found[1]) * _MIB[found[2]])


def _create(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8", newline="")
    if path.suffix == ".xz":
        return lzma.open(path, "wt", encoding="utf-8", newline="")
    return path.open("w", encoding="utf-8", newline="")


def _cells(job: TraceJob) -> tuple[object, ...]:
    return (
        job.id,
        _thousandths(job.submit_ms),
        _thousandths(job.duration_ms),
        _thousandths(job.gpu_milli),
        job.replicas,
        _thousandths(job.cpu_milli),
        f"{job.memory_mib}Mi",
        job.team,
        job.user,
        job.module,
        job.priority,
        "|".join(job.models),
        "" if job.checkpoint_interval_ms is None else _thousandths(job.checkpoint_interval_ms),
        "" if job.guaranteed is None else ("yes" if job.guaranteed else "no"),
        "" if job.wanted_ms is None else _thousandths(job.wanted_ms),
    )


def _thousandths(amount: int) -> str:
    """Write an amount in thousandths as a decimal, without floating point: 1500 -> "1.5"."""
    whole, rest = divmod(amount, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


FORMAT = Format(
    "plain",
    ("submit_s", "duration_s", "gpus"),
    Mapping(
        team=column("team", required=False),
        user=column("user", required=False),
        module=column("module", required=False),
        priority=column("priority", required=False),
        models=column("models", required=False),
        checkpoint=column("checkpoint_s", required=False),
        guaranteed=column("guaranteed", required=False),
    ),
    _read,
)
