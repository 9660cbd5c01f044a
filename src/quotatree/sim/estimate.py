"""When will a waiting job start, with a range, and what does that rest on?

The planner is played forward three times: with durations that a quarter, half and three quarters of the jobs alike did not
exceed. The middle one is the likely start. The range comes from how earlier answers came true (`calibration`), or, while
these are too few, from the three plays. What cannot be told is said, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Final

from quotatree.core import Job, JobId, JobSpec, Module, Snapshot, restore
from quotatree.sim.calibration import ENOUGH, LEFT_OUT, Calibration, Outcome, calibrated
from quotatree.sim.durations import FEW, GROUPS, Durations, RunKind, left_ms
from quotatree.sim.forward import Forward, Played

LIKELY: Final = 0.5
EARLY: Final = 0.25
LATE: Final = 0.75
SECONDS: Final = 8.0
"""How much processor time all plays together may take."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """`likely_ms` is None if it cannot be told; `why` not. `earliest_ms` or `latest_ms` is None if that end is open. `rests_on`: in sentences."""

    earliest_ms: int | None
    likely_ms: int | None
    latest_ms: int | None
    why: str
    rests_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A job of a snapshot, and what is known: who owns each job, how long finished ones ran, the longest run of each spec.

    `outcomes`: how earlier answers came true, newest first.
    """

    snapshot: Snapshot
    job: JobId
    now_ms: int
    owners: Mapping[str, str]
    durations: Durations
    longest_run_ms: Callable[[JobSpec], int | None] = lambda spec: None
    outcomes: Sequence[Outcome] = ()


def estimate(asked: Question, seconds: float = SECONDS) -> Estimate:
    """Play the state forward, the likely case first, within so many seconds of processor time in all."""
    groups: dict[JobId, int | None] = {}
    deadline = process_time() + seconds
    learned = calibrated(asked.outcomes)
    likely = _play(asked, LIKELY, groups, deadline)
    if likely.start_ms is None:
        return Estimate(None, None, None, _why_not(asked, groups) or likely.why, _rests_on(asked, groups))
    if learned is not None:
        shortest_ms, longest_ms = learned.range_ms(likely.start_ms - asked.now_ms)
        earliest, latest = asked.now_ms + shortest_ms, asked.now_ms + longest_ms
        rests_on = (*_rests_on(asked, groups), _range_rests_on(learned))
        return Estimate(earliest, likely.start_ms, latest, "", rests_on)
    early, late = (_play(asked, share, groups, deadline) for share in (EARLY, LATE))
    rests_on = (*_rests_on(asked, groups), _range_rests_on(None))
    seen = [one.start_ms for one in (likely, early, late) if one.start_ms is not None]
    first = min(seen) if early.start_ms is not None else None
    last = max(seen) if len(seen) == 3 else None
    return Estimate(first, likely.start_ms, last, "", rests_on)


def _play(asked: Question, share: float, groups: dict[JobId, int | None], deadline: float) -> Played:
    def left(job: Job, ran_ms: int) -> int | None:
        spec = job.spec
        most_ms = asked.longest_run_ms(spec)
        bound = None if most_ms is None else max(1, most_ms - ran_ms)
        if spec.module is Module.EAS:
            return bound
        size = sum(group.replicas * group.shape.gpu_milli for group in spec.groups)
        kind = RunKind(asked.owners.get(spec.id, ""), spec.quota, spec.module.value, size)
        typical = asked.durations.typical(kind)
        groups[spec.id] = None if typical is None else typical.group
        if typical is None:
            return bound
        found = left_ms(typical, ran_ms, share)
        return found if bound is None else min(found, bound)

    return Forward(restore(asked.snapshot), asked.job, asked.now_ms, left, deadline).play()


def _why_not(asked: Question, groups: Mapping[JobId, int | None]) -> str:
    """Why too little is known to tell a start; "" if durations were known of all jobs that were played."""
    unknown = sum(group is None for group in groups.values())
    if not unknown:
        return ""
    return (
        f"not enough finished jobs: {asked.durations.count} in this tree, and nothing is told from fewer than {FEW} "
        f"alike; {unknown} job(s) that may be in the way could run on"
    )


def _rests_on(asked: Question, groups: Mapping[JobId, int | None]) -> tuple[str, ...]:
    if not asked.durations.count:
        return ("no job has finished yet, so that nothing is known of durations",)
    by_group: dict[int, int] = {}
    unknown = 0
    for group in groups.values():
        if group is None:
            unknown += 1
        else:
            by_group[group] = by_group.get(group, 0) + 1
    told = [f"how long {asked.durations.count} finished jobs ran"]
    told += [
        f"{count} job(s) taken to run as long as those of {GROUPS[group]}"
        for group, count in sorted(by_group.items())
    ]
    if unknown:
        told.append(f"{unknown} job(s) like which fewer than {FEW} have finished, taken to run on")
    return (*told, "no other job is submitted meanwhile")


def _range_rests_on(learned: Calibration | None) -> str:
    if learned is None:
        return f"the range: from shorter and longer runs, since fewer than {ENOUGH} answers have come true so far"
    return f"the range: how far {1 - 2 * LEFT_OUT:.0%} of the last {learned.outcomes} answers were off"
