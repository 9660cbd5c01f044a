"""What does a cluster do by itself? A small virtual engine: evicted work leaves, jobs end, time passes.

It keeps a heap of what will happen and reacts to decisions: a started job with a duration ends that much later, an
evicted one leaves after its grace period (or when the scenario says), a plan that wants to be woken up is. Nothing
here decides anything.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from quotatree.core import Code, JobId, Phase, State, UnitKind
from quotatree.core.decisions import Decision, Evict, Start, Stop
from quotatree.core.events import Event, JobAdopted, JobCheckpointed, JobEnded, JobLeft, JobStarted
from quotatree.scenario.model import Behaviour, Entry, Scenario


@dataclass(frozen=True, slots=True)
class Look:
    """A time to compare with expectations. Nothing happens, so no plan is made."""


@dataclass(frozen=True, slots=True)
class WakeUp:
    """A time at which to plan again although nothing else happens."""


@dataclass(frozen=True, slots=True)
class Report:
    """An event that the engine reports. It counts for run `run` only: later runs have reports of their own."""

    event: JobEnded | JobLeft | JobStarted
    run: int


Happening = Entry | Look | WakeUp | Report


@dataclass(slots=True)
class _Run:
    """What the engine knows of a job's present run. Earlier runs have saved `done_ms` of the job's duration."""

    since_ms: int
    run: int
    done_ms: int = 0
    saved_at_ms: int | None = None


class Engine:
    def __init__(self, scenario: Scenario) -> None:
        self._behaviours = scenario.behaviours
        self._leave_after_ms = scenario.leave_after_ms
        self._heap: list[tuple[int, int, Happening]] = []
        self._pushed = 0
        self._runs: dict[JobId, _Run] = {}

    def push(self, time_ms: int, happening: Happening) -> None:
        self._pushed += 1
        heapq.heappush(self._heap, (time_ms, self._pushed, happening))

    def next_time_ms(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def pop(self, time_ms: int) -> list[Happening]:
        """Remove and return everything that happens at exactly this time, in the order it was pushed."""
        found = []
        while self._heap and self._heap[0][0] == time_ms:
            found.append(heapq.heappop(self._heap)[2])
        return found

    def event_of(self, report: Report, state: State) -> Event | None:
        """The event of a report, or None if it no longer applies; of a JobLeft, only the replicas still leaving."""
        event = report.event
        job = state.jobs.get(event.job)
        if job is None:
            return None
        if isinstance(event, JobLeft):
            still = tuple(r for r in event.replicas or () if r in job.leaving)
            return JobLeft(event.job, still) if still else None
        if job.run != report.run or job.phase is not Phase.RUNNING:
            return None
        return event

    def adopted(self, event: JobAdopted, run: int) -> None:
        """Note a job that was running before the scenario began."""
        self._begin(event.job.id, run, event.started_ms)
        if event.checkpoint_ms is not None:
            self._runs[event.job.id].saved_at_ms = event.checkpoint_ms

    def saw(self, event: JobCheckpointed, now_ms: int) -> None:
        run = self._runs.get(event.job)
        if run is not None:
            run.saved_at_ms = now_ms

    def react(self, decisions: Iterable[Decision], state: State, now_ms: int) -> None:
        for decision in decisions:
            if isinstance(decision, Start):
                self._begin(decision.job, decision.run, now_ms)
                self.push(now_ms, Report(JobStarted(decision.job, decision.run), decision.run))
            elif isinstance(decision, Stop) or (
                isinstance(decision, Evict) and decision.kind is not UnitKind.HOLD
            ):
                self._let_leave(decision, state, now_ms)

    def _begin(self, job_id: JobId, run: int, since_ms: int) -> None:
        """Note that a run begins and push its end. Further replicas of the same run change nothing."""
        before = self._runs.get(job_id)
        if before is not None and before.run == run:
            return
        done_ms = before.done_ms if before is not None else 0
        self._runs[job_id] = _Run(since_ms, run, done_ms)
        duration_ms = self._behaviour(job_id).duration_ms
        if duration_ms is not None:
            self.push(since_ms + duration_ms - done_ms, Report(JobEnded(job_id), run))

    def _let_leave(self, decision: Evict | Stop, state: State, now_ms: int) -> None:
        behaviour = self._behaviour(decision.job)
        run = self._runs.get(decision.job)
        whole = isinstance(decision, Evict) and decision.kind is UnitKind.CORE
        if whole and run is not None and behaviour.resumes:
            run.done_ms += self._saved_ms(run, state.jobs[decision.job].spec.checkpoint_interval_ms, now_ms)
        delay_ms = decision.grace_ms
        # Work on a lost node does not leave in its own time: the decision's grace holds.
        if decision.reason.code is not Code.NodeLost:
            if behaviour.leaves_after_ms is not None:
                delay_ms = behaviour.leaves_after_ms
            elif self._leave_after_ms is not None:
                delay_ms = self._leave_after_ms
        self.push(now_ms + delay_ms, Report(JobLeft(decision.job, decision.replicas), decision.run))

    @staticmethod
    def _saved_ms(run: _Run, interval_ms: int | None, now_ms: int) -> int:
        """How much of this run, in milliseconds, a restart need not repeat."""
        if run.saved_at_ms is not None and run.saved_at_ms > run.since_ms:
            return run.saved_at_ms - run.since_ms
        if interval_ms is not None:
            return (now_ms - run.since_ms) // interval_ms * interval_ms
        return 0

    def _behaviour(self, job_id: JobId) -> Behaviour:
        return self._behaviours.get(job_id, Behaviour())
