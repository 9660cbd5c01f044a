"""What does a full cluster look like? Seeded random clusters, jobs and requests, as neutral data.

An `Instance` says who runs where, since when, when it last saved its work, and what wants to start. `to_problem`
turns it into the exact oracle's plain problem; the planner's own state can be built from the same data. The mix is
that of a busy shared cluster: many small jobs, few large ones that hold most GPUs, a few per cent of the GPUs
free but scattered, and checkpoints of very different age.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple

from exact.problem import WHOLE_GPU, Group, NodeFree, Place, Problem, Unit

GPUS_PER_NODE: Final = 8
SIZES: Final = (1, 2, 4, 8, 16, 32, 64)
SIZE_WEIGHTS: Final = (100, 32, 24, 28, 8, 5, 3)
PRIORITIES: Final = (1, 2, 3, 4, 5)
PRIORITY_WEIGHTS: Final = (40, 25, 15, 12, 8)
REQUESTS: Final = (
    (1, 1), (1, 2), (1, 4), (1, 8),
    (2, 8), (4, 8), (8, 8), (16, 8), (4, 4), (8, 4), (8, 2), (16, 1),
)  # fmt: skip
"""Pairs of replicas and GPUs of each."""

SECOND_MS: Final = 1000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
NOW_MS: Final = 30 * 24 * HOUR_MS
MEAN_CHECKPOINT_AGE_MS: Final = 30 * MINUTE_MS
MEAN_RUNTIME_MS: Final = 6 * HOUR_MS
RESTART_SMALL_MS: Final = 40 * SECOND_MS  # rule P6: up to 8 GPUs
RESTART_LARGE_MS: Final = 60 * SECOND_MS


@dataclass(frozen=True, slots=True)
class InstanceJob:
    """A running job. `layout` lists its nodes with the devices it has there, one replica on each node."""

    id: str
    priority: int
    gpus: int
    layout: tuple[tuple[int, tuple[int, ...]], ...]
    started_ms: int
    checkpoint_ms: int | None
    """When the job last saved; None: never, so all work since its start would be lost."""


class Request(NamedTuple):
    """The job that wants to start: equal replicas, each on one node."""

    replicas: int
    gpus_each: int


@dataclass(frozen=True, slots=True)
class Instance:
    """A full cluster and a request that does not fit without evictions."""

    seed: int
    nodes: int
    gpus_per_node: int
    jobs: tuple[InstanceJob, ...]
    request: Request
    now_ms: int
    quota_free_gpus: int
    """Free GPUs of every quota on the request's path; evictions must free the rest of the request."""


def instance(seed: int, gpus: int, request: tuple[int, int] | None = None) -> Instance:
    """A cluster of `gpus` in 8-GPU nodes, 97 to 100 % full. The same arguments give the same instance.

    An eviction is always needed: a request that fits on free devices finds its quota short.
    """
    random = Random(f"{seed}/{gpus}")
    nodes = gpus // GPUS_PER_NODE
    free = [list(range(GPUS_PER_NODE)) for _ in range(nodes)]
    sizes = _sizes(random, gpus)
    jobs = tuple(
        _job(random, f"job-{number:05}", size, layout)
        for number, (size, layout) in enumerate(_placed(random, free, sizes))
    )
    wants = _request(random, free) if request is None else Request(*request)
    wanted = wants.replicas * wants.gpus_each
    if _fits(free, wants):
        quota_free = random.randrange(wanted)
    else:  # usually the quota is not what is short; sometimes it is as full as the cluster, sometimes fuller
        cluster_free = min(wanted, sum(map(len, free)))
        quota_free = random.choices((wanted, cluster_free, random.randint(0, wanted)), (60, 25, 15))[0]
    return Instance(seed, nodes, GPUS_PER_NODE, jobs, wants, NOW_MS, quota_free)


def instances(count: int, gpus: int, first_seed: int = 0) -> Iterator[Instance]:
    """Yield `count` instances of one cluster size, with rising seeds."""
    return (instance(seed, gpus) for seed in range(first_seed, first_seed + count))


def lost_work(job: InstanceJob, now_ms: int) -> int:
    """The work a training job loses by an eviction (P6), in milli-GPU × milliseconds."""
    overhead_ms = RESTART_SMALL_MS if job.gpus <= 8 else RESTART_LARGE_MS
    saved_ms = job.started_ms if job.checkpoint_ms is None else job.checkpoint_ms
    return (overhead_ms + now_ms - saved_ms) * job.gpus * WHOLE_GPU


def cost(job: InstanceJob, now_ms: int) -> int:
    """The cost of evicting a job (P5): its lost work, doubled for every priority above 1."""
    return lost_work(job, now_ms) << (job.priority - 1)


