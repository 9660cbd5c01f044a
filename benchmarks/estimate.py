"""How right are estimates of when a job starts? `python -m benchmarks.estimate` replays a part of Philly and asks now and then.

Every so often a job that has to wait is asked about, right after its submission, with what was known then: the state, and how
long the jobs that had ended by then ran. At the end its real start in the replay is looked up.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple

from benchmarks.sim import philly
from benchmarks.sim.traces import Absent
from quotatree.core import JobId, JobSpec, Phase, Strategy, UnitKind, snapshot
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.sim.brain import CoreBrain
from quotatree.sim.durations import Durations, RunKind
from quotatree.sim.estimate import Estimate, Question, estimate
from quotatree.sim.replay import Replay
from quotatree.sim.setup import Setup
from quotatree.sim.trace import Trace
from quotatree.sim.workload import Workload

SCALE: Final = 0.25
JOBS: Final = 16_000
LEARN: Final = 3_000
"""So many jobs are only learnt from."""
EVERY: Final = 12
"""Of the jobs that do not start at once, each so many-th is asked about."""
MINUTE_MS: Final = 60_000


class Asked(NamedTuple):
    job: JobId
    at_ms: int
    told: Estimate


class Measured(NamedTuple):
    """For each job that was told a start: told minus real, the real wait, whether it started within the range; times in ms."""

    errors: list[int]
    waits: list[int]
    within: list[bool]


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

    def apply(self, event: ev.Event, now_ms: int) -> tuple[say.Decision, ...]:
        decided = super().apply(event, now_ms)
        if isinstance(event, ev.JobSubmitted):
            self._new.append(event.job)
        elif isinstance(event, ev.JobEnded):
            spec = self.state.jobs[event.job].spec
            ran_ms = self._ran.pop(event.job, 0) + now_ms - self._since.pop(event.job)
            size = sum(group.replicas * group.shape.gpu_milli for group in spec.groups)
            self._durations.learn(RunKind(self._owners[spec.id], spec.quota, spec.module.value, size), ran_ms)
        return decided

    def plan(self, now_ms: int) -> say.Plan:
        planned = super().plan(now_ms)
        for one in planned.decisions:
            if isinstance(one, say.Start) and not one.grows:
                self.starts.setdefault(one.job, now_ms)
                self._since[one.job] = now_ms
            elif isinstance(one, say.Evict) and one.kind is UnitKind.CORE:
                self._ran[one.job] = self._ran.get(one.job, 0) + now_ms - self._since.pop(one.job)
        for spec in self._new:
            self._consider(spec.id, now_ms)
        self._new.clear()
        return planned

    def _consider(self, job: JobId, now_ms: int) -> None:
        """Ask about a new job, if it waits and it is its turn to be asked about."""
        self._seen += 1
        found = self.state.jobs.get(job)
        if self._seen <= self._learn or found is None or found.phase not in (Phase.WAITING, Phase.HELD):
            return
        self._waited += 1
        if self._waited % self._every == 0:
            told = estimate(Question(snapshot(self.state), job, now_ms, self._owners, self._durations))
            self.asked.append(Asked(job, now_ms, told))


def measure(setup: Setup, trace: Trace, learn: int, every: int) -> tuple[AskingBrain, Measured]:
    """Replay the trace, asking on the way, and compare what was told with what came."""
    brain = AskingBrain(setup, {job.id: job.user for job in trace.jobs}, learn, every)
    Replay(setup, trace, brain, None, Workload(setup)).run()
    rows = list(_compared(brain))
    return brain, Measured([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def _compared(brain: AskingBrain) -> Iterator[tuple[int, int, bool]]:
    for job, at_ms, told in brain.asked:
        real = brain.starts.get(job)
        if real is not None and told.likely_ms is not None and told.earliest_ms is not None:
            within = told.earliest_ms <= real and (told.latest_ms is None or real <= told.latest_ms)
            yield told.likely_ms - real, real - at_ms, within


def main() -> str | None:
    try:
        whole = philly.trace()
    except Absent as why:
        return str(why)
    began = perf_counter()
    setup = philly.setup(SCALE, strategy=Strategy.TRAVERSE, priorities=philly.MIXED)
    brain, found = measure(setup, replace(whole, jobs=whole.jobs[:JOBS]), LEARN, EVERY)
    errors, waits = found.errors, found.waits
    relative = [abs(e) / max(w, MINUTE_MS) for e, w in zip(errors, waits, strict=True)]
    print(f"Philly, {JOBS:,} jobs, quotas x {SCALE}: {len(brain.asked)} waiting jobs asked about, {len(errors)} told,"
          f" {perf_counter() - began:.0f} s")  # fmt: skip
    for what, figure in (
        ("real wait, median", f"{median(waits) / MINUTE_MS:.1f} min"),
        ("absolute error, median", f"{median(map(abs, errors)) / MINUTE_MS:.1f} min"),
        ("absolute error / wait, median", f"{median(relative):.2f}"),
        ("bias (told - real), median", f"{median(errors) / MINUTE_MS:+.1f} min"),
        ("told too early", f"{sum(e < 0 for e in errors) / len(errors):.0%}"),
        ("started within the range told", f"{sum(found.within) / len(errors):.0%}"),
    ):
        print(f"{what:32}{figure:>12}")
    return None


if __name__ == "__main__":
    sys.exit(main())
