"""How is a Morphling / Rubick workload (Alibaba PAI, MLSys'25) read?

workload-*.csv: name, submission_time (s), duration (s), application, num_gpus, num_cpus, bandwidth, exec_plan, steps,
is_sla. Jobs with is_sla belong to the guaranteed tenant and get priority 7; the others are best-effort, priority 1.
Only workload-mt has both. GPUs and CPUs are those of the whole job.
"""

from __future__ import annotations

from quotatree.sim.loaders.collect import Format, Jobs, spread
from quotatree.sim.loaders.table import Table
from quotatree.sim.mapping import Mapping, column


def _read(table: Table, jobs: Jobs) -> None:
    for row in table.rows():
        request = spread(row.count("num_gpus"), jobs.gpus_per_node, cpu_milli=row.milli("num_cpus"))
        jobs.add(row, row.name("name"), row.milli("submission_time"), row.milli("duration"), request)


FORMAT = Format(
    "morphling",
    ("name", "submission_time", "duration", "application", "num_gpus", "num_cpus", "is_sla"),
    Mapping(
        team=column("is_sla", {"1": "guaranteed", "0": "best-effort"}),
        priority=column("is_sla", {"1": 7, "0": 1}),
        guaranteed=column("is_sla", {"1": True, "0": False}),
    ),
    _read,
)
