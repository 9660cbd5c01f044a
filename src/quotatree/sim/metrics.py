"""Was it worth it? Waits, lost work, use of the cluster and fairness, as numbers with one definition each.

Every metric is defined in docs/reference/metrics.md under the name of its field; a test compares the two. Percentiles
are by nearest rank: a value that some job really had. A number that nothing speaks for is None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from quotatree.sim.outcome import End, JobOutcome
from quotatree.sim.timeline import Timeline

GPU_HOUR = 1000 * 3_600_000
"""One GPU-hour in milli-GPU x milliseconds."""
SAFE_WITHIN_S = 1.0
"""A team counts as safe if its mean wait exceeds the wait alone by no more than this."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution of times, in seconds."""

    mean_s: float
    p50_s: float
    p95_s: float
    p99_s: float


@dataclass(frozen=True, slots=True)
class JobMetrics:
    """Numbers over a set of jobs: all of them, or those of one team, module or priority."""

    jobs: int
    done: int
    refused: int
    cut_off: int
    withdrawn: int
    unfinished: int
    wait: Spread | None
    start: Spread | None
    completion: Spread | None
    starts: int
    evictions: int
    moves: int
    evictions_per_start: float | None
    evicted_share: float | None
    useful_gpu_hours: float
    lost_gpu_hours: float
    paused_gpu_hours: float
    leaving_gpu_hours: float
    goodput: float | None


@dataclass(frozen=True, slots=True)
class ClusterMetrics:
    """Numbers over the cluster as a whole. Shares are fractions of 1."""

    hours: float
    allocation: float | None
    utilisation: float | None
    contended_share: float | None
    contended_allocation: float | None
    fragmentation: float | None
    high_priority_start: Spread | None
    fairness: float | None
    teams_safe: int | None
    teams_compared: int | None
    fruitless_evictions: int
    alarms: int


@dataclass(frozen=True, slots=True)
class TeamSafety:
    """Mean waits of one quota's jobs here and in a cluster of its own (quotatree.sim.private).

    Both means are over the `jobs` that started in both.
    """

    quota: str
    quota_gpus: float
    jobs: int
    wait_mean_s: float
    private_wait_mean_s: float

    @property
    def safe(self) -> bool:
        return self.wait_mean_s <= self.private_wait_mean_s + SAFE_WITHIN_S


