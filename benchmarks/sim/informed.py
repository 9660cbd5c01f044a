"""What is left of our advantage once the usual rule knows what we know? Waits and lost work, side by side, on several seeds.

`borrowing, informed victims` is the usual rule, sorted by priority and lost work: it has our knowledge of checkpoints, and
not our search. The month is the one our rules were made on; the samples of another week are not.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from statistics import mean, stdev
from typing import Final

from benchmarks.measure import Table
from benchmarks.sim import philly
from benchmarks.sim.runs import replayed
from benchmarks.sim.traces import trace
from quotatree.core import Strategy
from quotatree.sim.loaders import load_trace
from quotatree.sim.result import SimResult, simulate
from quotatree.sim.setup import PRODUCT
from quotatree.sim.trace import Trace

RULES: Final = ("peers", "informed", PRODUCT)
SCALE: Final = 0.25
SEEDS: Final = (1, 2, 3)
KEPT: Final = 0.9
STUDENT: Final = 4.303
"""Student's t for 95 % with three samples."""


def informed() -> list[Table]:
    equal, _ = replayed([philly.setup(SCALE, name) for name in RULES])
    mixed, _ = replayed([philly.setup(SCALE, name, Strategy.TRAVERSE, philly.MIXED) for name in RULES])
    return [month_table(equal, mixed), samples_table({name: samples(name) for name in RULES})]


def month_table(equal: Sequence[SimResult], mixed: Sequence[SimResult]) -> Table:
    """The table of one month, from the results under each of RULES with equal and with mixed priorities."""
    table = Table(
        f"Philly, October and November 2017, quotas x {SCALE}: the same knowledge for all",
        ("priorities", "scheduler", "wait mean s", "p99", "completion mean s", "evictions", "lost GPU-h"),
        note=(
            "Checkpoint every hour. Equal: strategy `fifo`; mixed: 1 (60 %), 4 (25 %), 8 (15 %), strategy `traverse`, 7-9 may take 1-6 of "
            "their own team. Nearly all of what separates the usual rule from the others is knowing the age of checkpoints. Waits "
            "within some per cent of one another are not told apart by one replay: one job that starts a moment later moves them."
        ),
    )
    for priorities, results in (("equal", equal), ("mixed", mixed)):
        for result in results:
            jobs = result.metrics.overall
            assert jobs.wait is not None
            assert jobs.completion is not None
            table.add(
                priorities, result.label, f"{jobs.wait.mean_s:,.0f}", f"{jobs.wait.p99_s:,.0f}", f"{jobs.completion.mean_s:,.0f}",
                f"{jobs.evictions:,}", f"{jobs.lost_gpu_hours:,.0f}",
            )  # fmt: skip
    return table


def samples(baseline: str) -> list[SimResult]:
    """The results of one rule on each sample of the week, all jobs of one priority."""
    setup = philly.setup(SCALE, baseline)
    return [simulate(setup, sampled(seed)) for seed in SEEDS]


@cache
def sampled(seed: int) -> Trace:
    """The week from 2017-10-20 with each job kept with a chance of KEPT."""
    week = load_trace(trace("philly-pollux/philly_week_2017-10-20.csv.gz"))
    draw = random.Random(seed)
    return Trace(tuple(job for job in week.jobs if draw.random() < KEPT), f"{week.source}, sample {seed}")


def samples_table(found: dict[str, list[SimResult]]) -> Table:
    """The table of the samples, from the results by rule."""
    table = Table(
        f"A week of Philly from 2017-10-20, quotas x {SCALE}: {len(SEEDS)} samples of {100 * KEPT:.0f} % of its jobs",
        ("scheduler", "wait mean s", "±", "evictions", "lost GPU-h", "± ", "lost beside the informed rule"),
        note=(
            "All jobs of one priority, checkpoint every hour, strategy `fifo`. ±: half of the interval of 95 % (Student). The last "
            "column is the mean of the differences, sample by sample, with its own interval."
        ),
    )
    lost = {name: [r.metrics.overall.lost_gpu_hours for r in results] for name, results in found.items()}
    for name, results in found.items():
        waits = [r.metrics.overall.wait.mean_s for r in results if r.metrics.overall.wait is not None]
        beside = [one - other for one, other in zip(lost[name], lost["informed"], strict=True)]
        table.add(
            results[0].label, f"{mean(waits):,.0f}", f"{half_interval(waits):,.0f}",
            f"{mean(r.metrics.overall.evictions for r in results):,.0f}",
            f"{mean(lost[name]):,.1f}", f"{half_interval(lost[name]):,.1f}",
            "–" if name == "informed" else f"{mean(beside):+,.1f} ± {half_interval(beside):,.1f}",
        )  # fmt: skip
    return table


def half_interval(values: Sequence[float]) -> float:
    """Half the width of the interval in which the mean of all samples lies in 95 % of cases, from as many as SEEDS."""
    assert len(values) == len(SEEDS)
    return STUDENT * stdev(values) / len(values) ** 0.5
