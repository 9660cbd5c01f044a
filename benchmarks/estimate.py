"""How right are estimates of when a job starts? `python -m benchmarks.estimate` replays a part of Philly and asks now and then.

Every so often a job that has to wait is asked about, right after its submission, with what was known then: the state, how
long the jobs that had ended by then ran, and how earlier answers had come true. At the end its real start is looked up.
Three simple guesses are asked for beside it. All four are made ranges in the same two ways: calibrated on the earlier half of
the time and held to the later half, and as the server does it, on the newest answers that have come true.
"""

from __future__ import annotations

import sys
from bisect import insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean, median
from time import perf_counter
from typing import Final, NamedTuple

from benchmarks.measure import Table
from benchmarks.sim import philly
from benchmarks.sim.traces import Absent
from quotatree.core import Job, JobId, JobSpec, Phase, Strategy, UnitKind, snapshot
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.sim.brain import CoreBrain
from quotatree.sim.calibration import NEWEST, NOTICED_MS, Calibration, Outcome, calibrated
from quotatree.sim.durations import Durations, RunKind
from quotatree.sim.estimate import Estimate, Question, estimate
from quotatree.sim.replay import Replay
from quotatree.sim.setup import Setup
from quotatree.sim.trace import Trace
from quotatree.sim.workload import Workload

JOBS: Final = 60_000
LEARN: Final = 3_000
"""So many jobs are only learnt from."""
EVERY: Final = 4
"""Of the jobs that do not start at once, each so many-th is asked about."""
MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DRAINED_MS: Final = 6 * HOUR_MS
"""Over this time the simplest guess counts what has started."""
LAST_WAITS: Final = 30
NEVER_MS: Final = 1 << 60
GUESSES: Final = (
    "the planner played forward",
    "queue ahead ÷ what started an hour",
    "the user's last wait",
    "median of the last 30 waits of quota and priority",
)


class Asked(NamedTuple):
    """`guesses`: by GUESSES, in ms; None where there is nothing to guess from."""

    job: JobId
    at_ms: int
    told: Estimate
    guesses: tuple[int | None, ...]


class AskingBrain(CoreBrain):
    """The product's own planner, which is asked on the way when jobs will start, and remembers when they did."""

    def __init__(self, setup: Setup, owners: dict[str, str], learn: int, every: int) -> None:
        super().__init__(setup.settings)
        self.asked: list[Asked] = []
        self.starts: dict[JobId, int] = {}
        self._owners, self._learn, self._every = owners, learn, every
        self._durations = Durations()
        self._new: list[JobSpec] = []
        self._seen = self._waited = 0
        self._since: dict[JobId, int] = {}
        self._ran: dict[JobId, int] = {}
        self._told: dict[JobId, Outcome] = {}  # jobs that have not started: when asked, and the wait told
        self._outcomes: deque[Outcome] = deque(maxlen=2 * NEWEST)  # newest first
        self._guesses = Guesses(owners)

    def apply(self, event: ev.Event, now_ms: int) -> tuple[say.Decision, ...]:
        decided = super().apply(event, now_ms)
        if isinstance(event, ev.JobSubmitted):
            self._new.append(event.job)
        elif isinstance(event, ev.JobEnded):
            spec = self.state.jobs[event.job].spec
            ran_ms = self._ran.pop(event.job, 0) + now_ms - self._since.pop(event.job)
            kind = RunKind(self._owners[spec.id], spec.quota, spec.module.value, gpus_of(spec))
            self._durations.learn(kind, ran_ms)
        return decided

    def plan(self, now_ms: int) -> say.Plan:
        planned = super().plan(now_ms)
        for one in planned.decisions:
            if isinstance(one, say.Start) and not one.grows:
                if one.job not in self.starts:
                    self._first_start(one.job, now_ms)
                self._since[one.job] = now_ms
            elif isinstance(one, say.Evict) and one.kind is UnitKind.CORE:
                self._ran[one.job] = self._ran.get(one.job, 0) + now_ms - self._since.pop(one.job)
        for spec in self._new:
            self._consider(spec.id, now_ms)
        self._new.clear()
        return planned

    def _first_start(self, job: JobId, now_ms: int) -> None:
        self.starts[job] = now_ms
        self._guesses.started(self.state.jobs[job].spec, now_ms)
        told = self._told.pop(job, None)
        if told is not None:
            self._outcomes.appendleft(Outcome(told.told_ms, now_ms - told.real_ms))

    def _consider(self, job: JobId, now_ms: int) -> None:
        """Ask about a new job, if it waits and it is its turn to be asked about."""
        self._seen += 1
        found = self.state.jobs.get(job)
        if self._seen <= self._learn or found is None or found.phase not in (Phase.WAITING, Phase.HELD):
            return
        self._waited += 1
        if self._waited % self._every == 0:
            asked = Question(
                snapshot(self.state), job, now_ms, self._owners, self._durations,
                outcomes=tuple(self._outcomes),
            )  # fmt: skip
            told = estimate(asked)
            played = None if told.likely_ms is None else told.likely_ms - now_ms
            guesses = self._guesses.of(found, self.state.jobs.values(), now_ms)
            self.asked.append(Asked(job, now_ms, told, (played, *guesses)))
            if played is not None:
                self._told[job] = Outcome(played, now_ms)