@dataclass(frozen=True, slots=True)
class Metrics:
    """All metrics of a run. Groups are sorted by name; `safety` is empty if no private clusters were simulated."""

    cluster: ClusterMetrics
    overall: JobMetrics
    by_team: tuple[tuple[str, JobMetrics], ...]
    by_module: tuple[tuple[str, JobMetrics], ...]
    by_priority: tuple[tuple[str, JobMetrics], ...]
    safety: tuple[TeamSafety, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """What the replay counted besides the jobs, and what the metrics need to know of the setup."""

    fruitless_evictions: int
    alarms: int
    high_priority: int
    quota_gpus: tuple[tuple[str, float], ...]  # of quotas without children


def measure(
    jobs: Sequence[JobOutcome],
    timeline: Timeline,
    counted: Counted,
    private_waits: dict[str, int] | None = None,
) -> Metrics:
    """All metrics of a run.

    `private_waits` maps each job that started in its team's own cluster to its wait there in ms; None: not compared.
    """
    safety = team_safety(jobs, counted, private_waits) if private_waits is not None else ()
    return Metrics(
        _cluster(jobs, timeline, counted, safety if private_waits is not None else None),
        job_metrics(jobs),
        _grouped(jobs, lambda job: job.team),
        _grouped(jobs, lambda job: job.module),
        _grouped(jobs, lambda job: str(job.priority)),
        safety,
    )


def job_metrics(jobs: Sequence[JobOutcome]) -> JobMetrics:
    started = [job for job in jobs if job.first_start_ms is not None]
    done = [job for job in jobs if job.end is End.DONE]
    starts, evictions = sum(job.starts for job in jobs), sum(job.evictions for job in jobs)
    evicted = sum(1 for job in started if job.evictions)
    allocated = sum(job.allocated for job in jobs)
    useful = sum(job.useful for job in jobs)
    return JobMetrics(
        jobs=len(jobs),
        done=len(done),
        refused=sum(1 for job in jobs if job.end is End.REFUSED),
        cut_off=sum(1 for job in jobs if job.end in (End.STOPPED, End.FAILED)),
        withdrawn=sum(1 for job in jobs if job.end is End.WITHDRAWN),
        unfinished=sum(1 for job in jobs if job.end in (End.RUNNING, End.WAITING)),
        wait=spread(job.waited_ms for job in started),
        start=spread(_start_ms(job) for job in started),
        completion=spread((job.end_ms or 0) - job.submit_ms for job in done),
        starts=starts,
        evictions=evictions,
        moves=sum(job.moves for job in jobs),
        evictions_per_start=_ratio(evictions, starts),
        evicted_share=_ratio(evicted, len(started)),
        useful_gpu_hours=useful / GPU_HOUR,
        lost_gpu_hours=sum(job.lost for job in jobs) / GPU_HOUR,
        paused_gpu_hours=sum(job.paused for job in jobs) / GPU_HOUR,
        leaving_gpu_hours=sum(job.leaving for job in jobs) / GPU_HOUR,
        goodput=_ratio(useful, allocated),
    )


def spread(times_ms: Iterable[int]) -> Spread | None:
    ordered = sorted(times_ms)
    if not ordered:
        return None
    mean_s = sum(ordered) / len(ordered) / 1000
    return Spread(mean_s, *(_rank(ordered, percent) / 1000 for percent in (50, 95, 99)))


def jain(shares: Sequence[float]) -> float | None:
    """Jain's index: 1 if all shares are equal, 1/n if one has everything; None if all are 0 or there are none."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else None


def team_safety(
    jobs: Sequence[JobOutcome], counted: Counted, private_waits: dict[str, int]
) -> tuple[TeamSafety, ...]:
    found = []
    for quota, gpus in counted.quota_gpus:
        both = [
            (job.waited_ms, private_waits[job.id])
            for job in jobs
            if job.quota == quota and job.first_start_ms is not None and job.id in private_waits
        ]
        if both:
            here, alone = (sum(column) / len(both) / 1000 for column in zip(*both, strict=True))
            found.append(TeamSafety(quota, gpus, len(both), here, alone))
    return tuple(found)


def _cluster(
    jobs: Sequence[JobOutcome], timeline: Timeline, counted: Counted, safety: Sequence[TeamSafety] | None
) -> ClusterMetrics:
    span_ms = timeline.until_ms - timeline.from_ms
    fragments = [sample.fragmented / sample.capacity for sample in timeline.samples if sample.capacity]
    urgent = [
        _start_ms(job)
        for job in jobs
        if job.priority >= counted.high_priority and job.first_start_ms is not None
    ]
    return ClusterMetrics(
        hours=span_ms / 3_600_000,
        allocation=_ratio(timeline.running, timeline.capacity),
        utilisation=_ratio(sum(job.useful for job in jobs), timeline.capacity),
        contended_share=_ratio(timeline.contended_ms, span_ms),
        contended_allocation=_ratio(timeline.contended_running, timeline.contended_capacity),
        fragmentation=_ratio(sum(fragments), len(fragments)),
        high_priority_start=spread(urgent),
        fairness=jain(_services(jobs, timeline, counted)),
        teams_safe=None if safety is None else sum(1 for team in safety if team.safe),
        teams_compared=None if safety is None else len(safety),
        fruitless_evictions=counted.fruitless_evictions,
        alarms=counted.alarms,
    )


def _services(jobs: Sequence[JobOutcome], timeline: Timeline, counted: Counted) -> list[float]:
    """For each quota with GPUs and jobs: the mean share of its guarantee that it held while it had unfinished jobs."""
    found = []
    for quota, gpus in counted.quota_gpus:
        mine = [job for job in jobs if job.quota == quota and job.end is not End.REFUSED]
        busy_ms = _covered_ms([(job.submit_ms, job.end_ms or timeline.until_ms) for job in mine])
        if gpus and busy_ms:
            held = sum(job.allocated - job.leaving for job in mine)
            found.append(held / (gpus * 1000 * busy_ms))
    return found


def _covered_ms(spans: Iterable[tuple[int, int]]) -> int:
    """The total time in which at least one of the spans lasted."""
    covered = until = 0
    for first, last in sorted(spans):
        first = max(first, until)
        if last > first:
            covered += last - first
            until = last
    return covered


def _grouped(
    jobs: Sequence[JobOutcome], key: Callable[[JobOutcome], str]
) -> tuple[tuple[str, JobMetrics], ...]:
    groups: dict[str, list[JobOutcome]] = {}
    for job in jobs:
        groups.setdefault(key(job), []).append(job)
    return tuple((name, job_metrics(groups[name])) for name in sorted(groups))


def _start_ms(job: JobOutcome) -> int:
    assert job.first_start_ms is not None
    return job.first_start_ms - job.submit_ms


def _rank(ordered: Sequence[int], percent: int) -> int:
    return ordered[-(-len(ordered) * percent // 100) - 1]


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
