"""What do the requests for a pool usually look like? Counted as jobs come; nobody has to declare it (ADR 0015).

Placement looks at a picture of the counts, not at the counts: a new picture makes it look at every node again, so one is
made only when twice as much has been seen as for the last one. CPU and memory are counted coarsely: requests that differ
by a little are of one shape, however many there are, and a node is not judged by the last few percent.
"""

from __future__ import annotations

from typing import Final

from quotatree.core.fragmentation import Typical
from quotatree.core.job import Shape

SIGNIFICANT_BITS: Final = 3


class Mix:
    """Requests seen for one pool. Written by the state, which can take it back."""

    __slots__ = ("counts", "next_picture", "seen", "typical")

    def __init__(self) -> None:
        self.counts: dict[Shape, int] = {}
        self.seen = 0
        self.next_picture = 1
        self.typical = Typical({})

    def count(self, shape: Shape, replicas: int) -> None:
        """Replicas more (or, when taken back, less) of a shape that wants GPUs."""
        shape = shape._replace(cpu_milli=coarse(shape.cpu_milli), memory_mib=coarse(shape.memory_mib))
        left = self.counts.get(shape, 0) + replicas
        if left:
            self.counts[shape] = left
        else:
            del self.counts[shape]
        self.seen += replicas


def coarse(amount: int) -> int:
    """An amount cut to its leading bits: four steps from one power of two to the next."""
    dropped = max(0, amount.bit_length() - SIGNIFICANT_BITS)
    return amount >> dropped << dropped
