"""How much of something: integers only (R1), in milli-GPU, milli-CPU and MiB."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

GPU: Final = 0
CPU: Final = 1
MEMORY: Final = 2
RESOURCE_NAMES: Final = ("gpu", "cpu", "memory")

WHOLE_GPU: Final = 1000
"""One device, in milli-GPU."""
INFINITE: Final = 1 << 200
"""More than any amount, share, cost or effort."""


class Resources(NamedTuple):
    """An amount of each resource. Indexable by GPU, CPU and MEMORY."""

    gpu_milli: int = 0
    cpu_milli: int = 0
    memory_mib: int = 0

    def plus(self, other: Resources) -> Resources:
        return Resources(self[0] + other[0], self[1] + other[1], self[2] + other[2])

    def minus(self, other: Resources) -> Resources:
        return Resources(self[0] - other[0], self[1] - other[1], self[2] - other[2])

    def lacking(self, had: Sequence[int]) -> Resources:
        """Return how much more of each resource this is than `had`; 0 where it is not more."""
        return Resources(max(0, self[0] - had[0]), max(0, self[1] - had[1]), max(0, self[2] - had[2]))

    def times(self, factor: int) -> Resources:
        return Resources(self[0] * factor, self[1] * factor, self[2] * factor)


ZERO: Final = Resources()


class Bounds(NamedTuple):
    """A limit for each resource; None means "not named here" (Q3)."""

    gpu_milli: int | None = None
    cpu_milli: int | None = None
    memory_mib: int | None = None


UNBOUNDED: Final = Bounds()
TEXTS_KEPT: Final = 4096
"""Amounts whose text is remembered: reasons of thousands of jobs tell the same few."""


@lru_cache(maxsize=TEXTS_KEPT)
def amount_text(resource: int, amount: int) -> str:
    """Return an amount of one resource as text, in people's units: "12 GPU", "1.5 CPU", "64 GiB"."""
    if resource == MEMORY:
        return f"{_decimal(amount, 1024)} GiB" if abs(amount) >= 1024 else f"{amount} MiB"
    return f"{_decimal(amount, 1000)} {'GPU' if resource == GPU else 'CPU'}"


def text_of_difference(wanted: str, free: str) -> str:
    """Return how much more the first of two texts of amount_text says than the second: "2 GPU" of "8 GPU" and "6 GPU"."""
    (resource, more), (_, less) = _amount_of(wanted), _amount_of(free)
    return amount_text(resource, more - less)


def _amount_of(text: str) -> tuple[int, int]:
    """Return the resource and the amount of which amount_text made the text; memory beyond 1 GiB may be rounded."""
    figure, unit = text.split(" ")
    resource, one = {"GPU": (GPU, 1000), "CPU": (CPU, 1000), "GiB": (MEMORY, 1024), "MiB": (MEMORY, 1)}[unit]
    return resource, round(float(figure) * one)


def resources_text(amount: Resources) -> str:
    """Return the resources of `amount` as text: GPUs always, CPU and memory if not zero."""
    parts = [amount_text(GPU, amount.gpu_milli)]
    parts += [amount_text(i, amount[i]) for i in (CPU, MEMORY) if amount[i]]
    return ", ".join(parts)


def _decimal(amount: int, one: int) -> str:
    whole, rest = divmod(abs(amount), one)
    sign = "-" if amount < 0 else ""
    return f"{sign}{whole}" if rest == 0 else f"{sign}{abs(amount) / one:.3f}".rstrip("0")
