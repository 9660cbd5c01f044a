"""What did it cost to let the important jobs in? One row of the table, from what each pod lived through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.kubernetes.processors import OTHERS


@dataclass(frozen=True, slots=True)
class Victim:
    """A pod that had to go: when, measured from the arrival, for which job, and where it and that job stood."""

    name: str
    gpus: int
    told_seconds: float
    checkpoint_age_seconds: int
    node: str
    preemptor: str | None
    preemptor_node: str | None

    @property
    def lost_gpu_hours(self) -> float:
        return self.gpus * (self.checkpoint_age_seconds + self.told_seconds) / 3600

    @property
    def fruitless(self) -> bool:
        """The job it had to go for is not where it stood."""
        return self.preemptor is None or self.preemptor_node != self.node


@dataclass(frozen=True, slots=True)
class Outcome:
    who: str
    bound_seconds: tuple[float, ...]
    """Of every important job, from the arrival of the first."""
    wanted_gpus: int
    victims: tuple[Victim, ...]
    cpu_seconds: Mapping[str, float]

    @property
    def all_bound_seconds(self) -> float:
        return max(self.bound_seconds)

    @property
    def median_seconds(self) -> float:
        return median(self.bound_seconds)

    @property
    def beyond_need_gpus(self) -> int:
        return sum(victim.gpus for victim in self.victims) - self.wanted_gpus

    @property
    def lost_gpu_hours(self) -> float:
        return sum(victim.lost_gpu_hours for victim in self.victims)

    @property
    def fruitless(self) -> int:
        return sum(victim.fruitless for victim in self.victims)


COLUMNS = (
    "who decides",
    "all bound s",
    "median s",
    "victims",
    "GPUs beyond need",
    "lost GPU-hours",
    "fruitless",
)
CPU_COLUMNS = (
    "who decides",
    "kube-apiserver",
    "etcd",
    "kube-scheduler",
    "kube-controller-manager",
    "kwok",
    "quotatree",
    OTHERS,
)


def row(outcome: Outcome) -> Sequence[object]:
    return (
        outcome.who,
        f"{outcome.all_bound_seconds:.1f}",
        f"{outcome.median_seconds:.1f}",
        len(outcome.victims),
        outcome.beyond_need_gpus,
        f"{outcome.lost_gpu_hours:.0f}",
        outcome.fruitless,
    )


def cpu_row(outcome: Outcome) -> Sequence[object]:
    return (outcome.who, *(f"{outcome.cpu_seconds.get(name, 0.0):.1f}" for name in CPU_COLUMNS[1:]))
