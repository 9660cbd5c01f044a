"""What is it worth that guaranteed work may take best-effort work, and that the scheduler knows what is lost?

Morphling's multi-tenant workload on the cluster it was made for: 8 nodes of 8 GPUs, one quota, guaranteed jobs with
priority 7, best-effort ones with priority 1.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from benchmarks.measure import Table
from benchmarks.sim.shape import HOUR_MS, MINUTE_MS, checkpoints, minutes, nodes, percent
from benchmarks.sim.traces import trace
from quotatree.core import (
    Bounds,
    Idle,
    Module,
    Priorities,
    QuotaId,
    QuotaSpec,
    Scope,
    SelfLevel,
    SelfLevels,
    Settings,
    Strategy,
)
from quotatree.sim.loaders import load_trace
from quotatree.sim.metrics import JobMetrics, Spread
from quotatree.sim.result import SimResult, simulate
from quotatree.sim.setup import PRODUCT, Ignore, JobDefaults, Rule, Setup
from quotatree.sim.trace import Trace
from quotatree.sim.work import CheckpointModel

COPIES: Final = 10
SHIFT_MS: Final = 10 * MINUTE_MS
CLUSTER: Final = "cluster"
TAKES_BEST_EFFORT: Final = SelfLevels.of(
    SelfLevel(Priorities(5, 9), Priorities(1, 1), frozenset({Module.DLC}), Scope.OWN)
)
HABITS: Final = (
    Rule(share=0.5, checkpoint_ms=60 * MINUTE_MS),
    Rule(share=0.4, checkpoint_ms=10 * MINUTE_MS),
)
"""The second rule wins where both apply: 40 % save every 10 minutes, 30 % every hour, 30 % never."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One row. `guaranteed_priority` replaces the trace's 7; `mixed`: jobs have different checkpoint intervals."""

    label: str
    checkpoint_minutes: int | None = 30
    baseline: str = PRODUCT
    preempts: bool = True
    strategy: Strategy = Strategy.TRAVERSE
    guard_ms: int = 0
    guaranteed_priority: int = 7
    best_effort: Idle = Idle.NEVER
    mixed: bool = False

    def setup(self) -> Setup:
        policy = TAKES_BEST_EFFORT if self.preempts else SelfLevels()
        root = QuotaSpec(
            QuotaId(CLUSTER), draws=(("default", Bounds(64_000)),), self_level=policy, strategy=self.strategy
        )
        return Setup(
            self.label,
            nodes(8),
            (root,),
            baseline=self.baseline,
            settings=Settings(starvation_guard_ms=self.guard_ms),
            default_quota=CLUSTER,
            jobs=JobDefaults(ignore=frozenset({Ignore.CPU})),
            rules=(
                Rule(guaranteed=True, priority=((self.guaranteed_priority, 1.0),)),
                Rule(guaranteed=False, idle=self.best_effort),
                *(HABITS if self.mixed else ()),
            ),
            checkpoints=CheckpointModel() if self.mixed else checkpoints(self.checkpoint_minutes),
            private_clusters=False,
        )


def guaranteed() -> list[Table]:
    recorded = load_trace(trace("morphling-multitenant/workload-mt.csv"))
    copies = [recorded, *(shifted(recorded, seed, SHIFT_MS) for seed in range(1, COPIES))]
    return [_victims(copies), _strategies(copies)]


def shifted(recorded: Trace, seed: int, up_to_ms: int) -> Trace:
    """The same jobs, each submitted up to `up_to_ms` earlier or later, but not before 0."""
    rng = random.Random(seed)
    moved = [
        replace(job, submit_ms=max(0, job.submit_ms + rng.randint(-up_to_ms, up_to_ms)))
        for job in recorded.jobs
    ]
    jobs = tuple(sorted(moved, key=lambda job: (job.submit_ms, job.id)))
    return Trace(jobs, f"{recorded.source}, shifted by seed {seed}")