class Guesses:
    """Three guesses that need no planner."""

    def __init__(self, owners: dict[str, str]) -> None:
        self._owners = owners
        self._started: defaultdict[str, deque[tuple[int, int]]] = defaultdict(deque)
        self._user: dict[str, int] = {}
        self._waits: defaultdict[tuple[str, int], deque[int]] = defaultdict(lambda: deque(maxlen=LAST_WAITS))

    def started(self, spec: JobSpec, now_ms: int) -> None:
        wait_ms = now_ms - spec.submitted_ms
        self._started[spec.quota].append((now_ms, gpus_of(spec)))
        self._user[self._owners[spec.id]] = wait_ms
        self._waits[spec.quota, spec.priority].append(wait_ms)

    def of(self, job: Job, jobs: Iterable[Job], now_ms: int) -> tuple[int | None, ...]:
        spec = job.spec
        started = self._started[spec.quota]
        while started and started[0][0] <= now_ms - DRAINED_MS:
            started.popleft()
        ahead = sum(
            gpus_of(other.spec)
            for other in jobs
            if other.phase in (Phase.WAITING, Phase.HELD)
            and other.spec.quota == spec.quota
            and other.spec.priority >= spec.priority
            and other.id != job.id
        )
        drained = sum(gpus for _, gpus in started)
        queue = ahead * DRAINED_MS // drained if drained else None
        waits = self._waits[spec.quota, spec.priority]
        return queue, self._user.get(self._owners[spec.id]), round(median(waits)) if waits else None


def gpus_of(spec: JobSpec) -> int:
    return sum(group.replicas * group.shape.gpu_milli for group in spec.groups)


class Measured(NamedTuple):
    """For each job that was told a start: told minus real, the real wait, whether it started within the range; times in ms."""

    errors: list[int]
    waits: list[int]
    within: list[bool]


