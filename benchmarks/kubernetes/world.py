"""What stands on the cluster before the important jobs come, and what comes? The same for every row of the table."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

GPUS_OF_A_NODE = 8
SIZES = (1, 2, 4, 8)
OLDEST_CHECKPOINT_SECONDS = 3600
GRACE_SECONDS = 5
ARRIVING_SHARE = 0.18
"""What the arriving jobs want of all GPUs."""


@dataclass(frozen=True, slots=True)
class Work:
    """A job of one pod: its GPUs, and how old its last checkpoint is when the important jobs come."""

    name: str
    gpus: int
    checkpoint_age_seconds: int = 0


@dataclass(frozen=True, slots=True)
class World:
    nodes: int
    low: tuple[Work, ...]
    """In the order of their arrival, which is random: an order by size would tie age to size."""
    high: tuple[Work, ...]

    @property
    def gpus(self) -> int:
        return self.nodes * GPUS_OF_A_NODE

    @property
    def wanted_gpus(self) -> int:
        return sum(work.gpus for work in self.high)

    def with_low(self, low: list[Work]) -> World:
        return replace(self, low=tuple(low))


def made(nodes: int, arriving: int, seed: int) -> World:
    """A cluster that is wholly used, and so many jobs that arrive."""
    dice = random.Random(seed)
    low: list[Work] = []
    left = nodes * GPUS_OF_A_NODE
    while left:
        gpus = min(dice.choice(SIZES), 1 << (left.bit_length() - 1))
        low.append(Work(f"low-{len(low)}", gpus, dice.randrange(OLDEST_CHECKPOINT_SECONDS)))
        left -= gpus
    high = [Work(f"high-{number}", dice.choice(SIZES)) for number in range(arriving)]
    return World(nodes, tuple(low), _within(high, round(nodes * GPUS_OF_A_NODE * ARRIVING_SHARE), dice))


def filling(free: dict[str, int], first: int, seed: int) -> list[tuple[Work, str]]:
    """Jobs that use up what is still free on each node, as large as they fit, and the node of each."""
    dice = random.Random(seed)
    more: list[tuple[Work, str]] = []
    for node, left in free.items():
        while left:
            gpus = 1 << (left.bit_length() - 1)
            age = dice.randrange(OLDEST_CHECKPOINT_SECONDS)
            more.append((Work(f"low-{first + len(more)}", gpus, age), node))
            left -= gpus
    return more


def _within(high: list[Work], most_gpus: int, dice: random.Random) -> tuple[Work, ...]:
    """The same jobs, of which some are made smaller until together they want no more than that."""
    sizes = [work.gpus for work in high]
    while sum(sizes) > most_gpus:
        number = dice.randrange(len(sizes))
        sizes[number] = max(1, sizes[number] // 2)
    return tuple(replace(work, gpus=gpus) for work, gpus in zip(high, sizes, strict=True))
