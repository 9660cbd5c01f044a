"""What would a busy GPU cluster be asked for, if we have no trace of it? A seeded answer, the same for every run.

Arrivals follow the hour and the weekday; durations are lognormal, so that a few jobs hold most of the GPU-hours; sizes,
teams, priorities and modules are drawn by weight. How often a job saves its state is a habit of its user. The numbers
a SyntheticSpec starts with are of the kind the public traces show: most jobs take one GPU for minutes, most
GPU-hours go to a few large ones.

Jobs come out in the order of their submission, one at a time: a million of them need not be in memory.
"""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Any, Final, Generic, TypeVar

from quotatree.core import HIGHEST_PRIORITY, LOWEST_PRIORITY, WHOLE_GPU, Module, Refused
from quotatree.sim.trace import Trace, TraceJob

T = TypeVar("T")
DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class SyntheticSpec:
    """Parameters of a synthetic trace. Weighted choices are (value, weight) pairs; the weights may have any sum.

    `diurnal_depth` 0 makes all hours alike; 1 leaves the hour opposite to `peak_hour` without arrivals. The trace
    begins on a Monday at midnight; `weekend_factor` scales the arrivals of Saturday and Sunday. `sizes` are milli-GPU
    of the whole job; a job larger than one node is spread over equal replicas. A job of n GPUs runs
    n^`size_exponent` times as long as a job of 1. `checkpoints` are intervals in seconds, 0 for users who save nothing.
    """

    seed: int = 1
    jobs: int = 10_000
    days: float = 7.0
    diurnal_depth: float = 0.6
    peak_hour: float = 15.0
    weekend_factor: float = 0.5
    duration_median_s: float = 600.0
    duration_sigma: float = 2.0
    duration_max_s: float = 14.0 * DAY_S
    size_exponent: float = 0.3
    sizes: tuple[tuple[int, float], ...] = (
        (250, 2.0),
        (500, 3.0),
        (1_000, 65.0),
        (2_000, 8.0),
        (4_000, 8.0),
        (8_000, 10.0),
        (16_000, 2.5),
        (32_000, 1.0),
        (64_000, 0.5),
    )
    teams: tuple[tuple[str, float], ...] = (
        ("vision", 5.0),
        ("speech", 3.0),
        ("search", 2.0),
        ("research", 1.0),
    )
    users_per_team: int = 12
    priorities: tuple[tuple[int, float], ...] = ((1, 60.0), (3, 20.0), (5, 12.0), (7, 6.0), (9, 2.0))
    modules: tuple[tuple[str, float], ...] = (("DLC", 85.0), ("DSW", 12.0), ("EAS", 3.0))
    checkpoints: tuple[tuple[int, float], ...] = ((0, 30.0), (600, 20.0), (3_600, 50.0))
    gpus_per_node: int = 8
    cpu_milli_per_gpu: int = 8_000
    memory_mib_per_gpu: int = 65_536

    def __post_init__(self) -> None:
        for name in (
            "jobs",
            "days",
            "duration_median_s",
            "duration_max_s",
            "users_per_team",
            "gpus_per_node",
        ):
            _check(getattr(self, name) > 0, name, getattr(self, name), "must be above 0")
        for name in ("weekend_factor", "duration_sigma", "cpu_milli_per_gpu", "memory_mib_per_gpu"):
            _check(getattr(self, name) >= 0, name, getattr(self, name), "must be 0 or more")
        _check(0 <= self.diurnal_depth <= 1, "diurnal_depth", self.diurnal_depth, "must be 0 to 1")
        for name in ("sizes", "teams", "priorities", "modules", "checkpoints"):
            weights = [weight for _, weight in getattr(self, name)]
            fine = weights and min(weights) >= 0 and sum(weights) > 0
            _check(bool(fine), name, getattr(self, name), "needs weights of 0 or more, and one above 0")
        for size, _ in self.sizes:
            whole = size % WHOLE_GPU == 0
            _check(
                size >= 0 and (whole or size < WHOLE_GPU),
                "sizes",
                size,
                "must be whole GPUs or a part of one",
            )
        for priority, _ in self.priorities:
            _check(LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY, "priorities", priority, "must be 1 to 9")
        for module, _ in self.modules:
            _check(module in _MODULES, "modules", module, f"must be one of {', '.join(_MODULES)}")


def generate(spec: SyntheticSpec) -> Trace:
    """The whole trace at once, in memory."""
    return Trace(tuple(stream(spec)), f"synthetic, seed {spec.seed}")


def stream(spec: SyntheticSpec) -> Iterator[TraceJob]:
    """Yield the jobs one by one, in the order of submission."""
    rng = random.Random(spec.seed)
    sizes, priorities, modules = _Draw(spec.sizes), _Draw(spec.priorities), _Draw(spec.modules)
    shapes = {size: _shape(spec, size) for size, _ in spec.sizes}
    users, members = _users(spec, rng)
    median_log = math.log(spec.duration_median_s)
    width = len(str(spec.jobs - 1))
    arrivals = _arrivals_ms(spec, rng)
    for number in range(spec.jobs):
        submit_ms = next(arrivals)
        team, user, habit_ms = users.of(rng)[int(rng.random() * members)]
        module, size = modules.of(rng), sizes.of(rng)
        if module == Module.DSW.value and size > WHOLE_GPU:
            size = _notebook_size(spec)  # an interactive session rarely uses several GPUs
        replicas, gpu_milli, cpu_milli, memory_mib, log_factor = shapes[size]
        run_s = math.exp(rng.gauss(median_log + log_factor, spec.duration_sigma))
        yield TraceJob(
            id=f"job-{number:0{width}}",
            submit_ms=submit_ms,
            duration_ms=max(1_000, int(min(run_s, spec.duration_max_s) * 1000)),
            replicas=replicas,
            gpu_milli=gpu_milli,
            cpu_milli=cpu_milli,
            memory_mib=memory_mib,
            team=team,
            user=user,
            module=module,
            priority=priorities.of(rng),
            models=(),
            checkpoint_interval_ms=habit_ms if module == Module.DLC.value else None,
        )


