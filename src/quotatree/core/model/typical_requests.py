"""What do the requests for a pool usually look like? Counted as jobs come; operators need not declare it (ADR 0015).

Placement uses a picture of the counts, not the counts: a new picture makes it rank every node again, so one is made only
when twice as much has been seen as for the last one. CPU and memory are counted coarsely: requests that differ by a
little are of one shape, so shapes stay few, and a node is not judged by the last few percent.
"""

from __future__ import annotations

from typing import Final

from quotatree.core.model.fragmentation import Typical
from quotatree.core.model.job import Shape

STEPS: Final = 3
"""How many amounts of CPU or memory are distinguished between one power of two and the next."""


class Mix:
    """Requests seen for one pool. Written by the state, which can take it back."""

    __slots__ = ("counts", "next_picture", "seen", "typical")

    def __init__(self) -> None:
        self.counts: dict[Shape, int] = {}
        self.seen = 0
        self.next_picture = 1
        self.typical = Typical({})

    @classmethod
    def kept(cls, counts: dict[Shape, int], pictured: dict[Shape, int]) -> Mix:
        """Return a mix restored from what had been seen and what the picture showed of it."""
        mix = cls()
        mix.counts, mix.seen = counts, sum(counts.values())
        if pictured:
            mix.typical = Typical(pictured)
            mix.next_picture = 2 * mix.typical.total
        return mix

    def count(self, shape: Shape, replicas: int) -> None:
        """Count replicas of a shape that wants GPUs; a negative number takes a count back."""
        if shape.cpu_milli or shape.memory_mib:
            shape = shape._replace(cpu_milli=coarse(shape.cpu_milli), memory_mib=coarse(shape.memory_mib))
        left = self.counts.get(shape, 0) + replicas
        if left:
            self.counts[shape] = left
        else:
            del self.counts[shape]
        self.seen += replicas


def coarse(amount: int) -> int:
    """Return the amount rounded down to 3, 4 or 5 times a power of two; amounts below 3 as they are."""
    if amount < STEPS:
        return amount
    dropped = (amount // STEPS).bit_length() - 1
    return amount >> dropped << dropped