def _victims(copies: Sequence[Trace]) -> Table:
    variants = [Variant("no preemption", None, preempts=False)]
    for interval, mixed in ((None, False), (30, False), (10, False), (None, True)):
        variants.append(Variant("peers' victims (model)", interval, "peers", preempts=False, mixed=mixed))
        variants.append(
            Variant("informed victims (model)", interval, "informed", preempts=False, mixed=mixed)
        )
        variants.append(Variant("QuotaTree's victims", interval, mixed=mixed))
    table = Table(
        f"Guaranteed and best-effort (Morphling workload-mt, 64 GPUs; minutes; means of {COPIES} replays)",
        ("guaranteed preempts best-effort", "checkpoints", *_FIGURES),
        note=(
            "The trace: 406 jobs in 13 hours, 194 of them guaranteed (priority 7), the others best-effort (priority 1); 96 run less "
            "than a second, some hold 48 of the 64 GPUs for hours. One quota, strategy `traverse`, starvation guard off, so that "
            "both rules try the jobs in the same order; without preemption the core and the model give the same figures to the "
            "last digit. One long job starting a moment earlier or later moves every mean, so each row is the mean over the "
            f"trace as recorded and {COPIES - 1} copies with every submission shifted by up to {SHIFT_MS // MINUTE_MS} minutes. "
            "Peers' victims: lowest priority, newest first, until it fits, then whoever is not needed stays; checkpoints do not "
            "count. QuotaTree: the least lost work (P5). Mixed checkpoints: 40 % of the jobs save every 10 minutes, 30 % every hour, 30 % "
            "never. Lost GPU-hours are work done again and restarts. No row evicts guaranteed work, and (looked at with checkpoints every 30 "
            "minutes) after no plan did a guaranteed job wait that taking best-effort work could have started: what is left of its waits is "
            "guaranteed work in its way. That is two minutes more with QuotaTree on average, and more in each of the ten replays. In the one "
            "followed closely a job for five whole nodes waited because small guaranteed jobs, put where the cheapest victims were, stood on "
            "one node more: P5 does not count that."
        ),
    )
    for variant in variants:
        results = _replays(variant, copies)
        table.add(variant.label, _interval(variant), *(figure(results) for figure in _FIGURES.values()))
    return table


def _strategies(copies: Sequence[Trace]) -> Table:
    strict, gentle = Strategy.INTELLIGENT, Strategy.TRAVERSE
    variants = [
        Variant("`traverse`"),
        Variant("`traverse`, best-effort as `idle: only`, no policy", preempts=False, best_effort=Idle.ONLY),
        Variant("`traverse`, starvation guard 60 min", strategy=gentle, guard_ms=HOUR_MS),
        Variant(
            "`intelligent`, guard 60 min, guaranteed at 6", strategy=strict, guard_ms=HOUR_MS, guaranteed_priority=6,
        ),
        Variant("`intelligent`, guard 60 min, guaranteed at 7", strategy=strict, guard_ms=HOUR_MS),
    ]  # fmt: skip
    table = Table(
        "The same with other strategies (QuotaTree's victims, checkpoints every 30 min)",
        ("queue", *_FIGURES),
        note=(
            "From priority 7 on `intelligent` is strictly first come, first served, and a blocked job stops everything behind it "
            "(S4): right for the few jobs nothing may overtake, wrong for half of a cluster's jobs. Guaranteed work that may "
            "pass a blocked neighbour belongs at 6 or below. Best-effort work that is `idle: only` gives way without any policy (I3)."
        ),
    )
    for variant in variants:
        results = _replays(variant, copies)
        table.add(variant.label, *(figure(results) for figure in _FIGURES.values()))
    return table


def _replays(variant: Variant, copies: Sequence[Trace]) -> list[SimResult]:
    setup = variant.setup()
    return [simulate(setup, copy) for copy in copies]


def _interval(variant: Variant) -> str:
    if not variant.preempts and variant.baseline == PRODUCT:
        return "–"
    if variant.mixed:
        return "mixed"
    return "none" if variant.checkpoint_minutes is None else f"{variant.checkpoint_minutes} min"


# -- figures -----------------------------------------------------------------------------------------------------

Figure = Callable[[Sequence[SimResult]], str]


def _of(team: str, result: SimResult) -> JobMetrics:
    return dict(result.metrics.by_team)[team]


def _time(team: str, what: str, part: str) -> Figure:
    def figure(results: Sequence[SimResult]) -> str:
        spreads: list[Spread] = [getattr(_of(team, result), what) for result in results]
        return minutes(fmean(getattr(spread, part) for spread in spreads))

    return figure


_FIGURES: Final[dict[str, Figure]] = {
    "guaranteed: wait mean": _time("guaranteed", "wait", "mean_s"),
    "guaranteed: p50": _time("guaranteed", "wait", "p50_s"),
    "guaranteed: p95": _time("guaranteed", "wait", "p95_s"),
    "guaranteed: p99": _time("guaranteed", "wait", "p99_s"),
    "guaranteed: completion": _time("guaranteed", "completion", "mean_s"),
    "best-effort: wait mean": _time("best-effort", "wait", "mean_s"),
    "best-effort: p95": _time("best-effort", "wait", "p95_s"),
    "best-effort: completion": _time("best-effort", "completion", "mean_s"),
    "evictions": lambda results: f"{fmean(r.metrics.overall.evictions for r in results):.0f}",
    "lost GPU-h": lambda results: f"{fmean(r.metrics.overall.lost_gpu_hours for r in results):.1f}",
    "allocation": lambda results: percent(fmean(r.metrics.cluster.allocation or 0 for r in results)),
    "fruitless": lambda results: str(sum(r.metrics.cluster.fruitless_evictions for r in results)),
}
