"""What do the requests for a pool usually look like? Counted as jobs come; nobody has to declare it (ADR 0015).

Placement looks at a picture of the counts, not at the counts: a new picture makes it look at every node again, so one is
made only when twice as much has been seen as for the last one. CPU and memory are counted coarsely: requests that differ
by a little are of one shape, however many there are, and a node is not judged by the last few percent.
"""

from __future__ import annotations

from typing import Final

from quotatree.core.model.fragmentation import Typical
from quotatree.core.model.job import Shape

STEPS: Final = 3
"""How many amounts of CPU or memory are told apart between one power of two and the next."""


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
        """As it was: what has been seen, and what of it the picture shows."""
        mix = cls()
        mix.counts, mix.seen = counts, sum(counts.values())
        if pictured:
            mix.typical = Typical(pictured)
            mix.next_picture = 2 * mix.typical.total
        return mix

    def count(self, shape: Shape, replicas: int) -> None:
        """Replicas more (or, when taken back, less) of a shape that wants GPUs."""
        if shape.cpu_milli or shape.memory_mib:
            shape = shape._replace(cpu_milli=coarse(shape.cpu_milli), memory_mib=coarse(shape.memory_mib))
        left = self.counts.get(shape, 0) + replicas
        if left:
            self.counts[shape] = left
        else:
            del self.counts[shape]
        self.seen += replicas


def coarse(amount: int) -> int:
    """The amount, rounded down to one of those that are told apart: 3, 4 or 5 times a power of two."""
    if amount < STEPS:
        return amount
    dropped = (amount // STEPS).bit_length() - 1
    return amount >> dropped << dropped
