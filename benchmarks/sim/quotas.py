"""Quota, borrow, reclaim: does sharing bring every team below its wait in a cluster of its own?

11 teams of Philly below one root, at three sizes of the cluster; the same jobs under static quotas, one pool, models of
other schedulers, and QuotaTree.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measure import Picture, Table
from benchmarks.sim import philly
from benchmarks.sim.alone import safety
from benchmarks.sim.counted import Counted, fifo_waits
from benchmarks.sim.runs import Alone, replayed
from quotatree.core import WHOLE_GPU, Strategy
from quotatree.sim.metrics import Spread
from quotatree.sim.report.plots import PLOTS, svg
from quotatree.sim.result import SimResult, quota_gpus
from quotatree.sim.setup import PRODUCT, Setup
from quotatree.sim.trace import TraceJob

SCALES = (0.5, 0.35, 0.25)
KNOWN_S = {0.35: (24_614, 7), 0.25: (116_815, 1_724)}
"""Mean waits in seconds (static, one pool) under strict FIFO with GPUs counted only, as others computed them."""
BASELINES = ("static", "pool-fifo", "borrow", "peers", "informed", PRODUCT)
TIGHT = 0.25
COLUMNS = (
    "scheduler", "wait mean s", "p50", "p95", "p99", "completion mean s", "priority 7-9 start mean s", "p99",
    "allocation %", "evictions", "per 100 starts", "lost GPU-h", "fruitless", "teams that wait no longer than alone",
    "teams done no later than alone", "jobs done > 1 min later than alone", "latest by s",
)  # fmt: skip


def quotas() -> list[Table]:
    tables = [known()]
    tables += [equal_table(scale, *equal_results(scale)) for scale in SCALES]
    return [*tables, mixed_table(*mixed_results())]


# -- the check ---------------------------------------------------------------------------------------------------


def known() -> Table:
    table = Table(
        "Philly, October and November 2017: the load, before anything is simulated",
        ("quotas x", "GPUs", "jobs", "static, known", "in that order", "in file order", "one pool, known",
         "in that order", "in file order"),
        note=(
            "Mean wait in seconds, strict FIFO, GPUs counted and no nodes, by a function that shares nothing with the "
            "simulator. How the known figures rounded quotas and ordered jobs of the same second is not on record: of five "
            "roundings and two orders tried, whole nodes to the nearest with ties by duration gives them exactly. The "
            "simulator has the same quotas and keeps the order of the file. Quotas: 11 virtual clusters, 352 nodes of 8 GPUs "
            "in all, scaled. 7 jobs of 3 further clusters have no quota and are left out; no job is larger than its quota."
        ),
    )  # fmt: skip
    for scale in SCALES:
        gpus = dict(quota_gpus(philly.setup(scale)))
        jobs = [job for job in philly.trace().jobs if job.team in gpus]
        by_file = static_and_pool(jobs, gpus)
        by_duration = static_and_pool(
            sorted(jobs, key=lambda j: (j.submit_ms, j.duration_ms, j.total_gpu_milli, j.team)), gpus
        )
        static, pool = (f"{seconds:,}" for seconds in KNOWN_S[scale]) if scale in KNOWN_S else ("", "")
        table.add(
            scale, f"{sum(gpus.values()):,.0f}", f"{len(jobs):,}",
            static, f"{by_duration[0]:,.0f}", f"{by_file[0]:,.0f}", pool, f"{by_duration[1]:,.0f}", f"{by_file[1]:,.0f}",
        )  # fmt: skip
    return table


def static_and_pool(jobs: list[TraceJob], gpus: dict[str, float]) -> tuple[float, float]:
    """Mean waits in seconds: with each team alone, and with all in one pool."""
    waits: list[int] = []
    for team, own in gpus.items():
        waits += fifo_waits([_counted(job) for job in jobs if job.team == team], int(own))
    pooled = fifo_waits([_counted(job) for job in jobs], int(sum(gpus.values())))
    return sum(waits) / len(waits) / 1000, sum(pooled) / len(pooled) / 1000


def _counted(job: TraceJob) -> Counted:
    return Counted(job.submit_ms, job.duration_ms, job.total_gpu_milli // WHOLE_GPU)


# -- the replays -------------------------------------------------------------------------------------------------


def equal_results(scale: float) -> tuple[list[SimResult], Alone]:
    """The results with all jobs of one priority."""
    results, (alone,) = replayed([philly.setup(scale, name) for name in BASELINES], [philly.setup(scale)])
    return results, alone


def equal_table(scale: float, results: list[SimResult], alone: Alone) -> Table:
    table = Table(
        f"Philly, quotas x {scale}: all jobs of one priority",
        COLUMNS,
        note=(
            "Checkpoint every hour, grace 30 s, strategy `fifo` in every quota and in the private clusters, which have "
            "nodes of their own. QuotaTree: every job has `idle: allow`, no preemption policy. kube-scheduler's rule has "
            "nobody to preempt here and is the row of borrowing without reclaim. At 0.5 nobody waits once anything is shared, "
            "so that table tells sharing from not sharing and nothing else. The pool's row is strict; idle starts and the "
            "models pass a blocked head, so a mean below the pool's is owed to that as well as to quotas. Between QuotaTree "
            "and the peers' rule waits and evictions are about the same; lost work is not, nor is the latest job."
        ),
    )
    _fill(table, [result.label for result in results], results, alone)
    if scale == TIGHT:
        table.pictures += pictures(
            "equal", [result.label for result in results], results, ("waits", "allocation")
        )
    return table


def mixed_setups() -> list[tuple[str, Setup]]:
    """The setups for seeded priorities, each with what to add to its label."""
    names = ("static", "borrow", "peers", "informed", "kube", PRODUCT)
    rows = [("", philly.setup(TIGHT, name, Strategy.TRAVERSE, philly.MIXED)) for name in names]
    default = philly.setup(TIGHT, PRODUCT, Strategy.INTELLIGENT, philly.MIXED)
    return [*rows, (", strategy intelligent", default)]


def mixed_results() -> tuple[list[str], list[SimResult], Alone]:
    rows = mixed_setups()
    results, (alone,) = replayed([setup for _, setup in rows], [rows[0][1]])
    labels = [result.label + more for (more, _), result in zip(rows, results, strict=True)]
    return labels, results, alone


def mixed_table(labels: list[str], results: list[SimResult], alone: Alone) -> Table:
    table = Table(
        f"Philly, quotas x {TIGHT}: priorities 1 (60 %), 4 (25 %) and 8 (15 %)",
        COLUMNS,
        note=(
            "Priorities by one seed, the same in every row. 7-9 may take 1-6 in their own team (self-level, scope own), in "
            "private clusters too; other teams' jobs give way only above their quota. Strategy `traverse`, as the models "
            "skip what does not fit, but for the last row, which is held against the same private clusters. With "
            "`intelligent`, priorities 7-9 are strictly first come, first served (S4), and start later. ADR 0020 was found "
            "by looking at this replay. A team may be safe on average while single jobs are not: see the last two columns."
        ),
    )
    _fill(table, labels, results, alone)
    table.pictures += pictures("priorities", labels, results, ("waits", "evictions"))
    return table


def pictures(
    about: str, labels: list[str], results: list[SimResult], names: tuple[str, ...]
) -> list[Picture]:
    """Plots of the report, in which each run has its label in the table, shortened for a legend."""
    short = [label.replace(" (model)", "").replace("strategy ", "") for label in labels]
    named = [replace(result, name=name) for name, result in zip(short, results, strict=True)]
    found = []
    for plot in PLOTS:
        drawn = svg(plot, named) if plot.name in names else None
        if drawn is not None:
            found.append(
                Picture(f"philly-{about}-{plot.name}", f"{plot.title}: Philly, quotas x {TIGHT}", drawn)
            )
    return found


def _fill(table: Table, labels: list[str], results: list[SimResult], alone: Alone) -> None:
    for label, result in zip(labels, results, strict=True):
        cluster, jobs = result.metrics.cluster, result.metrics.overall
        assert jobs.wait is not None
        assert jobs.completion is not None
        safe = safety(result.jobs, alone)
        table.add(
            label, *_spread(jobs.wait), f"{jobs.completion.mean_s:,.0f}", *_urgent(cluster.high_priority_start),
            f"{100 * (cluster.allocation or 0):.1f}", f"{jobs.evictions:,}", f"{100 * (jobs.evictions_per_start or 0):.2f}",
            f"{jobs.lost_gpu_hours:,.0f}", cluster.fruitless_evictions, f"{safe.by_wait}/{safe.teams}",
            f"{safe.by_completion}/{safe.teams}", f"{safe.late_jobs:,}", f"{safe.latest_s:,.0f}",
        )  # fmt: skip


def _spread(times: Spread) -> tuple[str, str, str, str]:
    return f"{times.mean_s:,.0f}", f"{times.p50_s:,.0f}", f"{times.p95_s:,.0f}", f"{times.p99_s:,.0f}"


def _urgent(times: Spread | None) -> tuple[str, str]:
    return ("–", "–") if times is None else (f"{times.mean_s:,.0f}", f"{times.p99_s:,.0f}")