def spec_from_table(table: dict[str, Any]) -> SyntheticSpec:
    """Read a spec from a TOML table of its fields; weighted choices are lists of [value, weight]. Raises Refused."""
    known: dict[str, Any] = {field.name: field.default for field in fields(SyntheticSpec)}
    chosen: dict[str, Any] = {}
    for name, value in table.items():
        _check(name in known, name, value, f"is not known; known are {', '.join(known)}")
        given = known[name]
        chosen[name] = (
            _pairs(name, value, given[0]) if isinstance(given, tuple) else _number(name, value, given)
        )
    return SyntheticSpec(**chosen)


def _pairs(name: str, value: Any, example: tuple[Any, float]) -> tuple[tuple[Any, float], ...]:
    well = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    fine = well and all(type(item) is type(example[0]) and _is_number(weight) for item, weight in value)
    _check(fine, name, value, f"must be a list of pairs such as {list(example)}")
    return tuple((item, float(weight)) for item, weight in value)


def _number(name: str, value: Any, example: float) -> Any:
    fine = _is_number(value) and not (isinstance(example, int) and isinstance(value, float))
    _check(fine, name, value, f"must be a number such as {example}")
    return value


class _Draw(Generic[T]):
    """A weighted choice that uses one random number for each draw."""

    __slots__ = ("_items", "_bounds", "_total")

    def __init__(self, pairs: Sequence[tuple[T, float]]) -> None:
        self._items = [item for item, weight in pairs if weight > 0]
        self._bounds = list(accumulate(weight for _, weight in pairs if weight > 0))
        self._total = self._bounds.pop()

    def of(self, rng: random.Random) -> T:
        return self._items[bisect(self._bounds, rng.random() * self._total)]


def _arrivals_ms(spec: SyntheticSpec, rng: random.Random) -> Iterator[int]:
    """Yield Poisson arrivals whose rate follows day and week (by thinning); on average `jobs` of them in `days`."""
    shape = [_rate(spec, hour) for hour in range(7 * 24)]
    peak = max(shape)
    hours = max(1, math.ceil(spec.days * 24))
    mean = sum(shape[hour % len(shape)] for hour in range(hours)) / hours
    _check(mean > 0, "weekend_factor", spec.weekend_factor, "leaves no hour in which jobs arrive")
    peak_per_s = spec.jobs / (spec.days * DAY_S) * peak / mean
    keep = [rate / peak for rate in shape]
    at_s = 0.0
    while True:
        at_s += rng.expovariate(peak_per_s)
        if rng.random() < keep[int(at_s // 3600) % len(keep)]:
            yield int(at_s * 1000)


def _rate(spec: SyntheticSpec, hour_of_week: int) -> float:
    """Relative rate of arrivals in an hour; its mean over a weekday is 1."""
    day, hour = divmod(hour_of_week, 24)
    wave = 1 + spec.diurnal_depth * math.cos((hour + 0.5 - spec.peak_hour) / 24 * math.tau)
    return wave * (spec.weekend_factor if day >= 5 else 1.0)


def _users(spec: SyntheticSpec, rng: random.Random) -> tuple[_Draw[list[tuple[str, str, int | None]]], int]:
    """A draw that returns a team's users as (team, user, checkpoint interval in ms), and the number of users per team.

    Every user keeps one interval; None saves nothing.
    """
    habits = _Draw(spec.checkpoints)
    teams = []
    for team, weight in spec.teams:
        names = [f"{team}-{number:02}" for number in range(spec.users_per_team)]
        teams.append(([(team, name, habits.of(rng) * 1000 or None) for name in names], weight))
    return _Draw(teams), spec.users_per_team


def _shape(spec: SyntheticSpec, size: int) -> tuple[int, int, int, int, float]:
    """Replicas; milli-GPU, milli-CPU and MiB of each; and what the size adds to the logarithm of the duration."""
    gpus = -(-size // WHOLE_GPU)
    replicas = max(1, -(-gpus // spec.gpus_per_node))
    gpu_milli = size if size < WHOLE_GPU else -(-gpus // replicas) * WHOLE_GPU
    # Work without GPUs is given the CPUs and the memory that would go with one.
    share = gpu_milli or WHOLE_GPU
    cpu_milli, memory_mib = (
        part * share // WHOLE_GPU for part in (spec.cpu_milli_per_gpu, spec.memory_mib_per_gpu)
    )
    return replicas, gpu_milli, cpu_milli, memory_mib, spec.size_exponent * math.log(max(1, gpus))


def _notebook_size(spec: SyntheticSpec) -> int:
    """The largest size up to one GPU, or the smallest size if all are larger."""
    sizes = [size for size, _ in spec.sizes]
    return max((size for size in sizes if size <= WHOLE_GPU), default=min(sizes))


def _check(fine: bool, field: str, value: object, message: str) -> None:
    if not fine:
        raise Refused(field, value, "E5", message)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_MODULES: Final = tuple(module.value for module in Module)
