"""Figures of one quota over a span of time, and spans put together: minutes make an hour, hours a day (Q7).

A sample keeps sums and the number of minutes behind them, never a mean: so the mean of a day is the mean of its minutes,
exactly, however it was put together. A minute in which nobody looked is in no sample, and counts as nothing, not as zero.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Final


class Span(IntEnum):
    """How long a sample lasts, in milliseconds. Spans begin at whole minutes, hours and days of UTC."""

    MINUTE = 60_000
    HOUR = 3_600_000
    DAY = 86_400_000

    def start_of(self, at_ms: int) -> int:
        return at_ms - at_ms % self


FINER: Final = {Span.HOUR: Span.MINUTE, Span.DAY: Span.HOUR}

FIGURES: Final = (
    "min", "used", "own", "loan", "squeezed", "reserved", "idle_lent", "idle_borrowed", "queued", "free",
)  # fmt: skip
"""Figures of one resource, in the order in which they are stored."""
PEAKED: Final = ("used", "loan", "squeezed", "queued")
"""Those of which the highest minute is kept too: what was short for ten minutes is not seen in the mean of a day."""
JOB_FIGURES: Final = ("running_jobs", "waiting_jobs", "oldest_waiting_s")
RESOURCES: Final = ("gpu", "cpu", "memory")
_PEAK_PLACES: Final = tuple(FIGURES.index(name) for name in PEAKED)

Sums = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Amounts:
    """Sums of FIGURES of one resource over `minutes`, in thousandths or MiB; `peaks` are the highest values of PEAKED.

    `named`: in how many of the minutes the quota had a min of it; the sum of min is over those.
    """

    minutes: int
    named: int
    sums: Sums
    peaks: Sums

    @classmethod
    def of_minute(cls, *values: int, named: bool = True) -> Amounts:
        return cls(1, int(named), values, tuple(values[place] for place in _PEAK_PLACES))

    def mean(self, figure: str) -> float | None:
        """Return the mean over the minutes; None for a min that was never named."""
        minutes = self.named if figure == "min" else self.minutes
        return self.sums[FIGURES.index(figure)] / minutes if minutes else None

    def peak(self, figure: str) -> int:
        return self.peaks[PEAKED.index(figure)]


@dataclass(frozen=True, slots=True)
class Sample:
    """Figures over `minutes` that were looked at. `jobs` are sums of JOB_FIGURES, `peaks` their highest values.

    `amounts` are by RESOURCES; None: in none of the minutes was the resource named, used or waited for.
    """

    minutes: int
    jobs: Sums
    peaks: Sums
    amounts: tuple[Amounts | None, ...]

    @classmethod
    def of_minute(cls, jobs: Sums, amounts: tuple[Amounts | None, ...]) -> Sample:
        return cls(1, jobs, jobs, amounts)


def together(samples: Sequence[Sample]) -> Sample:
    """Return the sample of all these minutes; there must be at least one."""
    amounts = ([sample.amounts[i] for sample in samples] for i in range(len(RESOURCES)))
    return Sample(
        sum(sample.minutes for sample in samples),
        _added([sample.jobs for sample in samples]),
        _highest([sample.peaks for sample in samples]),
        tuple(_amounts_together([one for one in of if one is not None]) for of in amounts),
    )


def grouped(samples: Iterable[tuple[int, Sample]], span: Span) -> Iterator[tuple[int, Sample]]:
    """Put samples with their times, oldest first, together into longer ones."""
    for at_ms, members in groupby(samples, lambda one: span.start_of(one[0])):
        yield at_ms, together([sample for _, sample in members])


def to_text(sample: Sample) -> str:
    """The sample as compact JSON. Peaks of a single minute are its values, and are left out."""
    jobs = [*sample.jobs, *(sample.peaks if sample.minutes > 1 else ())]
    amounts = [None if one is None else _listed(one) for one in sample.amounts]
    while amounts and amounts[-1] is None:
        amounts.pop()
    return json.dumps([sample.minutes, jobs, *amounts], separators=(",", ":"))


def from_text(text: str) -> Sample:
    minutes, jobs, *amounts = json.loads(text)
    found = [None if one is None else _amounts_of(one) for one in amounts]
    found += [None] * (len(RESOURCES) - len(found))
    sums = tuple(jobs[: len(JOB_FIGURES)])
    return Sample(minutes, sums, tuple(jobs[len(JOB_FIGURES) :]) or sums, tuple(found))


def _listed(of: Amounts) -> list[int]:
    return [of.minutes, of.named, *of.sums, *(of.peaks if of.minutes > 1 else ())]


def _amounts_of(listed: list[int]) -> Amounts:
    minutes, named, *values = listed
    sums, peaks = tuple(values[: len(FIGURES)]), tuple(values[len(FIGURES) :])
    return Amounts(minutes, named, sums, peaks or tuple(sums[place] for place in _PEAK_PLACES))


def _amounts_together(of: Sequence[Amounts]) -> Amounts | None:
    if not of:
        return None
    return Amounts(
        sum(one.minutes for one in of),
        sum(one.named for one in of),
        _added([one.sums for one in of]),
        _highest([one.peaks for one in of]),
    )


def _added(rows: Sequence[Sums]) -> Sums:
    return tuple(sum(column) for column in zip(*rows, strict=True))


def _highest(rows: Sequence[Sums]) -> Sums:
    return tuple(max(column) for column in zip(*rows, strict=True))
