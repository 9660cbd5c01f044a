"""How is a job trace of Acme (Shanghai AI Lab; Hu et al., NSDI'24) read: trace_seren.csv, trace_kalos.csv?

Known from the public documentation of InternLM/AcmeTrace: job_id, user, node_num, gpu_num, cpu_num, type, state,
submit_time, start_time, end_time, duration (s), queue, gpu_time; Kalos adds mem_per_pod_GB, fail_time, stop_time and
others. There is no team column; `type` (pretraining, evaluation …) can be mapped to team, module or priority.
"""

from __future__ import annotations

from quotatree.sim.loaders.collect import Format, Jobs, spread
from quotatree.sim.loaders.table import Table
from quotatree.sim.mapping import Mapping, column


def _read(table: Table, jobs: Jobs) -> None:
    for row in table.rows():
        if row.missing("start_time") or row.missing("end_time") or row.missing("duration"):
            jobs.skip("never ran, or still running")
            continue
        request = spread(
            row.count("gpu_num"), jobs.gpus_per_node, row.count("node_num"), row.milli("cpu_num")
        )
        if not row.missing("mem_per_pod_GB"):
            request = request._replace(memory_mib=round(row.number("mem_per_pod_GB") * 1024))
        jobs.add(row, row.name("job_id"), row.moment_ms("submit_time"), row.milli("duration"), request)


FORMAT = Format(
    "acme",
    (
        "job_id",
        "user",
        "node_num",
        "gpu_num",
        "cpu_num",
        "type",
        "submit_time",
        "start_time",
        "end_time",
        "duration",
    ),
    Mapping(user=column("user")),
    _read,
)
