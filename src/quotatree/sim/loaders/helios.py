"""How is `cluster_log.csv` of SenseTime's Helios traces (Hu et al., SC'21) read?

Known from the public documentation of S-Lab-System-Group/HeliosData: job_id, user, vc, gpu_num, cpu_num, node_num,
state, submit_time, start_time, end_time, duration (s), queue (s). Jobs of every end state count, failed ones too: they
held their GPUs. Jobs without GPUs are kept.
"""

from __future__ import annotations

from quotatree.sim.loaders.collect import Format, Jobs, spread
from quotatree.sim.loaders.table import Table
from quotatree.sim.mapping import Mapping, column


def _read(table: Table, jobs: Jobs) -> None:
    for row in table.rows():
        if row.missing("start_time") or row.missing("duration"):
            jobs.skip("never ran")
            continue
        request = spread(
            row.count("gpu_num"), jobs.gpus_per_node, row.count("node_num"), row.milli("cpu_num")
        )
        jobs.add(row, row.name("job_id"), row.moment_ms("submit_time"), row.milli("duration"), request)


FORMAT = Format(
    "helios",
    ("job_id", "user", "vc", "gpu_num", "cpu_num", "node_num", "submit_time", "start_time", "duration"),
    Mapping(team=column("vc"), user=column("user")),
    _read,
)
