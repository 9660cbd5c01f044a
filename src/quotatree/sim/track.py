"""Where does one job stand in its life: how much work is left, since when does it run or wait, what has it cost?

The replay's own record of a job. Every milli-GPU x millisecond that the job held is booked exactly once: useful, lost,
paused for a checkpoint, or leaving.
"""

from __future__ import annotations

from quotatree.core import JobId, JobSpec
from quotatree.sim.outcome import End, JobOutcome
from quotatree.sim.work import Rhythm, completed, cut_short
from quotatree.sim.workload import Submission

Leaving = dict[tuple[int, tuple[int, ...]], tuple[int, int]]
"""Replicas that were told to go and have not left: (run, replicas) -> (milli-GPU, since when in ms)."""


class Track:
    """The record of one job. `since_ms` is when its present run began, None while it does not run."""

    __slots__ = (
        "_surplus_since", "_waits_since", "core_milli", "core_replicas", "each_milli", "end", "end_ms", "evictions", "first_start_ms",
        "gpu_milli", "id", "idle", "idle_beyond", "idle_starts", "leaving", "leaving_cost", "left_ms", "lost", "moves", "paused", "rhythm",
        "run", "since_ms", "spec", "starts", "surplus", "team", "team_name", "until_ms", "useful", "waited_ms", "work_ms",
    )  # fmt: skip

    def __init__(self, submission: Submission, core_replicas: int, team_name: str, team: int) -> None:
        spec = submission.spec
        self.spec: JobSpec = spec
        self.id: JobId = spec.id
        self.rhythm: Rhythm = submission.rhythm
        self.work_ms = self.left_ms = submission.work_ms
        self.gpu_milli = submission.gpu_milli
        self.until_ms = submission.until_ms
        self.each_milli = spec.groups[0].shape.gpu_milli
        self.core_replicas = core_replicas
        self.core_milli = self.each_milli * core_replicas
        self.team, self.team_name = team, team_name
        self.run = self.starts = self.idle_starts = self.evictions = self.moves = 0
        self.since_ms: int | None = None
        self.first_start_ms: int | None = None
        self.end: End | None = None
        self.end_ms: int | None = None
        self.idle = False
        self.surplus = 0  # replicas beyond the core that run, wanted ones too
        self.idle_beyond = 0  # how many of them run idle beside a regular core
        self._surplus_since = 0
        self.leaving: Leaving | None = None  # most jobs are never evicted: no dict for each of a million
        self._waits_since = spec.submitted_ms
        self.waited_ms = 0
        self.useful = self.lost = self.paused = self.leaving_cost = 0

    @property
    def running_milli(self) -> int:
        """Milli-GPU of a run of this job, replicas beyond its core included."""
        return self.core_milli + self.surplus * self.each_milli

    @property
    def idle_milli(self) -> int:
        """The part of `running_milli` that runs idle."""
        return self.running_milli if self.idle else self.idle_beyond * self.each_milli

    # -- its life --------------------------------------------------------------------------------------------

    def start(self, run: int, idle: bool, now_ms: int) -> None:
        self.stop_waiting(now_ms)
        self.run, self.since_ms, self.idle = run, now_ms, idle
        self.starts += 1
        self.idle_starts += idle
        if self.first_start_ms is None:
            self.first_start_ms = now_ms

    def stop_waiting(self, now_ms: int) -> None:
        self.waited_ms += now_ms - self._waits_since

    def grow(self, replicas: int, now_ms: int) -> None:
        self._book_surplus(now_ms)
        self.surplus += replicas

    def shrink(self, run: int, replicas: tuple[int, ...], now_ms: int) -> int:
        """Take replicas beyond the core away. Returns 0: no work is lost (P6 charges a restart that does not happen)."""
        self._book_surplus(now_ms)
        self.surplus -= len(replicas)
        self._begin_leaving(run, replicas, now_ms)
        return 0

    def evict(self, replicas: tuple[int, ...], moved: bool, now_ms: int) -> int:
        """Take the whole job away. Returns the work of this run to be done again, in milli-GPU x ms."""
        assert self.since_ms is not None
        part = cut_short(now_ms - self.since_ms, self.rhythm, self.starts == 1)
        self._book_surplus(now_ms)
        self.surplus = self.idle_beyond = 0
        self.left_ms -= part.saved_ms
        self.useful += part.saved_ms * self.core_milli
        self.lost += (part.unsaved_ms + part.restart_ms) * self.core_milli
        self.paused += part.paused_ms * self.core_milli
        self.since_ms = None
        self._waits_since = now_ms
        if moved:
            self.moves += 1
        else:
            self.evictions += 1
        self._begin_leaving(self.run, replicas, now_ms)
        return part.unsaved_ms * self.core_milli

    def leave(self, run: int, replicas: tuple[int, ...], now_ms: int) -> int | None:
        """Note that these replicas have left. Returns the milli-GPU this frees, or None if they were not leaving."""
        if self.leaving is None or (run, replicas) not in self.leaving:
            return None
        milli, since_ms = self.leaving.pop((run, replicas))
        self.leaving = self.leaving or None
        self.leaving_cost += milli * (now_ms - since_ms)
        return milli

    def complete(self, now_ms: int) -> None:
        assert self.since_ms is not None
        part = completed(now_ms - self.since_ms, self.left_ms, self.rhythm, self.starts == 1)
        self._book_surplus(now_ms)
        self.surplus = self.idle_beyond = 0
        self.left_ms = 0
        self.useful += part.saved_ms * self.core_milli
        self.lost += part.restart_ms * self.core_milli
        self.paused += part.paused_ms * self.core_milli
        self.since_ms = None

    def withdraw(self, now_ms: int) -> None:
        """End the job, running or waiting, before its work is done. All work of its last run counts as useful."""
        if self.since_ms is None:
            self.stop_waiting(now_ms)
            return
        self._book_surplus(now_ms)
        self.surplus = self.idle_beyond = 0
        part = cut_short(now_ms - self.since_ms, self.rhythm, self.starts == 1)
        self.useful += (part.saved_ms + part.unsaved_ms) * self.core_milli
        self.lost += part.restart_ms * self.core_milli
        self.paused += part.paused_ms * self.core_milli
        self.since_ms = None

    def outcome(self, now_ms: int) -> JobOutcome:
        """The outcome as of `now_ms`. A present run counts up to now, its unsaved work as useful."""
        end, waited_ms = self.end, self.waited_ms
        useful, lost, paused, leaving = self.useful, self.lost, self.paused, self.leaving_cost
        if end is None:
            end = End.WAITING if self.since_ms is None else End.RUNNING
            if self.since_ms is None:
                waited_ms += now_ms - self._waits_since
            else:
                part = cut_short(now_ms - self.since_ms, self.rhythm, self.starts == 1)
                useful += (part.saved_ms + part.unsaved_ms) * self.core_milli
                useful += (now_ms - self._surplus_since) * self.surplus * self.each_milli
                lost += part.restart_ms * self.core_milli
                paused += part.paused_ms * self.core_milli
        if self.leaving is not None:
            leaving += sum(milli * (now_ms - since_ms) for milli, since_ms in self.leaving.values())
        return JobOutcome(
            id=self.spec.id,
            team=self.team_name,
            quota=self.spec.quota,
            module=self.spec.module.value,
            priority=self.spec.priority,
            gpu_milli=self.gpu_milli,
            submit_ms=self.spec.submitted_ms,
            work_ms=self.work_ms,
            end=end,
            first_start_ms=self.first_start_ms,
            end_ms=self.end_ms,
            waited_ms=waited_ms,
            starts=self.starts,
            idle_starts=self.idle_starts,
            evictions=self.evictions,
            moves=self.moves,
            useful=useful,
            lost=lost,
            paused=paused,
            leaving=leaving,
        )

    # -- booking ---------------------------------------------------------------------------------------------

    def _book_surplus(self, now_ms: int) -> None:
        """Book the time of surplus replicas since the last booking; all of it is useful."""
        self.useful += (now_ms - self._surplus_since) * self.surplus * self.each_milli
        self._surplus_since = now_ms

    def _begin_leaving(self, run: int, replicas: tuple[int, ...], now_ms: int) -> None:
        if self.leaving is None:
            self.leaving = {}
        self.leaving[run, replicas] = (self.each_milli * len(replicas), now_ms)
