"""How far does a job get in one run, and what of it survives an eviction?

A run is a stretch of wall time on GPUs. The part in which the job gets on is *productive*:

    | restart | work ........ | pause | work ........ | pause | work ...
    |<------------ interval ------->|<--------- interval ---->|
                                    ^ saved                   ^ saved

The first productive time of every run but a job's first is its restart (P6). With a checkpoint interval, each interval
ends with a pause in which the state is written; what was done before its end is saved. Intervals count from the start
of the run, as in the core's cost (unit.py), so that what the core expects to be lost is what is lost here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from quotatree.core import (
    NOTEBOOK_CAP_MS,
    RESTART_LARGE_MS,
    RESTART_SMALL_MS,
    SMALL_JOB_MILLI,
    Module,
    Refused,
)


class Checkpoints(Enum):
    """What determines how often a job saves its state: the trace, nothing (never), or one interval for all."""

    TRACE = "trace"
    NONE = "none"
    INTERVAL = "interval"


@dataclass(frozen=True, slots=True)
class CheckpointModel:
    """How jobs save their state. `interval_ms` is for INTERVAL; `pause_ms` is how long a checkpoint stops the work."""

    kind: Checkpoints = Checkpoints.TRACE
    interval_ms: int | None = None
    pause_ms: int = 0

    def __post_init__(self) -> None:
        if (self.kind is Checkpoints.INTERVAL) != (self.interval_ms is not None):
            raise Refused(
                "checkpoints.interval",
                self.interval_ms,
                "P6",
                'belongs to model = "interval", and only there',
            )
        if self.interval_ms is not None and self.interval_ms <= self.pause_ms:
            raise Refused(
                "checkpoints.interval",
                self.interval_ms,
                "P6",
                "must be longer than the pause for a checkpoint",
            )

    def interval_of(self, declared_ms: int | None) -> int | None:
        """The checkpoint interval of a job whose trace says `declared_ms`; None if it never saves.

        An interval not longer than the pause leaves no time to work, so it counts as never.
        """
        if self.kind is Checkpoints.NONE:
            return None
        interval_ms = self.interval_ms if self.kind is Checkpoints.INTERVAL else declared_ms
        return interval_ms if interval_ms is not None and interval_ms > self.pause_ms else None


class Rhythm(NamedTuple):
    """How one job spends the wall time of its runs."""

    interval_ms: int | None
    pause_ms: int
    restart_ms: int
    module: Module


class Yield(NamedTuple):
    """How the wall time of a run was spent, in milliseconds; the four parts add up to it."""

    saved_ms: int
    unsaved_ms: int
    restart_ms: int
    paused_ms: int


def restart_ms(gpu_milli: int) -> int:
    """The cost of a restart for a job of this total size, in milliseconds (P6)."""
    return RESTART_SMALL_MS if gpu_milli <= SMALL_JOB_MILLI else RESTART_LARGE_MS


def run_length_ms(work_ms: int, rhythm: Rhythm, first: bool) -> int:
    """The wall time of a run that does all of `work_ms`. `first`: it is the job's first run, without a restart."""
    needed_ms = work_ms if first else work_ms + rhythm.restart_ms
    if rhythm.interval_ms is None or not rhythm.pause_ms:
        return needed_ms
    each_ms = rhythm.interval_ms - rhythm.pause_ms
    pauses = max(0, needed_ms - 1) // each_ms  # the last piece of work is followed by no checkpoint
    return needed_ms + pauses * rhythm.pause_ms


def cut_short(elapsed_ms: int, rhythm: Rhythm, first: bool) -> Yield:
    """How a run that was told to stop after `elapsed_ms` spent its time."""
    productive_ms = _productive_ms(elapsed_ms, rhythm)
    restarted_ms = 0 if first else min(productive_ms, rhythm.restart_ms)
    worked_ms = productive_ms - restarted_ms
    saved_ms = _saved_ms(elapsed_ms, worked_ms, restarted_ms, rhythm)
    return Yield(saved_ms, worked_ms - saved_ms, restarted_ms, elapsed_ms - productive_ms)


def completed(elapsed_ms: int, work_ms: int, rhythm: Rhythm, first: bool) -> Yield:
    """How a run that did all of its `work_ms` in `elapsed_ms` spent its time."""
    restarted_ms = 0 if first else rhythm.restart_ms
    return Yield(work_ms, 0, restarted_ms, elapsed_ms - work_ms - restarted_ms)


def _productive_ms(elapsed_ms: int, rhythm: Rhythm) -> int:
    if rhythm.interval_ms is None or not rhythm.pause_ms:
        return elapsed_ms
    whole, rest_ms = divmod(elapsed_ms, rhythm.interval_ms)
    each_ms = rhythm.interval_ms - rhythm.pause_ms
    return whole * each_ms + min(rest_ms, each_ms)


def _saved_ms(elapsed_ms: int, worked_ms: int, restarted_ms: int, rhythm: Rhythm) -> int:
    """Work of the run that an eviction does not undo: up to the last checkpoint.

    A service loses nothing, because its work was delivered; a notebook loses at most an hour (P6).
    """
    if rhythm.module is Module.EAS:
        return worked_ms
    saved_ms = 0
    if rhythm.interval_ms is not None:
        upto_ms = elapsed_ms // rhythm.interval_ms * rhythm.interval_ms
        saved_ms = max(0, _productive_ms(upto_ms, rhythm) - restarted_ms)
    if rhythm.module is Module.DSW:
        saved_ms = max(saved_ms, worked_ms - NOTEBOOK_CAP_MS)
    return saved_ms
