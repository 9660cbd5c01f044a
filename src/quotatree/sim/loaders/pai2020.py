"""How is the task table of Alibaba PAI 2020 (cluster-trace-gpu-v2020; Weng et al., NSDI'22) read?

Known from the public documentation: pai_task_table.csv has no header and the columns job_name, task_name, inst_num,
status, start_time, end_time (s), plan_cpu (percent), plan_mem (GB), plan_gpu (percent), gpu_type. pai_job_table.csv,
also without a header, adds user and the time of submission; if it lies in the same folder, it is used.

Every task is a job of its own, with inst_num replicas, since the instances of one task are alike and those of two
tasks are not: a parameter server without GPUs does not become one with them. `gpu_type` is what the task got rather
than what it asked for, so it limits nothing unless a mapping says `models = "gpu_type"`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from quotatree.sim.loaders.collect import Format, Jobs, Request, device_milli
from quotatree.sim.loaders.table import Row, Table
from quotatree.sim.mapping import Mapping, column

TASK_COLUMNS: Final = (
    "job_name",
    "task_name",
    "inst_num",
    "status",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
    "plan_gpu",
    "gpu_type",
)
JOB_COLUMNS: Final = ("job_name", "inst_id", "user", "status", "start_time", "end_time")


class Tasks(Table):
    """The task table with one more column, `user`, which is filled from the job table in the same folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, columns=TASK_COLUMNS)
        self.index = {**self.index, "user": len(TASK_COLUMNS)}


def _read(table: Table, jobs: Jobs) -> None:
    submissions = _submissions(table.path)
    for task in table.rows():
        submit_ms, user = submissions.get(task.text("job_name"), (None, ""))
        row = Row(table, task.line, [*task.cells, user])
        if row.missing("start_time") or row.missing("end_time"):
            jobs.skip("never ran, or still running")
            continue
        replicas = 0 if row.missing("inst_num") else row.count("inst_num")
        if not replicas:
            jobs.skip("no instances")
            continue
        start_ms = row.milli("start_time")
        name = f"{row.name('job_name')}/{row.name('task_name')}"
        submitted_ms = start_ms if submit_ms is None else min(submit_ms, start_ms)
        jobs.add(row, name, submitted_ms, row.milli("end_time") - start_ms, _request(row, replicas))


def _request(row: Row, replicas: int) -> Request:
    gpu_percent, cpu_percent, memory_gb = (
        0.0 if row.missing(name) else row.number(name) for name in ("plan_gpu", "plan_cpu", "plan_mem")
    )
    return Request(
        replicas, device_milli(round(gpu_percent * 10)), round(cpu_percent * 10), round(memory_gb * 1024)
    )


def _submissions(tasks: Path) -> dict[str, tuple[int | None, str]]:
    """By job name: submit time in ms (None if missing) and user. Empty if there is no job table in the folder."""
    name = tasks.name.replace("pai_task_table", "pai_job_table")
    path = tasks.with_name(name)
    if path == tasks or not path.is_file():
        return {}
    return {
        row.text("job_name"): (
            None if row.missing("start_time") else row.milli("start_time"),
            row.text("user"),
        )
        for row in Table(path, columns=JOB_COLUMNS).rows()
    }


FORMAT = Format("pai2020", TASK_COLUMNS, Mapping(user=column("user")), _read)
