"""How is the job list of Alibaba's spot GPU trace (cluster-trace-v2026-spot-gpu; Duan et al., ASPLOS'26) read?

Known from the public documentation: job_info_df.csv has job_name, organization, gpu_model, cpu_request, gpu_request,
worker_num, submit_time (s from the first job), duration (s), job_type (HP or Spot). The documentation calls the
requests those of the job; its examples (one GPU, 94 workers) make sense only for one worker, and so they are read.
HP jobs get priority 7 and are guaranteed, Spot jobs 1. The organization is the team. A job accepts only its model.
"""

from __future__ import annotations

from quotatree.sim.loaders.collect import Format, Jobs, Request, device_milli
from quotatree.sim.loaders.table import Table
from quotatree.sim.mapping import Mapping, column


def _read(table: Table, jobs: Jobs) -> None:
    for row in table.rows():
        workers = row.count("worker_num")
        if not workers:
            jobs.skip("no workers")
            continue
        request = Request(workers, device_milli(row.milli("gpu_request")), row.milli("cpu_request"))
        jobs.add(row, row.name("job_name"), row.milli("submit_time"), row.milli("duration"), request)


FORMAT = Format(
    "spot",
    (
        "job_name",
        "organization",
        "gpu_model",
        "cpu_request",
        "gpu_request",
        "worker_num",
        "submit_time",
        "duration",
        "job_type",
    ),
    Mapping(
        team=column("organization"),
        priority=column("job_type", {"HP": 7, "Spot": 1}),
        guaranteed=column("job_type", {"HP": True, "Spot": False}),
        models=column("gpu_model"),
    ),
    _read,
)