def to_problem(given: Instance) -> Problem:
    """The instance as a problem of the exact oracle. Every job may be evicted and frees quota on the whole path."""
    free = [[WHOLE_GPU] * given.gpus_per_node for _ in range(given.nodes)]
    units = []
    for job in given.jobs:
        for node, devices in job.layout:
            for device in devices:
                free[node][device] = 0
        units.append(
            Unit(
                id=job.id,
                cost=cost(job, given.now_ms),
                priority=job.priority,
                places=tuple(
                    Place(node, tuple((d, WHOLE_GPU) for d in devices)) for node, devices in job.layout
                ),
                frees_own=job.gpus * WHOLE_GPU,
                frees_all=job.gpus * WHOLE_GPU,
                started_at=job.started_ms,
            )
        )
    deficit = max(0, given.request.replicas * given.request.gpus_each - given.quota_free_gpus) * WHOLE_GPU
    return Problem(
        nodes=tuple(NodeFree(tuple(devices)) for devices in free),
        units=tuple(units),
        groups=(Group(given.request.replicas, given.request.gpus_each * WHOLE_GPU),),
        deficit_own=deficit,
        deficit_all=deficit,
    )


def _sizes(random: Random, gpus: int) -> list[int]:
    """Job sizes that fill 97 to 100 % of the cluster, none above a quarter of it (or one node), large ones first."""
    target = round(gpus * min(1.0, random.uniform(0.97, 1.015)))
    sizes: list[int] = []
    while target > 0:
        size = random.choices(SIZES, SIZE_WEIGHTS)[0]
        if size <= min(target, max(GPUS_PER_NODE, gpus // 4)):
            sizes.append(size)
            target -= size
    return sorted(sizes, key=lambda size: (-max(size, GPUS_PER_NODE), random.random()))


Layout = tuple[tuple[int, tuple[int, ...]], ...]


def _placed(random: Random, free: list[list[int]], sizes: list[int]) -> Iterator[tuple[int, Layout]]:
    """Yield the size and layout of each job, and take its devices out of `free`.

    Jobs larger than a node stand on whole nodes or on half nodes, small ones mostly where they fit best. A job that
    finds no place is replaced by single-GPU jobs, as real clusters are full of them for the same reason.
    """
    for size in sizes:
        each = min(size, GPUS_PER_NODE)
        if size > GPUS_PER_NODE and random.random() < 0.15:
            each = GPUS_PER_NODE // 2
        chosen = _nodes_for(random, free, size // each, each)
        if chosen:
            yield size, _take(free, chosen, each)
        else:
            for _ in range(size):
                yield 1, _take(free, _nodes_for(random, free, 1, 1), 1)


def _take(free: list[list[int]], nodes: list[int], each: int) -> Layout:
    layout = []
    for node in nodes:
        layout.append((node, tuple(free[node][:each])))
        free[node] = free[node][each:]
    return tuple(layout)


def _nodes_for(random: Random, free: list[list[int]], count: int, each: int) -> list[int]:
    fitting = [node for node, devices in enumerate(free) if len(devices) >= each]
    if len(fitting) < count:
        return []
    random.shuffle(fitting)
    if random.random() < 0.8:
        fitting.sort(key=lambda node: len(free[node]))
    return sorted(fitting[:count])


def _request(random: Random, free: list[list[int]]) -> Request:
    """A request of at most half the cluster; three times out of four one that does not fit on free devices."""
    shapes = [Request(*shape) for shape in REQUESTS if 2 * shape[0] * shape[1] <= len(free) * GPUS_PER_NODE]
    blocked = [shape for shape in shapes if not _fits(free, shape)]
    return random.choice(blocked if blocked and random.random() < 0.75 else shapes)


def _fits(free: list[list[int]], wants: Request) -> bool:
    return sum(len(devices) // wants.gpus_each for devices in free) >= wants.replicas


def _job(random: Random, job_id: str, gpus: int, layout: Layout) -> InstanceJob:
    runtime_ms = 1 + round(random.expovariate(1 / MEAN_RUNTIME_MS))
    age_ms = round(random.expovariate(1 / MEAN_CHECKPOINT_AGE_MS))
    saves = random.random() < 0.85 and age_ms < runtime_ms
    return InstanceJob(
        id=job_id,
        priority=random.choices(PRIORITIES, PRIORITY_WEIGHTS)[0],
        gpus=gpus,
        layout=layout,
        started_ms=NOW_MS - runtime_ms,
        checkpoint_ms=NOW_MS - age_ms if saves else None,
    )
