"""What does it take for inference to get its GPUs when demand rises, and what does it cost training?

A parent of 128 GPUs, two teams of 48 and 80 below it that train, and services at the parent whose replicas follow the day.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from benchmarks.measure import Table
from benchmarks.sim.demand import DayCurve, Service, replica_jobs
from benchmarks.sim.shape import DAY_MS, checkpoints, minutes, nodes, percent
from benchmarks.sim.traces import trace
from quotatree.core import (
    Bounds,
    ChildLevel,
    Idle,
    Module,
    Priorities,
    QuotaId,
    QuotaSpec,
    Scope,
    SelfLevel,
    SelfLevels,
    Strategy,
)
from quotatree.sim.loaders import load_trace
from quotatree.sim.metrics import job_metrics
from quotatree.sim.outcome import JobOutcome
from quotatree.sim.result import SimResult, simulate
from quotatree.sim.setup import PRODUCT, JobDefaults, Setup
from quotatree.sim.trace import Trace, TraceJob

GPUS: Final = 128
WEEK_MS: Final = 7 * DAY_MS
PEAK: Final = 48
CURVE: Final = DayCurve(8, PEAK)
SERVICES: Final = (Service("chat", 0.5, 8), Service("ranking", 0.5, 1))
TEAMS: Final = {"small": ("103959", "6214e9"), "large": ("6c71a0", "11cb48", "ed69ec")}
CHILDREN: Final = {"small": 48, "large": 80}
BESIDE_PEAK: Final = {"small": 32, "large": 48}
PARENT, SERVING = QuotaId("company"), QuotaId("serving")
MODULES: Final = frozenset({Module.DLC, Module.DSW})
TAKES_TRAINING: Final = ChildLevel(Priorities(1, 3), MODULES)

TAKES_FROM_SIBLINGS: Final = SelfLevels.of(
    SelfLevel(Priorities(9, 9), Priorities(1, 3), MODULES, Scope.SIBLINGS)
)


class Tree(Enum):
    PARTITION = "inference has nodes of its own for its peak, the teams have the others"
    PARENT = "inference at the parent of the teams"
    SIBLINGS = "inference has a quota for its peak beside the teams"


@dataclass(frozen=True, slots=True)
class Variant:
    """One row. `tree`: where inference stands in relation to the teams."""

    label: str
    baseline: str = PRODUCT
    tree: Tree = Tree.PARENT
    child_level: bool = False
    idle: Idle = Idle.NEVER

    def setup(self, until_ms: int | None) -> Setup:
        where = str(PARENT if self.tree is Tree.PARENT else SERVING)
        pools = [nodes(GPUS // 8)]
        if self.tree is Tree.PARTITION:
            pools = [nodes(PEAK // 8, "serving"), nodes((GPUS - PEAK) // 8, "training")]
        return Setup(
            self.label,
            tuple(node for pool in pools for node in pool),
            self._quotas(),
            baseline=self.baseline,
            teams=(("serving", where), *((vc, team) for team, vcs in TEAMS.items() for vc in vcs)),
            jobs=JobDefaults(idle=self.idle),
            checkpoints=checkpoints(30),
            until_ms=until_ms,
            private_clusters=False,
        )

    def _quotas(self) -> tuple[QuotaSpec, ...]:
        if self.tree is Tree.PARTITION:
            beside = [_child(team, gpus) for team, gpus in BESIDE_PEAK.items()]
            return (
                replace(_root(SERVING, PEAK, "serving"), strategy=Strategy.TRAVERSE),
                _root(PARENT, GPUS - PEAK, "training"),
                *beside,
            )
        if self.tree is Tree.SIBLINGS:
            beside = [_child(team, gpus) for team, gpus in BESIDE_PEAK.items()]
            serving = replace(
                _child(SERVING, PEAK), strategy=Strategy.TRAVERSE, self_level=TAKES_FROM_SIBLINGS
            )
            return (_root(PARENT, GPUS), serving, *beside)
        policy = TAKES_TRAINING if self.child_level else None
        root = replace(_root(PARENT, GPUS), strategy=Strategy.TRAVERSE, child_level=policy)
        return (root, *(_child(team, gpus) for team, gpus in CHILDREN.items()))


def _root(name: str, gpus: int, pool: str = "default") -> QuotaSpec:
    return QuotaSpec(QuotaId(name), draws=((pool, Bounds(gpus * 1000)),))


def _child(name: str, gpus: int) -> QuotaSpec:
    return QuotaSpec(QuotaId(name), PARENT, Bounds(gpus * 1000))


VARIANTS: Final = (
    Variant("static partition: 6 nodes for inference, 10 for training", tree=Tree.PARTITION),
    Variant("one parent, no preemption"),
    Variant("one parent, child-level preemption", child_level=True),
    Variant("the same, and the teams lend each other", child_level=True, idle=Idle.ALLOW),
    Variant("three siblings that lend, self-level preemption", tree=Tree.SIBLINGS, idle=Idle.ALLOW),
    Variant("three siblings that borrow and reclaim, peers' victims (model)", "peers", Tree.SIBLINGS),
    Variant("three siblings that borrow and reclaim, informed victims (model)", "informed", Tree.SIBLINGS),
)


def inference() -> list[Table]:
    jobs = workload()
    training = [job for job in jobs.jobs if job.module == Module.DLC.value]
    demand = sum(job.total_gpu_milli * _in_the_week_ms(job) for job in training) / 1000 / WEEK_MS
    services = [job for job in jobs.jobs if job.module == Module.EAS.value]
    wanted = sum(job.total_gpu_milli * _in_the_week_ms(job) for job in services) / 1000 / WEEK_MS
    table = Table(
        "Inference over training (128 GPUs, one week of Philly below services that follow the day)",
        (
            "", "start mean min", "p95", "max", "never started", "unmet replica-h", "inference GPU-h", "training GPU-h in the week",
            "completion mean h", "evictions", "lost GPU-h", "allocation in the week",
        ),
        note=(
            f"Inference (made up): two services at the parent, each for half of a demand that swings daily between {CURVE.low:.0f} GPUs at "
            f"4:00 and {CURVE.high:.0f} at 16:00 (a cosine); replicas of 8 GPUs and of 1 GPU, one EAS job each, added and withdrawn "
            f"as the curve is looked at every 5 minutes: {len(services)} replicas, {wanted:.0f} GPUs on average, priority 9. Training (real): "
            f"all {len(training):,} jobs of five virtual clusters of Philly, submitted in the week from 2017-10-20, {demand:.0f} GPUs on "
            "average in that week if nobody waited, so that the two together want "
            f"{(demand + wanted) / GPUS:.2f} of the cluster: 103959 and 6214e9 in the child of 48, 6c71a0, 11cb48 and ed69ec in the child of 80; "
            "priority 1, checkpoints every 30 minutes. Unmet: time in which a replica was wanted and did not run. GPU-hours and "
            "allocation are those of the seven days, all other figures of a replay to the end of all jobs. The parent's policy: any job "
            "waiting there may take priorities 1–3, DLC and DSW, of its children (P2). Where inference waits the queue is `traverse`: a replica of 8 GPUs that has to wait does not stop those of one. In the static partition inference has "
            "6 nodes and the teams share 10, as quotas of 32 and 48. Peers have no jobs at a parent: there inference has a quota of 48 beside 32 and "
            "48, everybody borrows what others leave unused, and reclaim ends at the siblings' mins, even when all nodes have a little of their work "
            "and nowhere are 8 GPUs free. A start takes 30 s when somebody has to leave: the grace."
        ),
    )  # fmt: skip
    for variant in VARIANTS:
        week = simulate(variant.setup(WEEK_MS), jobs)
        table.add(variant.label, *_figures(week, simulate(variant.setup(None), jobs)))
    return [table]


def workload() -> Trace:
    """The jobs of five virtual clusters of the week, and the services."""
    week = load_trace(trace("philly-pollux/philly_week_2017-10-20.csv.gz"))
    vcs = {vc for chosen in TEAMS.values() for vc in chosen}
    jobs = [job for job in week.jobs if job.team in vcs]
    for service in SERVICES:
        jobs += replica_jobs(service, CURVE, WEEK_MS, priority=9)
    return Trace(tuple(sorted(jobs, key=lambda job: (job.submit_ms, job.id))), week.source)


def _in_the_week_ms(job: TraceJob) -> int:
    """How long the job would run within the week if it started at once."""
    return min(job.duration_ms, WEEK_MS - job.submit_ms)


def _figures(week: SimResult, whole: SimResult) -> tuple[str, ...]:
    replicas = _of(whole, Module.EAS)
    served = job_metrics(replicas)
    start = served.start
    assert start is not None
    longest_s = max((job.first_start_ms or 0) - job.submit_ms for job in replicas if job.starts) / 1000
    training = job_metrics(_of(whole, Module.DLC))
    assert training.completion is not None
    return (
        minutes(start.mean_s), minutes(start.p95_s), minutes(longest_s),
        str(sum(1 for job in replicas if not job.starts)),
        f"{sum(job.waited_ms for job in replicas) / 3_600_000:.1f}", f"{served.useful_gpu_hours:,.0f}",
        f"{job_metrics(_of(week, Module.DLC)).useful_gpu_hours:,.0f}",
        f"{training.completion.mean_s / 3600:.1f}",
        str(whole.metrics.overall.evictions), f"{whole.metrics.overall.lost_gpu_hours:.1f}",
        percent(week.metrics.cluster.allocation),
    )  # fmt: skip


def _of(result: SimResult, module: Module) -> list[JobOutcome]:
    return [job for job in result.jobs if job.module == module.value]
