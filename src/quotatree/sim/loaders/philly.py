"""How is Microsoft's Philly trace (Jeon et al., ATC'19) read from a flat table?

Two spellings of the same table: the one of the Pollux and Sia artifacts (timestamp, duration, num_gpus, gpu_time,
cluster) and a cut of it that counts from its own start (submit_s, duration_s, num_gpus, vc). Neither has ids, users
or priorities: a job is named after its line, so that a report leads back to the file. The virtual cluster is the
team. The original JSON is read by quotatree.sim.loaders.philly_json.
"""

from __future__ import annotations

from quotatree.sim.loaders.collect import Format, Jobs, spread
from quotatree.sim.loaders.table import Table
from quotatree.sim.mapping import Mapping, column


def _read(table: Table, jobs: Jobs) -> None:
    for row in table.rows():
        request = spread(row.count("num_gpus"), jobs.gpus_per_node)
        jobs.add(row, f"philly-{row.line:06}", row.moment_ms("timestamp"), row.milli("duration"), request)


def _read_cut(table: Table, jobs: Jobs) -> None:
    for row in table.rows():
        request = spread(row.count("num_gpus"), jobs.gpus_per_node)
        jobs.add(row, f"philly-{row.line:06}", row.milli("submit_s"), row.milli("duration_s"), request)


FORMAT = Format(
    "philly", ("timestamp", "duration", "num_gpus", "cluster"), Mapping(team=column("cluster")), _read
)
CUT = Format(
    "philly-cut", ("submit_s", "duration_s", "num_gpus", "vc"), Mapping(team=column("vc")), _read_cut
)
