"""Which jobs could have made the counts of Helios Earth? Made up, seeded, with the real load and sizes of each team.

Two streams for each virtual cluster, jobs below 8 GPUs and from 8 on. A stream asks on average for the GPUs that ran of
it in May, as a share of the quota the virtual cluster had then, times the quota it really has on the day: demand is
taken to follow the quota, because nothing else is known of the other months. Arrivals are random; run times are
lognormal as Helios Earth's, but for the shortest: those are many, hold few GPU-hours, and change nothing here.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from benchmarks.sim.helios import Day, Minute, by_day
from benchmarks.sim.shape import DAY_MS
from quotatree.sim.trace import TraceJob

SEED: Final = 1
MEDIAN_S: Final = 234.0
MEAN_S: Final = 5_131.0
"""Median and mean run time of GPU jobs on Earth, from helios_cluster_summary.csv."""
SHORTEST_S: Final = 4 * 3_600.0
LONGEST_S: Final = 14 * 86_400.0
NODE: Final = 8


class Stream(NamedTuple):
    """Jobs of one kind. `load`: mean demand as a share of the quota; `size`: mean GPUs of a job."""

    load: float
    size: float

    def times(self, factor: float) -> Stream:
        return Stream(self.load * factor, self.size)


class Demand(NamedTuple):
    small: Stream
    large: Stream


def demand_of(minutes: Sequence[Minute]) -> Demand:
    """The demand of one virtual cluster, or of several whose minutes are concatenated."""
    quota = fmean(minute.quota for minute in minutes)
    large = fmean(minute.running_large for minute in minutes)
    small = fmean(minute.running for minute in minutes) - large
    jobs_large = fmean(minute.jobs_large for minute in minutes)
    jobs_small = fmean(minute.jobs for minute in minutes) - jobs_large
    return Demand(
        Stream(small / quota, small / jobs_small if jobs_small > 0 else 1.0),
        Stream(large / quota, large / jobs_large if jobs_large > 0 else float(NODE)),
    )


def sizes_around(mean: float, allowed: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """The allowed sizes next to the mean, with the shares that give this mean."""
    below = max((size for size in allowed if size <= mean), default=allowed[0])
    above = min((size for size in allowed if size >= mean), default=allowed[-1])
    if below >= above:
        return ((below, 1.0),)
    share = (mean - below) / (above - below)
    return ((below, 1 - share), (above, share))


def earth_jobs(
    days: Sequence[Day], series: Mapping[str, Sequence[Minute]], factor: float = 1.0
) -> list[TraceJob]:
    """All jobs of all virtual clusters, in order, with `factor` times the load that was seen.

    A virtual cluster without a series is given the demand of all others together.
    """
    usual = demand_of([minute for minutes in series.values() for minute in minutes])
    jobs: list[TraceJob] = []
    for vc in days[0].gpus:
        demand = demand_of(series[vc]) if vc in series else usual
        smallest = min(day.gpus[vc] for day in days if day.gpus[vc])
        large = [size for size in (8, 16, 32, 64) if size <= smallest]
        jobs += _stream_jobs(f"{vc}-s", vc, demand.small.times(factor), (1, 2, 4), days)
        jobs += _stream_jobs(f"{vc}-l", vc, demand.large.times(factor), large, days)
    return sorted(jobs, key=lambda job: (job.submit_ms, job.id))


def _stream_jobs(
    name: str, vc: str, stream: Stream, allowed: Sequence[int], days: Sequence[Day]
) -> Iterator[TraceJob]:
    sizes = sizes_around(stream.size, allowed)
    mean = sum(size * share for size, share in sizes)
    rng = random.Random(f"{SEED}/{name}")
    per_gpu_day = stream.load / mean * 86_400 / mean_run_s()
    peak = max(day.gpus[vc] for day in days) * per_gpu_day
    if peak <= 0:
        return
    quota_on = by_day(days, vc)
    day, number = 0.0, 0
    while True:
        day += rng.expovariate(peak)
        if day >= len(quota_on):
            return
        if rng.random() * peak >= quota_on[int(day)] * per_gpu_day:
            continue
        gpus = sizes[0][0] if rng.random() < sizes[0][1] else sizes[-1][0]
        number += 1
        yield TraceJob(
            f"{name}{number:05}", int(day * DAY_MS), int(run_s(rng) * 1000), max(1, gpus // NODE),
            min(gpus, NODE) * 1000, team=vc,
        )  # fmt: skip


def run_s(rng: random.Random) -> float:
    """A random run time between the bounds, in seconds; others are drawn again."""
    while True:
        drawn_s = math.exp(rng.gauss(math.log(MEDIAN_S), _sigma()))
        if SHORTEST_S <= drawn_s <= LONGEST_S:
            return drawn_s


def mean_run_s() -> float:
    """The mean run time in seconds: that of a lognormal cut off at both ends."""
    low, high = ((math.log(bound) - math.log(MEDIAN_S)) / _sigma() for bound in (SHORTEST_S, LONGEST_S))
    return MEAN_S * (_normal(high - _sigma()) - _normal(low - _sigma())) / (_normal(high) - _normal(low))


def _sigma() -> float:
    """Sigma of the lognormal, whose mean is its median times exp(sigma² / 2)."""
    return math.sqrt(2 * math.log(MEAN_S / MEDIAN_S))


def _normal(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2
