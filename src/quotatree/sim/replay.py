"""What happens when? A virtual clock and a heap of what is to come, around a brain that decides.

At every time at which something happens, all of it happens, then the brain plans once. Nothing here decides anything: a
started job ends when its work is done, an evicted one leaves after its grace and comes back with what it had saved, an
operator's changes come when they come, and the brain is woken when it asked to be. Jobs are read from the trace as
their time comes, and forgotten when they have ended, so that an event costs the same in a long trace as in a short one.
"""

from __future__ import annotations

import gc
import heapq
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, NamedTuple

from quotatree.core import Claim, Code, JobId, JobSpec, Refused, UnitKind
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.sim.brain import Brain
from quotatree.sim.outcome import End, Refusal, Taken
from quotatree.sim.setup import Setup
from quotatree.sim.timeline import Recorder, step_for, usual_shapes
from quotatree.sim.trace import Trace, TraceJob
from quotatree.sim.track import Track
from quotatree.sim.work import run_length_ms
from quotatree.sim.workload import LeftOut, Workload

PROGRESS_EVERY: Final = 1_024
"""Instants between two calls of the progress callback."""
UNSTARTED: Final = 0
"""No run has this number: the first is 1."""
COLLECT_EVERY: Final = (100_000, 50, 100)
"""Thresholds of the garbage collector. A replay makes few cycles; the usual thresholds cost a fifth of its time."""


class Progress(NamedTuple):
    """How far a replay is. `seconds_left` is None for the first hundredth, when there is too little to judge by."""

    submitted: int
    ended: int
    total: int
    now_ms: int
    jobs_per_second: float
    seconds_left: float | None


OnProgress = Callable[[Progress], None]


class _Due(NamedTuple):
    """Something to come: with `replicas`, these have left; else run `run` ends or, if 0, a waiting job is withdrawn."""

    time_ms: int
    number: int
    track: Track
    run: int
    replicas: tuple[int, ...] | None