def measure(setup: Setup, trace: Trace, learn: int, every: int) -> tuple[AskingBrain, Measured]:
    """Replay the trace, asking on the way, and compare what was told with what came."""
    brain = AskingBrain(setup, {job.id: job.user or job.team for job in trace.jobs}, learn, every)
    Replay(setup, trace, brain, None, Workload(setup)).run()
    rows = list(_compared(brain))
    return brain, Measured([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def _compared(brain: AskingBrain) -> Iterator[tuple[int, int, bool]]:
    for job, at_ms, told, _ in brain.asked:
        real = brain.starts.get(job)
        if real is not None and told.likely_ms is not None and told.earliest_ms is not None:
            within = told.earliest_ms <= real and (told.latest_ms is None or real <= told.latest_ms)
            yield told.likely_ms - real, real - at_ms, within


class Case(NamedTuple):
    """One job that was asked about: when, its real wait (NEVER_MS: it never started), and what one guess said."""

    at_ms: int
    wait_ms: int
    guess_ms: int


class Worth(NamedTuple):
    """Of ranges that are to hold 80 %: how many starts they held, and their width and interval score in minutes."""

    within: float
    width: float
    score: float


Ranges = Callable[[Sequence[Case], int], Iterator[tuple[Case, tuple[int, int]]]]


def by_earlier_half(cases: Sequence[Case], cut_ms: int) -> Iterator[tuple[Case, tuple[int, int]]]:
    """Ranges of the cases after the cut, calibrated on all before it."""
    before = [Outcome(one.guess_ms, one.wait_ms) for one in cases if one.at_ms < cut_ms]
    learned = calibrated(reversed(before), left_out=0.1, most=len(before))
    for one in cases:
        if one.at_ms >= cut_ms and learned is not None:
            yield one, learned.range_ms(one.guess_ms)


def by_newest(cases: Sequence[Case], cut_ms: int) -> Iterator[tuple[Case, tuple[int, int]]]:
    """Ranges of the cases after the cut, each calibrated on the newest that had come true before it, as a server does it."""
    started: list[tuple[int, int, int]] = []
    for one in cases:
        if one.at_ms >= cut_ms:
            known = [row for row in started if row[0] <= one.at_ms]
            newest = (Outcome(guess_ms, wait_ms) for _, guess_ms, wait_ms in reversed(known))
            learned: Calibration | None = calibrated(newest)
            if learned is not None:
                yield one, learned.range_ms(one.guess_ms)
        insort(started, (one.at_ms + one.wait_ms, one.guess_ms, one.wait_ms))


def worth(cases: Sequence[Case], cut_ms: int, ranges: Ranges) -> Worth:
    """Short waits are left out. A job that never started is outside its range, and scores as if it came in 30 days."""
    within, widths, scores = [], [], []
    for one, (low, high) in ranges(cases, cut_ms):
        if one.wait_ms > NOTICED_MS:
            wait_ms = min(one.wait_ms, 30 * 24 * HOUR_MS)
            within.append(low <= one.wait_ms <= high)
            widths.append(high - low)
            scores.append(high - low + 10 * (max(0, low - wait_ms) + max(0, wait_ms - high)))
    return Worth(fmean(within), median(widths) / MINUTE_MS, fmean(scores) / MINUTE_MS)


def table(title: str, brain: AskingBrain) -> Table:
    asked = sorted(brain.asked, key=lambda one: (one.at_ms, one.job))
    waits = [brain.starts.get(one.job, NEVER_MS + one.at_ms) - one.at_ms for one in asked]
    cut_ms = asked[len(asked) // 2].at_ms
    noticed = sum(wait > NOTICED_MS and one.at_ms >= cut_ms for one, wait in zip(asked, waits, strict=True))
    found = Table(
        title,
        ("guess", "median error min", "earlier half: within", "median width min", "interval score",
         "newest 200: within", "median width min", "interval score"),
        note=f"{len(asked):,} waiting jobs asked about; {noticed:,} of the later half waited longer than a minute. "
        "The aim is 80 % within; a lower score is better.",
    )  # fmt: skip
    usual = round(median(wait for one, wait in zip(asked, waits, strict=True) if one.at_ms < cut_ms))
    for number, label in enumerate(GUESSES):
        guesses = [usual if one.guesses[number] is None else one.guesses[number] for one in asked]
        cases = [
            Case(one.at_ms, wait, guess or 0) for one, wait, guess in zip(asked, waits, guesses, strict=True)
        ]
        later = [one for one in cases if one.at_ms >= cut_ms and one.wait_ms > NOTICED_MS]
        error = median(abs(one.guess_ms - one.wait_ms) for one in later) / MINUTE_MS
        cells = [f"{error:.1f}"]
        for ranges in (by_earlier_half, by_newest):
            seen = worth(cases, cut_ms, ranges)
            cells += [f"{seen.within:.0%}", f"{seen.width:.1f}", f"{seen.score:.0f}"]
        found.add(label, *cells)
    return found


def philly_world(jobs: int) -> tuple[Setup, Trace]:
    setup = philly.setup(0.25, strategy=Strategy.TRAVERSE, priorities=philly.MIXED)
    whole = philly.trace()
    return setup, replace(whole, jobs=whole.jobs[:jobs])


def main() -> str | None:
    try:
        setup, trace = philly_world(JOBS)
    except Absent as why:
        return str(why)
    began = perf_counter()
    brain, found = measure(setup, trace, LEARN, EVERY)
    print(table("Philly, quotas x 0.25, three priorities", brain).text())
    noticed = [within for within, wait in zip(found.within, found.waits, strict=True) if wait > NOTICED_MS]
    print(f"as told on the way, from the first answer on: {fmean(noticed):.0%} of {len(noticed):,} within; "
          f"{perf_counter() - began:.0f} s")  # fmt: skip
    return None


if __name__ == "__main__":
    sys.exit(main())
