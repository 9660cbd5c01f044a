"""When will a waiting job start, with a range, and what does that rest on?

The planner is played forward three times: with durations that a quarter, half and three quarters of the jobs alike did not
exceed. What cannot be told is said, with the reason. Nothing is submitted meanwhile, so an estimate is rather early than late
where others keep submitting what goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Final

from quotatree.core import Job, JobId, JobSpec, Module, Snapshot, restore
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
    """A job of a snapshot, and what is known: who owns each job, how long finished ones ran, the longest run of each spec."""

    snapshot: Snapshot
    job: JobId
    now_ms: int
    owners: Mapping[str, str]
    durations: Durations
    longest_run_ms: Callable[[JobSpec], int | None] = lambda spec: None


def estimate(asked: Question, seconds: float = SECONDS) -> Estimate:
    """Play the state forward three times, the likely case first, within so many seconds of processor time in all."""
    groups: dict[JobId, int | None] = {}
    deadline = process_time() + seconds
    likely, early, late = (_play(asked, share, groups, deadline) for share in (LIKELY, EARLY, LATE))
    rests_on = _rests_on(asked, groups)
    if likely.start_ms is None:
        return Estimate(None, None, None, _why_not(asked, groups) or likely.why, rests_on)
    seen = [one.start_ms for one in (likely, early, late) if one.start_ms is not None]
    earliest = min(seen) if early.start_ms is not None else None
    latest = max(seen) if len(seen) == 3 else None
    return Estimate(earliest, likely.start_ms, latest, "", rests_on)


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
    return (*told, "nobody submits anything meanwhile")
