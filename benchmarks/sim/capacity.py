"""What does it cost to move capacity between teams, and what would lending alone have given?

The quotas of Helios Earth, as they really changed over six months, scaled in the simulator; the jobs are made up
(benchmarks.sim.earth_jobs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.measure import Table
from benchmarks.sim.earth_jobs import NODE, earth_jobs
from benchmarks.sim.helios import Day, Sharing, changes, read_days, read_series, sharing
from benchmarks.sim.shape import DAY_MS, HOUR_MS, checkpoints, nodes, percent
from quotatree.core import Bounds, Code, Idle, NodeState, QuotaId, QuotaSpec
from quotatree.core.events import Event, NodeChanged, NodeJoined, QuotaScaled, ScaleMode
from quotatree.sim.metrics import job_metrics
from quotatree.sim.outcome import End
from quotatree.sim.result import SimResult, simulate
from quotatree.sim.setup import JobDefaults, Rule, Setup, TimedEvents
from quotatree.sim.trace import Trace

ROOT: Final = QuotaId("earth")
POOL: Final = "default"
LOADS: Final = (1.0, 1.4)
APPLIED_AT_MS: Final = 9 * HOUR_MS
"""The time of day at which a day's table takes effect: 9 o'clock."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table. `mode` None: quotas stay as on the first day."""

    label: str
    mode: ScaleMode | None
    idle: Idle = Idle.NEVER

    def setup(self, days: Sequence[Day]) -> Setup:
        first = days[0]
        without = tuple(vc for vc, gpus in first.gpus.items() if not gpus)
        children = [QuotaSpec(QuotaId(vc), ROOT, Bounds(gpus * 1000)) for vc, gpus in first.gpus.items()]
        frozen = self.mode is None
        return Setup(
            self.label,
            nodes(first.total // NODE),
            (QuotaSpec(ROOT, draws=((POOL, Bounds(first.total * 1000)),)), *children),
            jobs=JobDefaults(idle=self.idle),
            rules=(Rule(teams=without, idle=Idle.ONLY),) if frozen and without else (),
            checkpoints=checkpoints(30),
            timeline=tuple(timeline(days, self.mode)),
            until_ms=(days[-1].number + 1) * DAY_MS,
            private_clusters=False,
        )


VARIANTS: Final = (
    Variant("moved, `refuse`: tried again every day", ScaleMode.REFUSE),
    Variant("moved, `lazy`", ScaleMode.LAZY),
    Variant("moved, `reclaim`", ScaleMode.RECLAIM),
    Variant("moved, `reclaim`, and idle capacity is lent", ScaleMode.RECLAIM, Idle.ALLOW),
    Variant("never moved, idle capacity is lent", None, Idle.ALLOW),
)


def capacity() -> list[Table]:
    days, series = read_days(), read_series()
    tables = [_counts(sharing(series.values()))]
    for factor in LOADS:
        jobs = Trace(tuple(earth_jobs(days, series, factor)), "made up after Helios Earth")
        tables.append(_moves(days, jobs, factor))
    return tables


def timeline(days: Sequence[Day], mode: ScaleMode | None) -> Iterator[TimedEvents]:
    """Yield the steps that apply each day's table, from the second day on.

    Of one day: nodes that join, quotas from the largest decrease to the largest increase, nodes that leave. The table is
    applied every day, so that refused steps are tried again. Steps are independent: a refused one does not stop the
    others, but nodes leave only if the root could be scaled.
    """
    there = days[0].total // NODE
    before = days[0]
    for day in days[1:]:
        at_ms, wanted = day.number * DAY_MS + APPLIED_AT_MS, day.total // NODE
        if wanted > there:
            joined = [NodeJoined(node) for node in nodes(wanted)[there:]]
            yield TimedEvents(at_ms, (*joined, _root(day, ScaleMode.REFUSE)), f"{day.date} grow")
        if mode is not None:
            for vc in sorted(day.gpus, key=lambda vc: (day.gpus[vc] - before.gpus[vc], vc)):
                if any(other.gpus[vc] != days[0].gpus[vc] for other in days):
                    scaled = QuotaScaled(vc, Bounds(day.gpus[vc] * 1000), mode=mode)
                    yield TimedEvents(at_ms, (scaled,), f"{day.date} {vc}")
        if wanted < there:
            gone: list[Event] = [NodeChanged(node.name, NodeState.DRAINING) for node in nodes(there)[wanted:]]
            gone += [NodeChanged(node.name, NodeState.LOST) for node in nodes(there)[wanted:]]
            shrunk = _root(day, mode or ScaleMode.REFUSE)
            yield TimedEvents(at_ms, (shrunk, *gone), f"{day.date} shrink")
        there, before = wanted, day


def _root(day: Day, mode: ScaleMode) -> QuotaScaled:
    return QuotaScaled(str(ROOT), draws=((POOL, Bounds(day.total * 1000)),), mode=mode)


def _counts(seen: Sharing) -> Table:
    table = Table(
        "Helios Earth in May 2020, counted (16 virtual clusters, real)", ("what", "seen"),
        note=(
            "From the published series of every minute, without a simulation: GPUs in use, asked for and idle in each virtual cluster. "
            "It counts GPUs and is blind to nodes, so it is the most that lending could give."
        ),
    )  # fmt: skip
    table.add("GPUs of all quotas", f"{seen.quota:.0f}")
    table.add("allocated", percent(seen.allocated))
    table.add("GPUs asked for that wait, on average", f"{seen.pending:.1f}")
    table.add("GPUs idle in other quotas meanwhile, on average", f"{seen.idle:.0f}")
    table.add("minutes in which demand waits", percent(seen.waits))
    table.add("waiting GPU-minutes that idle GPUs could have served", percent(seen.fits))
    table.add("allocated if they had", percent(seen.allocated_if_shared))
    return table


def _moves(days: Sequence[Day], jobs: Trace, factor: float) -> Table:
    load = f", {factor} times the load" if factor != 1 else ""
    table = Table(
        f"Moving capacity: the {len(changes(days))} quota changes of Helios Earth, April to September 2020{load}",
        (
            "quotas", "decreases accepted at once", "later", "never", "evictions by scaling", "returns", "idle taken back", "drained",
            "lost GPU-h", "wait mean h", "p95 h", "mean h of new teams", "waiting at the end", "useful GPU-h", "allocation",
        ),
        note=_says(days, jobs) if factor == 1 else f"As above, with {len(jobs.jobs):,} jobs: what happens when there is less to lend.",
    )  # fmt: skip
    for variant in VARIANTS:
        result = simulate(variant.setup(days), jobs)
        table.add(variant.label, *_applied(days, variant, result), *_figures(days, result))
    return table


def _says(days: Sequence[Day], jobs: Trace) -> str:
    totals = [day.total for day in days]
    return (
        f"Real: the quotas of {len(days[0].gpus)} virtual clusters on {len(days)} days (2020-05-09 is left out: an artefact) and the size "
        f"of the cluster, {min(totals)} to {max(totals):,} GPUs; nodes of {NODE} join and are drained with it. Made up: the jobs, "
        f"{len(jobs.jobs):,} of them, seeded; each virtual cluster asks for the share of its quota that ran in May, split at 8 GPUs and "
        "with the mean sizes of May (those without a series: like all others together); run times are lognormal with the median and mean of "
        "Earth, but only those of 4 hours to 14 days, which hold most GPU-hours. Demand follows the real quota, which is kind to moving: "
        "whoever loses its quota asks for nothing more from that day on. Checkpoints every 30 minutes, one priority, strategies and guard as "
        "shipped. Each day's table is put in force at 9:00; decreases are counted, increases always pass once the decreases have. `lazy`: "
        "work above the new quota runs on, and would be taken by returns (P15) if others needed it. Never moved: the quotas of 1 April for six "
        "months, and whoever had none then (new teams) runs on idle capacity alone, without any guarantee. Waiting at the end, where nothing "
        "is lent: above all jobs of virtual clusters whose quota went to 0."
    )


def _applied(days: Sequence[Day], variant: Variant, result: SimResult) -> tuple[str, str, str]:
    """How many decreases took effect on their day, on a later day, and never while the table asked for them."""
    if variant.mode is None:
        return ("–", "–", "–")
    refused = {refusal.what for refusal in result.refusals}
    at_once = later = never = 0
    moves = changes(days)
    for change in moves:
        if change.after > change.before:
            continue
        over = [m.day.number for m in moves if m.vc == change.vc and m.day.number > change.day.number]
        until = min(over, default=days[-1].number + 1)
        tries = [f"{d.date} {change.vc}" for d in days if change.day.number <= d.number < until]
        if tries[0] not in refused:
            at_once += 1
        elif all(label in refused for label in tries):
            never += 1
        else:
            later += 1
    return (str(at_once), str(later), str(never))


def _figures(days: Sequence[Day], result: SimResult) -> tuple[str, ...]:
    whole = result.metrics.overall
    by_code = {code: sum(1 for taken in result.taken if taken.code is code) for code in Code}
    new = job_metrics([job for job in result.jobs if not days[0].gpus[job.team]])
    assert whole.wait is not None
    assert new.wait is not None
    return (
        str(by_code[Code.ScaleReclaim]), str(by_code[Code.ReturnOfLoan]), str(by_code[Code.IdleTakenBack]),
        str(by_code[Code.NodeDrained]), f"{whole.lost_gpu_hours:,.0f}",
        f"{whole.wait.mean_s / 3600:.1f}", f"{whole.wait.p95_s / 3600:.1f}", f"{new.wait.mean_s / 3600:.1f}",
        str(sum(1 for job in result.jobs if job.end is End.WAITING)), f"{whole.useful_gpu_hours:,.0f}",
        percent(result.metrics.cluster.allocation),
    )  # fmt: skip