@dataclass(slots=True)
class Replay:
    """One replay of one trace. Call `run` once; afterwards the public fields hold what happened."""

    setup: Setup
    trace: Trace
    brain: Brain
    on_progress: OnProgress | None = None
    workload: Workload | None = None
    resubmit: Callable[[JobSpec], JobSpec] | None = None  # a baseline's change to each job at its submit
    tracks: list[Track] = field(default_factory=list)  # in the order of submission
    taken: list[Taken] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    recorder: Recorder = field(init=False)
    interrupted: bool = False
    finished: bool = False  # every job was submitted and has ended
    plans: int = 0
    alarms: int = 0
    fruitless: int = 0
    now_ms: int = 0
    _active: dict[JobId, Track] = field(default_factory=dict)
    _heap: list[_Due] = field(default_factory=list)
    _pushed: int = 0
    _wake_ms: int | None = None
    _owed: dict[JobId, int] = field(default_factory=dict)  # preemptor -> its evictions, until it starts
    _ended: int = 0
    _workload: Workload = field(init=False)
    _arrivals: Iterator[TraceJob] = field(init=False)
    _next: TraceJob | None = field(init=False)
    _steps: int = 0

    def __post_init__(self) -> None:
        jobs = self.trace.jobs
        self.now_ms = jobs[0].submit_ms if jobs else 0
        self._build()
        weights: dict[int, int] = {}
        for job in jobs:
            if job.gpu_milli:
                weights[job.gpu_milli] = weights.get(job.gpu_milli, 0) + job.replicas
        step_ms = self.setup.sample_ms or step_for(jobs[-1].submit_ms - self.now_ms if jobs else 0)
        self.recorder = Recorder(
            self.brain.state, step_ms, self.now_ms, usual_shapes(weights), thins=self.setup.sample_ms is None
        )
        self._workload = self.workload or Workload(self.setup)
        self._arrivals = iter(jobs)
        self._next = next(self._arrivals, None)

    def _build(self) -> None:
        """Create pools, nodes, quotas and limits. The core raises Refused for a setup that contradicts its rules."""
        setup = self.setup
        there: list[ev.Event] = [*setup.pools]
        there += [ev.NodeJoined(node) for node in setup.nodes]
        there += [ev.QuotaCreated(quota) for quota in setup.quotas]
        there += setup.limits
        for event in there:
            self.brain.apply(event, self.now_ms)

    def stop(self) -> None:
        """End the replay after the present instant. Safe to call from a signal handler."""
        self.interrupted = True

    def run(self) -> None:
        """Play the whole trace, or up to a KeyboardInterrupt or `stop`; what was played until then is kept."""
        started = perf_counter()
        try:
            with _rare_collections():
                self._play(started)
        except KeyboardInterrupt:
            self.interrupted = True
        self.finished = self._next is None and not self._active
        if self.on_progress is not None and not self.interrupted:
            self.on_progress(self._progress(perf_counter() - started))

    def _play(self, started: float) -> None:
        instants = 0
        until_ms = self.setup.until_ms
        while not self.interrupted:
            time_ms = self._next_time_ms()
            if time_ms is None:
                return
            if until_ms is not None and time_ms > until_ms:
                self.recorder.advance(until_ms)
                self.now_ms = until_ms
                return
            self._instant(time_ms)
            instants += 1
            if self.on_progress is not None and instants % PROGRESS_EVERY == 0:
                self.on_progress(self._progress(perf_counter() - started))

    def _progress(self, seconds: float) -> Progress:
        total, submitted = len(self.trace.jobs), len(self.tracks) + sum(self.left_out.values())
        share = (submitted + self._ended) / (2 * total) if total else 1.0
        left = seconds / share * (1 - share) if share > 0.01 else None
        return Progress(
            submitted, self._ended, total, self.now_ms, self._ended / seconds if seconds else 0.0, left
        )

    # -- the clock -------------------------------------------------------------------------------------------

    def _next_time_ms(self) -> int | None:
        """When something happens next; None if nothing is to come. Operators' steps after the last job do not count."""
        soonest = None if self._next is None else self._next.submit_ms
        if self._heap and (soonest is None or self._heap[0].time_ms < soonest):
            soonest = self._heap[0].time_ms
        if self._active:
            if self._wake_ms is not None and (soonest is None or self._wake_ms < soonest):
                soonest = self._wake_ms
        elif soonest is None:
            return None
        if self._steps < len(self.setup.timeline):
            step_ms = max(self.now_ms, self.setup.timeline[self._steps].time_ms)
            soonest = step_ms if soonest is None else min(soonest, step_ms)
        return soonest

    def _instant(self, time_ms: int) -> None:
        self.recorder.advance(time_ms)
        self.now_ms = time_ms
        heap = self._heap
        while heap and heap[0].time_ms == time_ms:
            self._fall_due(heapq.heappop(heap))
        timeline = self.setup.timeline
        while self._steps < len(timeline) and timeline[self._steps].time_ms <= time_ms:
            self._operate(timeline[self._steps].events, timeline[self._steps].label)
            self._steps += 1
        while self._next is not None and self._next.submit_ms == time_ms:
            self._submit(self._next)
            self._next = next(self._arrivals, None)
        self._wake_ms = None
        if self.brain.at_rest():
            return
        planned = self.brain.plan(time_ms)
        self.plans += 1
        self._react(planned.decisions)
        wake_ms = planned.next_wakeup_ms
        self._wake_ms = None if wake_ms is None else max(wake_ms, time_ms + 1)

    # -- what happens ----------------------------------------------------------------------------------------

    def _fall_due(self, due: _Due) -> None:
        track = due.track
        if due.replicas is not None:
            self._leave(track, due.run, due.replicas)
        elif track.since_ms is not None and track.run == due.run:
            self._finish(track, track.since_ms)
        elif due.run == UNSTARTED and track.since_ms is None and track.end is None:
            self._withdraw_waiting(track)

    def _finish(self, track: Track, since_ms: int) -> None:
        """End a run: as done if all its work is done, else as withdrawn by the owner."""
        self.brain.apply(ev.JobEnded(track.id), self.now_ms)
        self.recorder.run(track.team, track.idle_milli - track.running_milli, False)
        self.recorder.run(track.team, -track.idle_milli, True)
        self.recorder.running_jobs -= 1
        if self.now_ms - since_ms < run_length_ms(track.left_ms, track.rhythm, track.starts == 1):
            track.withdraw(self.now_ms)
            self._close(track, End.WITHDRAWN)
        else:
            track.complete(self.now_ms)
            self._close(track, End.DONE)

    def _withdraw_waiting(self, track: Track) -> None:
        """Cancel a waiting job that its owner no longer wants. Its evictions are not fruitless: it was wanted then."""
        self._owed.pop(track.id, None)
        self.brain.apply(ev.JobCancelled(track.id), self.now_ms)
        self.recorder.waiting_jobs -= 1
        self.recorder.waiting -= track.core_milli
        track.withdraw(self.now_ms)
        self._close(track, End.WITHDRAWN)

    def _leave(self, track: Track, run: int, replicas: tuple[int, ...]) -> None:
        """Report that evicted replicas have left, unless they are no longer recorded as leaving.

        A lost node takes its replicas at once, so their leaving may have been overtaken.
        """
        gone = track.leave(run, replicas, self.now_ms)
        if gone is None:
            return
        self.recorder.leaving -= gone
        self.brain.apply(ev.JobLeft(track.id, replicas), self.now_ms)
        if track.end is not None and not track.leaving:
            self.brain.forget(track.id)

    def _operate(self, events: tuple[ev.Event, ...], label: str) -> None:
        for event in events:
            try:
                self._react(self.brain.apply(event, self.now_ms))
            except Refused as why:
                self.refusals.append(Refusal(self.now_ms, label, str(why)))
                return
        self.recorder.count_capacity()

    def _submit(self, job: TraceJob) -> None:
        submission = self._workload.submission(job)
        if isinstance(submission, LeftOut):
            self.left_out[submission.why] = self.left_out.get(submission.why, 0) + 1
            return
        spec = submission.spec if self.resubmit is None else self.resubmit(submission.spec)
        track = Track(submission, spec.core_replicas, job.team, self.recorder.team(job.team))
        self.tracks.append(track)
        try:
            self.brain.apply(ev.JobSubmitted(spec), self.now_ms)
        except Refused as why:
            track.end = End.REFUSED
            self._ended += 1
            self.refusals.append(Refusal(self.now_ms, job.id, str(why)))
            return
        self._active[track.id] = track
        self.recorder.waiting_jobs += 1
        self.recorder.waiting += track.core_milli
        if track.until_ms is not None:
            self._push(track.until_ms, track, UNSTARTED, None)

    # -- what was decided ------------------------------------------------------------------------------------

    def _react(self, decisions: tuple[say.Decision, ...]) -> None:
        for decision in decisions:
            if isinstance(decision, say.Start):
                self._start(decision)
            elif isinstance(decision, say.Evict):
                self._evict(decision)
            elif isinstance(decision, (say.Promote, say.Demote)):
                self._change_claim(decision)
            elif isinstance(decision, say.Fail):
                track = self._active[decision.job]
                self.recorder.waiting_jobs -= 1
                self.recorder.waiting -= track.core_milli
                track.stop_waiting(self.now_ms)
                self._close(track, End.FAILED)
            elif isinstance(decision, say.Alarm):
                self.alarms += 1
        if self._owed:
            self._find_fruitless()

    def _start(self, start: say.Start) -> None:
        track, recorder = self._active[start.job], self.recorder
        idle = start.claim is Claim.IDLE
        if start.grows:
            track.grow(len(start.replicas), self.now_ms)
            if idle and not track.idle:
                track.idle_beyond += len(start.replicas)
            recorder.run(track.team, track.each_milli * len(start.replicas), idle)
            return
        recorder.waiting_jobs -= 1
        recorder.waiting -= track.core_milli
        recorder.running_jobs += 1
        track.start(start.run, idle, self.now_ms)
        recorder.run(track.team, track.core_milli, idle)
        more = len(start.replicas) - track.core_replicas
        if more > 0:
            track.grow(more, self.now_ms)
            recorder.run(track.team, track.each_milli * more, idle)
        length_ms = run_length_ms(track.left_ms, track.rhythm, track.starts == 1)
        end_ms = self.now_ms + length_ms
        self._push(end_ms if track.until_ms is None else min(end_ms, track.until_ms), track, start.run, None)
        self._owed.pop(start.job, None)

    def _evict(self, evict: say.Evict) -> None:
        if evict.kind is UnitKind.HOLD:
            self._owed.pop(evict.job, None)  # the job that took the hold also got what was evicted for it
            return
        track, recorder = self._active[evict.job], self.recorder
        if evict.preemptor is not None:
            self._owed[evict.preemptor] = self._owed.get(evict.preemptor, 0) + 1
        if evict.kind in (UnitKind.WANTED, UnitKind.SURPLUS):
            freed = track.each_milli * len(evict.replicas)
            idle_milli = freed if track.idle else 0
            if track.idle_beyond and evict.reason.code in (Code.IdleTakenBack, Code.LargestShare):
                track.idle_beyond -= len(evict.replicas)
                idle_milli = freed
            lost = track.shrink(evict.run, evict.replicas, self.now_ms)
        else:
            freed, idle_milli = track.running_milli, track.idle_milli
            lost = track.evict(evict.replicas, evict.moved, self.now_ms)
            recorder.running_jobs -= 1
            if evict.requeued:
                recorder.waiting_jobs += 1
                recorder.waiting += track.core_milli
            else:
                # There is no owner in a replay who would start it again.
                self.brain.apply(ev.JobCancelled(track.id), self.now_ms)
                self._close(track, End.STOPPED)
        recorder.run(track.team, idle_milli - freed, False)
        recorder.run(track.team, -idle_milli, True)
        recorder.leaving += freed
        self.taken.append(
            Taken(
                time_ms=self.now_ms,
                job=track.id,
                team=track.team_name,
                priority=track.spec.priority,
                gpu_milli=freed,
                preemptor=evict.preemptor,
                code=evict.reason.code,
                lost=lost,
                told=evict.lost_work,
                moved=evict.moved,
            )
        )
        self._push(self.now_ms + self._leaves_in_ms(evict), track, evict.run, evict.replicas)

    def _leaves_in_ms(self, evict: say.Evict) -> int:
        soonest = self.setup.jobs.leave_after_ms
        if evict.reason.code is Code.NodeLost or soonest is None:
            return evict.grace_ms
        return min(soonest, evict.grace_ms)

    def _change_claim(self, decision: say.Promote | say.Demote) -> None:
        track = self._active[decision.job]
        if decision.reason.code is Code.CoreGrows:
            return
        before = track.idle_milli
        demoted, beyond = isinstance(decision, say.Demote), len(decision.replicas)
        if beyond:
            track.idle_beyond += beyond if demoted else -beyond
        else:
            track.idle, track.idle_beyond = demoted, 0 if demoted else track.surplus
        self.recorder.idle += track.idle_milli - before

    def _find_fruitless(self) -> None:
        """Count evictions whose preemptor has neither started nor holds a promise (P7)."""
        held = self.brain.state.held
        for preemptor in [job for job in self._owed if job not in held]:
            self.fruitless += self._owed.pop(preemptor)

    def _close(self, track: Track, end: End) -> None:
        track.end = end
        track.end_ms = self.now_ms
        self._ended += 1
        del self._active[track.id]
        if not track.leaving:
            self.brain.forget(track.id)

    def _push(self, time_ms: int, track: Track, run: int, replicas: tuple[int, ...] | None) -> None:
        self._pushed += 1
        heapq.heappush(self._heap, _Due(time_ms, self._pushed, track, run, replicas))


@contextmanager
def _rare_collections() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(*COLLECT_EVERY)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
