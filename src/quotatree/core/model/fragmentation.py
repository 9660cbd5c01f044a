"""How much of what is free could the typical requests no longer use? Placement keeps that small (R3, ADR 0015).

The waste of a node is what the average request of its pool could not use of the node's free GPUs: all of them where CPU,
memory, model or labels do not suffice, else the devices with too little left for it. What is left of a shared device
counts once more, by how much of it is likely to be lost: further fractions come until the first that does not fit.
A replica goes where it adds least waste. Waste is compared in steps of STEP_MILLI, and among equals the tightest fit
decides. It also decides where all requests are for whole GPUs and nothing else: there best fit keeps nearly empty nodes
empty.

Integers only: waste is counted in milli-GPU times requests.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import gcd
from typing import Final, NamedTuple

from quotatree.core.model.job import Shape
from quotatree.core.model.node import Node
from quotatree.core.model.resources import WHOLE_GPU

STEP_MILLI: Final = 20
FINE: Final = 1000
"""Parts of a milli-GPU in which losses are computed."""
LEFT_BITS: Final = 24
DEVICE_BITS: Final = 10
NODE_BITS: Final = LEFT_BITS + DEVICE_BITS


Fit = tuple[int, int]
"""(rank of a node for a replica, the lowest is best; milli-GPU free on the device for a fraction, 0 for other requests)."""


class Useless(NamedTuple):
    """How many requests could not use a device of a node, for one amount of CPU and memory left there."""

    shared: list[int]  # by how many of the fraction sizes would fit on what is left of the device
    whole: list[int]  # by the number of entire devices that are free; the last is for any more


class Typical:
    """The requests of one pool at some time, each with its weight."""

    __slots__ = (
        "_grain",
        "_kinds",
        "_label_keys",
        "_lost",
        "_picky",
        "_sizes_up_to",
        "_tightest_fit",
        "requests",
        "total",
    )

    def __init__(self, requests: dict[Shape, int]) -> None:
        """`requests`: shapes that want GPUs, and how often each was seen."""
        self.requests = requests
        self.total = sum(requests.values())
        self._tightest_fit = all(shape == (shape.whole_gpus * WHOLE_GPU, 0, 0, (), ()) for shape in requests)
        self._grain = STEP_MILLI * self.total
        self._label_keys = tuple(sorted({key for shape in requests for key, _ in shape.labels}))
        self._picky = any(shape.models or shape.labels for shape in requests)
        self._kinds: dict[tuple[object, ...], NodeKind] = {}
        fractions: dict[int, int] = {}
        for shape, weight in requests.items():
            if shape.gpu_milli < WHOLE_GPU:
                fractions[shape.gpu_milli] = fractions.get(shape.gpu_milli, 0) + weight
        sizes = sorted(fractions)
        self._sizes_up_to = [bisect_right(sizes, free) for free in range(WHOLE_GPU + 1)]
        self._lost = [loss * self.total // FINE for loss in losses(fractions)]

    def fit(self, node: Node, shape: Shape, free: list[int], cpu_milli: int, memory_mib: int) -> Fit:
        """Return the fit of one more replica, known to fit, on a node with this much left.

        `free`: milli-GPU left on each device.
        """
        gpu_milli = shape.gpu_milli
        left = sum(free)
        if self._tightest_fit:
            return (left, 0) if not 0 < gpu_milli < WHOLE_GPU else self._tightest(gpu_milli, free, left)
        kind = self._kind_of(node)
        before = after = kind.useless(cpu_milli, memory_mib)
        if shape.cpu_milli or shape.memory_mib:
            after = kind.useless(cpu_milli - shape.cpu_milli, memory_mib - shape.memory_mib)
        whole = free.count(WHOLE_GPU)
        if 0 < gpu_milli < WHOLE_GPU:
            return self._fit_fraction(gpu_milli, free, left, whole, before, after)
        added = _of_whole(after, whole - gpu_milli // WHOLE_GPU) - _of_whole(before, whole)
        if after is not before:
            added += self._of_shared(after, free) - self._of_shared(before, free)
        return (self._steps(added) << NODE_BITS) + left, 0

    def _fit_fraction(
        self, gpu_milli: int, free: list[int], left: int, whole: int, before: Useless, after: Useless
    ) -> Fit:
        unchanged = _of_whole(after, whole) - _of_whole(before, whole)
        if after is not before:
            unchanged += self._of_shared(after, free) - self._of_shared(before, free)
        best: Fit | None = None
        for device in dict.fromkeys(free):
            if device < gpu_milli:
                continue
            rest = device - gpu_milli
            added = unchanged + rest * after.shared[self._sizes_up_to[rest]] + self._lost[rest]
            if device == WHOLE_GPU:
                added += _of_whole(after, whole - 1) - _of_whole(after, whole)
            else:
                added -= device * after.shared[self._sizes_up_to[device]] + self._lost[device]
            rank = (((self._steps(added) << DEVICE_BITS) + device) << LEFT_BITS) + left
            if best is None or rank < best[0]:
                best = rank, device
        assert best is not None
        return best

    def _tightest(self, gpu_milli: int, free: list[int], left: int) -> Fit:
        device = min(one for one in free if one >= gpu_milli)
        return (device << LEFT_BITS) + left, device

    def _steps(self, added: int) -> int:
        return (2 * added + self._grain) // (2 * self._grain)

    def _of_shared(self, useless: Useless, free: list[int]) -> int:
        """Return the waste on devices that are partly used, without expected losses."""
        return sum(one * useless.shared[self._sizes_up_to[one]] for one in free if one < WHOLE_GPU)

    def _kind_of(self, node: Node) -> NodeKind:
        key: tuple[object, ...] = ()
        if self._picky:
            key = (node.spec.model, *(node.labels.get(name) for name in self._label_keys))
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = NodeKind(node, self.requests, self.total)
        return kind


class NodeKind:
    """Nodes that accept the same requests: of one model, with equal values of the labels that requests name."""

    __slots__ = (
        "_cpu_steps",
        "_known",
        "_memory_steps",
        "_most_whole",
        "_requests",
        "_sizes",
        "_total",
    )

    def __init__(self, node: Node, requests: dict[Shape, int], total: int) -> None:
        self._total = total
        self._sizes = sorted({shape.gpu_milli for shape in requests if shape.gpu_milli < WHOLE_GPU})
        self._most_whole = max(shape.whole_gpus for shape in requests)
        self._requests = [(shape, weight) for shape, weight in requests.items() if node.welcomes(shape)]
        self._cpu_steps = sorted({shape.cpu_milli for shape, _ in self._requests if shape.cpu_milli})
        self._memory_steps = sorted({shape.memory_mib for shape, _ in self._requests if shape.memory_mib})
        self._known: dict[tuple[int, int], Useless] = {}

    def useless(self, cpu_milli: int, memory_mib: int) -> Useless:
        """Return how many requests could not use the devices of such a node; computed once between two request sizes."""
        key = (bisect_right(self._cpu_steps, cpu_milli), bisect_right(self._memory_steps, memory_mib))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._count(cpu_milli, memory_mib)
        return found

    def _count(self, cpu_milli: int, memory_mib: int) -> Useless:
        rank = {size: number for number, size in enumerate(self._sizes, 1)}
        shared = [0] * (len(self._sizes) + 1)
        whole = [0] * (self._most_whole + 1)
        for shape, weight in self._requests:
            if shape.cpu_milli <= cpu_milli and shape.memory_mib <= memory_mib:
                if shape.gpu_milli < WHOLE_GPU:
                    shared[rank[shape.gpu_milli]] += weight
                else:
                    whole[shape.whole_gpus] += weight
        could_share = list(accumulate(shared))
        return Useless(
            [self._total - could for could in could_share],
            [self._total - could_share[-1] - could for could in accumulate(whole)],
        )


def losses(fractions: dict[int, int]) -> list[int]:
    """Return the expected loss of a shared device with 0 … 1000 milli-GPU left, in thousandths of a milli-GPU.

    Fractions are drawn from the mix until one does not fit; what is left then is lost.
    """
    total = sum(fractions.values())
    if not total:
        return [free * FINE for free in range(WHOLE_GPU + 1)]
    step = gcd(WHOLE_GPU, *fractions)
    lost = [0] * (WHOLE_GPU + 1)
    for free in range(step, WHOLE_GPU + 1, step):
        expected = 0
        for size, weight in fractions.items():
            expected += weight * (lost[free - size] if size <= free else free * FINE)
        lost[free] = expected // total
    for free in range(WHOLE_GPU + 1):
        lost[free] = lost[free - free % step] + free % step * FINE
    return lost


def _of_whole(useless: Useless, devices: int) -> int:
    """Return the waste on this many devices that are entirely free."""
    known = useless.whole
    return devices * WHOLE_GPU * known[devices if devices < len(known) else -1]
