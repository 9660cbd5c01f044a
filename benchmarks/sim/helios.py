"""What is known of Helios Earth? The quotas of its virtual clusters day by day, and one month of use minute by minute.

Both are real. Of the jobs themselves only counts are here: how many GPUs ran and waited in each virtual cluster, split at
8 GPUs.
"""

from __future__ import annotations

import csv
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.sim.traces import trace

FOLDER: Final = "helios-earth-vc"
ARTEFACT: Final = "2020-05-09"
"""On this day everything is booked to one virtual cluster; the days before and after agree with each other."""


class Day(NamedTuple):
    """The quotas of one day. `number` counts from the first day of the table."""

    number: int
    date: str
    gpus: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.gpus.values())


class Change(NamedTuple):
    day: Day
    vc: str
    before: int
    after: int


class Minute(NamedTuple):
    """GPUs and jobs of one virtual cluster in one minute; `large` are jobs with 8 GPUs or more."""

    quota: int
    running: int
    pending: int
    running_large: int
    jobs: int
    jobs_large: int


@dataclass(frozen=True, slots=True)
class Sharing:
    """What the counts say without a simulation. Shares are fractions of 1."""

    quota: float
    allocated: float
    pending: float
    idle: float
    waits: float  # share of minutes in which demand waits
    fits: float  # share of the pending GPU-minutes for which GPUs are idle in the same minute
    allocated_if_shared: float


def read_days() -> list[Day]:
    with trace(f"{FOLDER}/Earth_gpu_number.csv").open(encoding="utf-8", newline="") as file:
        return days_of(csv.DictReader(file))


def days_of(rows: Iterable[Mapping[str, str]]) -> list[Day]:
    """All days but the artefact. Virtual clusters that never have a GPU are left out."""
    table = [
        (
            number,
            row["date"],
            {vc: int(float(gpus)) for vc, gpus in row.items() if vc not in ("date", "total")},
        )
        for number, row in enumerate(rows)
        if row["date"] != ARTEFACT
    ]
    used = {vc for _, _, gpus in table for vc, count in gpus.items() if count}
    return [
        Day(number, date, {vc: n for vc, n in gpus.items() if vc in used}) for number, date, gpus in table
    ]


def changes(days: Sequence[Day]) -> list[Change]:
    return [
        Change(day, vc, before.gpus[vc], gpus)
        for before, day in pairwise(days)
        for vc, gpus in day.gpus.items()
        if gpus != before.gpus[vc]
    ]


def by_day(days: Sequence[Day], vc: str) -> list[int]:
    """The quota for every day number; a missing day has that of the day before."""
    found: list[int] = []
    for day in days:
        found += [found[-1]] * (day.number - len(found)) if found else []
        found.append(day.gpus[vc])
    return found


def read_series() -> dict[str, list[Minute]]:
    """The minutes of May 2020, by virtual cluster; only some have them."""
    folder = trace(f"{FOLDER}/series")
    return {path.name.partition(".")[0]: _minutes(path) for path in sorted(folder.glob("*.csv.xz"))}


def _minutes(path: Path) -> list[Minute]:
    names = (
        "total_gpu_num", "running_gpu_num", "pending_gpu_num", "running_gpu_num_noless_8", "running_gpujob_num",
        "running_job_num_noless_8",
    )  # fmt: skip
    with lzma.open(path, "rt", encoding="utf-8", newline="") as text:
        rows = csv.reader(text)
        header = next(rows)
        at = [header.index(name) for name in names]
        return [Minute(*(int(float(row[i])) for i in at)) for row in rows]


def sharing(series: Iterable[Sequence[Minute]]) -> Sharing:
    """How much waiting demand idle GPUs of other virtual clusters could have served, counting GPUs without nodes."""
    quota = running = pending = idle = waits = fits = minutes = 0
    for moment in zip(*series, strict=True):
        asked = sum(vc.pending for vc in moment)
        unused = sum(vc.quota - vc.running for vc in moment)
        quota += sum(vc.quota for vc in moment)
        running += sum(vc.running for vc in moment)
        pending += asked
        idle += unused
        waits += asked > 0
        fits += min(asked, unused)
        minutes += 1
    return Sharing(
        quota / minutes,
        running / quota,
        pending / minutes,
        idle / minutes,
        waits / minutes,
        fits / pending if pending else 1.0,
        (running + fits) / quota,
    )
