"""How is a pod list of Alibaba's openb trace (cluster-trace-gpu-v2023; Weng et al., ATC'23) read?

A pod is one replica: num_gpu whole GPUs, or a share of one when num_gpu is 1 and gpu_milli below 1000; gpu_spec names
the models it accepts. It runs from scheduled_time to deletion_time; a pod that was never scheduled counts from its
creation. Latency-sensitive and guaranteed pods get priority 7 and are guaranteed, best-effort ones 1.

The re-sampled lists (multigpuNN) end after gpu_milli. They are meant for filling a cluster without departures: every
pod is submitted at 0 and runs a day.
"""

from __future__ import annotations

from quotatree.core import WHOLE_GPU
from quotatree.sim.loaders.collect import DAY_MS, Format, Jobs, Request
from quotatree.sim.loaders.table import Row, Table
from quotatree.sim.mapping import Mapping, column


def _read(table: Table, jobs: Jobs) -> None:
    timed = "creation_time" in table.index
    if timed:
        table.require(("creation_time", "deletion_time", "scheduled_time"), "openb")
    for row in table.rows():
        request = Request(1, _gpu_milli(row), row.count("cpu_milli"), row.count("memory_mib"))
        submit_ms = row.milli("creation_time") if timed else 0
        jobs.add(row, row.name("name"), submit_ms, _duration_ms(row) if timed else DAY_MS, request)


def _gpu_milli(row: Row) -> int:
    gpus, share_milli = row.count("num_gpu"), row.count("gpu_milli")
    if gpus == 0:
        return 0
    if not 0 < share_milli <= WHOLE_GPU:
        raise row.wrong("gpu_milli", "must be 1 to 1000 for a pod with GPUs")
    if gpus > 1 and share_milli < WHOLE_GPU:
        raise row.wrong("gpu_milli", "must be 1000 for a pod of several GPUs")
    return gpus * share_milli


def _duration_ms(row: Row) -> int:
    began = "creation_time" if row.missing("scheduled_time") else "scheduled_time"
    return row.milli("deletion_time") - row.milli(began)


FORMAT = Format(
    "openb",
    ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"),
    Mapping(
        priority=column("qos", {"LS": 7, "Guaranteed": 7, "Burstable": 4, "BE": 1}, required=False),
        guaranteed=column(
            "qos", {"LS": True, "Guaranteed": True, "Burstable": False, "BE": False}, required=False
        ),
        models=column("gpu_spec", required=False),
    ),
    _read,
)
