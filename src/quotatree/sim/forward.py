"""When would a waiting job start, if nobody submitted anything more? The planner itself, played forward on a copy of the state.

Running jobs end when they are said to, evicted ones leave after a part of their grace and go on later with what was left. The
effort is bounded: by instants, by a horizon, and by processor time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time
from typing import Final, NamedTuple

from quotatree.core import Job, JobId, Phase, State, UnitKind, apply, plan
from quotatree.core import decisions as say
from quotatree.core import events as ev

MOST_INSTANTS: Final = 20_000
HORIZON_MS: Final = 30 * 86_400_000
LEAVES_MS: Final = 30_000
"""A replica that was told to stop is taken to leave within this, or within its grace if that is shorter."""
SOON_MS: Final = 1_000
"""A run that should be over already is taken to end in this time."""

Left = Callable[[Job, int], int | None]
"""How much longer a job runs that has run for so many milliseconds; None: it does not end by itself."""


class Played(NamedTuple):
    """When the job starts; None: not seen, and `why` not. `until_ms` is how far was played."""

    start_ms: int | None
    until_ms: int
    why: str = ""


class _Due(NamedTuple):
    """A run ends, or with `replicas`, these have left."""

    time_ms: int
    number: int
    job: JobId
    run: int
    replicas: tuple[int, ...] | None


@dataclass(slots=True)
class Forward:
    """One play. The state is changed by it: give it a copy."""

    state: State
    target: JobId
    now_ms: int
    left: Left
    deadline: float = float("inf")  # by `time.process_time`
    _heap: list[_Due] = field(default_factory=list)
    _pushed: int = 0
    _ends: dict[JobId, int] = field(default_factory=dict)
    _saved: dict[JobId, int] = field(default_factory=dict)  # what was left of evicted runs, in ms

    def play(self) -> Played:
        for job in list(self.state.jobs.values()):
            if job.core is not None:
                left = self.left(job, max(0, self.now_ms - job.started_ms))
                self._ends_in(job.id, job.run, None if left is None else max(SOON_MS, left))
            if job.leaving:
                self._leaves(job.id, job.run, tuple(job.leaving), job.spec.grace_ms)
        begun_ms = self.now_ms
        for _ in range(MOST_INSTANTS):
            planned = plan(self.state, self.now_ms)
            if self._react(planned.decisions):
                return Played(self.now_ms, self.now_ms)
            times = [due.time_ms for due in self._heap[:1]]
            if planned.next_wakeup_ms is not None:
                times.append(max(planned.next_wakeup_ms, self.now_ms + 1))
            if not times:
                return Played(
                    None, self.now_ms, "nothing that runs now would end by itself and make room for it"
                )
            self.now_ms = min(times)
            if self.now_ms - begun_ms > HORIZON_MS:
                return Played(None, self.now_ms, "it would not start within 30 days")
            if process_time() > self.deadline:
                return Played(None, self.now_ms, "too much happens before it starts to play it through")
            while self._heap and self._heap[0].time_ms <= self.now_ms:
                self._fall_due(heapq.heappop(self._heap))
        return Played(None, self.now_ms, "too much happens before it starts to play it through")

    def _react(self, decisions: tuple[say.Decision, ...]) -> bool:
        """Let the decisions take effect; return whether the target started, and then no more of them."""
        for decision in decisions:
            if isinstance(decision, say.Start) and not decision.grows:
                if decision.job == self.target:
                    return True
                job = self.state.jobs[decision.job]
                saved = self._saved.pop(decision.job, None)
                self._ends_in(job.id, decision.run, self.left(job, 0) if saved is None else saved)
            elif isinstance(decision, say.Evict) and decision.kind is not UnitKind.HOLD:
                if decision.kind is UnitKind.CORE and decision.job in self._ends:
                    self._saved[decision.job] = max(SOON_MS, self._ends.pop(decision.job) - self.now_ms)
                self._leaves(decision.job, decision.run, decision.replicas, decision.grace_ms)
        return False

    def _fall_due(self, due: _Due) -> None:
        job = self.state.jobs.get(due.job)
        if job is None:
            return
        if due.replicas is not None:
            apply(self.state, ev.JobLeft(job.id, due.replicas), self.now_ms)
        elif job.phase is Phase.RUNNING and job.run == due.run:
            apply(self.state, ev.JobEnded(job.id), self.now_ms)
            self._ends.pop(job.id, None)
            if not job.leaving:
                apply(self.state, ev.JobForgotten(job.id), self.now_ms)

    def _ends_in(self, job: JobId, run: int, left: int | None) -> None:
        if left is not None:
            self._ends[job] = self.now_ms + left
            self._push(self.now_ms + left, job, run, None)

    def _leaves(self, job: JobId, run: int, replicas: tuple[int, ...], grace_ms: int) -> None:
        self._push(self.now_ms + min(grace_ms, LEAVES_MS), job, run, replicas)

    def _push(self, time_ms: int, job: JobId, run: int, replicas: tuple[int, ...] | None) -> None:
        self._pushed += 1
        heapq.heappush(self._heap, _Due(time_ms, self._pushed, job, run, replicas))
