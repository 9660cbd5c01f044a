"""A quota's figures over time as they are shown: one list for each figure, as charts want them (Q7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from typing_extensions import TypedDict

from quotatree.api.models.fields import memory_text
from quotatree.store.samples import FIGURES, JOB_FIGURES, PEAKED, RESOURCES, Sample, Span

StepName = Literal["minute", "hour", "day"]
STEPS: Final[Mapping[StepName, Span]] = {"minute": Span.MINUTE, "hour": Span.HOUR, "day": Span.DAY}

Numbers = list[float | None]
Values = list[float | None] | list[str | None]


class FigureLists(TypedDict):
    """The mean of each figure in each step; null where nobody looked. Memory is told as text, such as "64Gi"."""

    min: Values
    used: Values
    own: Values
    loan: Values
    squeezed: Values
    reserved: Values
    idle_lent: Values
    idle_borrowed: Values
    queued: Values
    free: Values


class PeakLists(TypedDict):
    """The highest minute of each step; null where nobody looked."""

    used: Values
    loan: Values
    squeezed: Values
    queued: Values


class Peaks(TypedDict):
    figures: dict[str, PeakLists]
    running_jobs: Numbers
    waiting_jobs: Numbers
    oldest_waiting_s: Numbers


class QuotaSeries(TypedDict):
    """`times` are the beginnings of the steps, in milliseconds; every list has one value for each of them.

    `figures` has `gpu`, and `cpu` and `memory` where they were named, used or waited for. `used` counts what is below too,
    `own` does not; `queued` and jobs are those of the quota itself. Values are means over the minutes of a step in which the
    server looked; `peaks` has the highest of them. Null: nobody looked, or, for `min`, it was not named.
    """

    quota: str
    step: StepName
    since: int
    until: int
    times: list[int]
    figures: dict[str, FigureLists]
    running_jobs: Numbers
    waiting_jobs: Numbers
    oldest_waiting_s: Numbers
    peaks: Peaks


def series_out(
    quota: str, step: StepName, since_ms: int, until_ms: int, found: Sequence[tuple[int, Sample]]
) -> dict[str, Any]:
    span, by_time = STEPS[step], dict(found)
    times = list(range(span.start_of(since_ms), until_ms, span))
    samples = [by_time.get(at_ms) for at_ms in times]
    kept = [
        r for r in range(len(RESOURCES)) if r == 0 or any(s is not None and s.amounts[r] for s in samples)
    ]
    return {
        "quota": quota,
        "step": step,
        "since": since_ms,
        "until": until_ms,
        "times": times,
        "figures": {RESOURCES[r]: {name: _means(samples, r, name) for name in FIGURES} for r in kept},
        **{name: _each(samples, _job_mean(i)) for i, name in enumerate(JOB_FIGURES)},
        "peaks": {
            "figures": {RESOURCES[r]: {name: _peaks(samples, r, name) for name in PEAKED} for r in kept},
            **{name: _each(samples, _job_peak(i)) for i, name in enumerate(JOB_FIGURES)},
        },
    }


def _job_mean(i: int) -> Callable[[Sample], float]:
    return lambda sample: _rounded(sample.jobs[i] / sample.minutes)


def _job_peak(i: int) -> Callable[[Sample], int]:
    return lambda sample: sample.peaks[i]


def _means(samples: Sequence[Sample | None], resource: int, figure: str) -> list[Any]:
    def mean(sample: Sample) -> Any:
        of = sample.amounts[resource]
        value = None if of is None else of.mean(figure)
        return None if value is None else _shown(resource, value)

    return _each(samples, mean)


def _peaks(samples: Sequence[Sample | None], resource: int, figure: str) -> list[Any]:
    def peak(sample: Sample) -> Any:
        of = sample.amounts[resource]
        return None if of is None else _shown(resource, of.peak(figure))

    return _each(samples, peak)


def _each(samples: Sequence[Sample | None], of: Callable[[Sample], Any]) -> list[Any]:
    return [None if sample is None else of(sample) for sample in samples]


def _shown(resource: int, value: float) -> Any:
    """An amount as the API writes it: thousandths as a number, MiB as text."""
    return memory_text(round(value)) if RESOURCES[resource] == "memory" else _rounded(value / 1000)


def _rounded(value: float) -> int | float:
    found = round(value, 3)
    return int(found) if found == int(found) else found
