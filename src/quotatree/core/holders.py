"""Who holds the capacity that a waiting job needs (X1)?

A job holds what its running replicas use, and what it was promised: quotas count a hold as if the job ran there (P9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quotatree.core.model.job import Claim, Job
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.reasons import Code, Reason
from quotatree.core.state import State
from quotatree.core.state.units import units_of


@dataclass(frozen=True, slots=True)
class Holder:
    """The jobs of one quota that hold capacity a waiting job needs, summed up without their names."""

    quota: str
    jobs: int
    """How many they are, with those that are held."""
    held: int
    """How many of them do not run yet: their places are promised (P9)."""
    gpu_milli: int
    """What all of them hold, with what is promised."""
    lowest_priority: int
    highest_priority: int


def who_holds(state: State, reasons: Sequence[Reason]) -> tuple[Holder, ...]:
    """Return the regular work, by quota, in the subtree of the topmost quota that these reasons call full; empty if none is."""
    blocked = [r for r in reasons if r.code in (Code.OwnQuotaFull, Code.AncestorFull)]
    if not blocked:
        return ()
    full = [state.quotas[QuotaId(dict(reason.facts)["quota"])] for reason in blocked]
    top = min(full, key=lambda quota: quota.depth)
    return tuple(_holders(top))


def _holders(top: Quota) -> Iterator[Holder]:
    for quota in top.subtree():
        found = [(job, held) for job in quota.jobs.values() if (held := _regular_gpu_milli(job)) is not None]
        if found:
            priorities = [job.priority for job, _ in found]
            yield Holder(
                quota=quota.id,
                jobs=len(found),
                held=sum(1 for job, _ in found if job.core is None),
                gpu_milli=sum(gpu_milli for _, gpu_milli in found),
                lowest_priority=min(priorities),
                highest_priority=max(priorities),
            )


def _regular_gpu_milli(job: Job) -> int | None:
    """Return what the regular units of a job use or are promised, in milli-GPU; None if it has none."""
    regular = [unit for unit in units_of(job) if unit.cls.claim is Claim.REGULAR]
    return sum(unit.footprint.gpu_milli for unit in regular) if regular else None
