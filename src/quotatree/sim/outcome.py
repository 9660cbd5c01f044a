"""What became of each job, and what was taken from whom: the raw material of every metric.

Values only. The replay makes them; metrics, reports and files read them.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from quotatree.core import Code


class End(Enum):
    """How a job stood when the replay ended."""

    DONE = "done"
    RUNNING = "running"
    WAITING = "waiting"
    STOPPED = "stopped"  # a notebook that was taken and not queued again (P14)
    FAILED = "failed"  # preempted more often than it allows (P11)
    WITHDRAWN = "withdrawn"  # by its owner, running or waiting, before its work was done
    REFUSED = "refused"  # by the core, at submit (S11)


class JobOutcome(NamedTuple):
    """How one job fared. Times in ms since the start of the trace, GPU-time in milli-GPU x ms.

    `waited_ms` is all time between submit and end in which it did not run, also after evictions. GPU-time on devices
    is useful + lost (work to be done again, and restarts) + paused (for checkpoints) + leaving (told to stop, not yet
    gone). `idle_starts` counts starts on idle claims; moves within one plan count in `moves`, not in `evictions`.
    """

    id: str
    team: str
    quota: str
    module: str
    priority: int
    gpu_milli: int
    submit_ms: int
    work_ms: int
    end: End
    first_start_ms: int | None
    end_ms: int | None
    waited_ms: int
    starts: int
    idle_starts: int
    evictions: int
    moves: int
    useful: int
    lost: int
    paused: int
    leaving: int

    @property
    def allocated(self) -> int:
        return self.useful + self.lost + self.paused + self.leaving


class Taken(NamedTuple):
    """One eviction. `lost` is the work that really had to be done again, `told` the lost work the decision named (P6).

    Both are in milli-GPU x milliseconds. `moved`: the job started elsewhere in the same plan.
    """

    time_ms: int
    job: str
    team: str
    priority: int
    gpu_milli: int
    preemptor: str | None
    code: Code
    lost: int
    told: int
    moved: bool


class Refusal(NamedTuple):
    """A job that was refused at submit, or a step of the operator's timeline that was refused."""

    time_ms: int
    what: str
    why: str
