"""Full clusters of equal jobs for the speed benchmarks, as instances: every GPU taken, checkpoints of all ages."""

from __future__ import annotations

from random import Random

from benchmarks.instances import GPUS_PER_NODE, HOUR_MS, NOW_MS, Instance, InstanceJob, Request


def full_cluster(
    nodes: int, gpus_each: int, request: tuple[int, int], priorities: tuple[int, ...], seed: int
) -> Instance:
    """A cluster of `nodes` 8-GPU nodes full of jobs of `gpus_each` GPUs; the quota has nothing free either.

    `request` is (replicas, GPUs of each).
    """
    random = Random(f"full/{nodes}/{gpus_each}/{seed}")
    jobs: list[InstanceJob] = []
    for node in range(nodes):
        for first in range(0, GPUS_PER_NODE, gpus_each):
            started = NOW_MS - random.randrange(HOUR_MS, 30 * HOUR_MS)
            devices = tuple(range(first, first + gpus_each))
            jobs.append(
                InstanceJob(
                    f"job-{len(jobs):06}", random.choice(priorities), gpus_each, ((node, devices),), started,
                    NOW_MS - random.randrange(HOUR_MS),
                )
            )  # fmt: skip
    return Instance(seed, nodes, GPUS_PER_NODE, tuple(jobs), Request(*request), NOW_MS, 0)
