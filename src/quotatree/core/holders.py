"""Who holds the capacity that a waiting job needs (X1)?

A job holds what its running replicas use, and what it was promised: quotas count a hold as if the job ran there (P9). The
units of a tree are kept by class, so that this costs as many steps as there are kinds of work, not jobs (A4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quotatree.core.model.job import Claim, Job, JobId
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.resources import GPU
from quotatree.core.model.unit import UnitClass, UnitKind
from quotatree.core.reasons import Code, Reason
from quotatree.core.state import State


@dataclass(frozen=True, slots=True)
class Holder:
    """The jobs of one quota that hold capacity a waiting job needs, summed up without their names."""

    quota: str
    claim: Claim
    """Whether they run within quotas, or on idle capacity (P3)."""
    jobs: int
    """How many they are, with those that are held."""
    held: int
    """How many of them do not run yet: their places are promised (P9)."""
    gpu_milli: int
    """What all of them hold, with what is promised."""
    lowest_priority: int
    highest_priority: int


def who_holds(state: State, job: Job, reasons: Sequence[Reason]) -> tuple[Holder, ...]:
    """Return the work, by quota, that uses what a job waits for; empty if the reasons call nothing full.

    For regular work it is the regular work in the subtree of the topmost full quota. For an idle claim it is all work of the tree,
    or where the quota's own `idle_limit` is used up, its idle work (I2).
    """
    codes = {reason.code for reason in reasons}
    full = [
        state.quotas[QuotaId(dict(reason.facts)["quota"])]
        for reason in reasons
        if reason.code in (Code.OwnQuotaFull, Code.AncestorFull)
    ]
    borrowed_in: Quota | None = job.quota if Code.IdleLimitReached in codes else None
    if Code.IdleRoomShort in codes:
        borrowed_in = job.quota.root
        full.append(job.quota.root)
    found: list[Holder] = []
    if full:
        found += _holders(state, min(full, key=lambda quota: quota.depth), Claim.REGULAR)
    if borrowed_in is not None:
        found += _holders(state, borrowed_in, Claim.IDLE)
    return tuple(found)


def _holders(state: State, top: Quota, claim: Claim) -> Iterator[Holder]:
    by_quota: dict[Quota, list[UnitClass]] = {}
    for cls in state.classes_below(top.root):
        if cls.buckets and cls.claim is claim and top.contains(cls.quota):
            by_quota.setdefault(cls.quota, []).append(cls)
    for quota, classes in sorted(by_quota.items(), key=lambda entry: entry[0].tin):
        cores = sum(
            len(bucket) for cls in classes if cls.kind is UnitKind.CORE for bucket in cls.buckets.values()
        )
        others = _without_such_a_core(classes, claim)
        priorities = [cls.priority for cls in classes]
        yield Holder(
            quota=quota.id,
            claim=claim,
            jobs=cores + len(others),
            held=sum(1 for job in others if state.jobs[job].core is None),
            gpu_milli=sum(cls.standing[GPU] for cls in classes),
            lowest_priority=min(priorities),
            highest_priority=max(priorities),
        )


def _without_such_a_core(classes: list[UnitClass], claim: Claim) -> set[JobId]:
    """Return the jobs with units of these classes whose core does not run, or not with this claim."""
    return {
        unit.job.id
        for cls in classes
        if cls.kind is not UnitKind.CORE
        for bucket in cls.buckets.values()
        for *_, unit in bucket
        if unit.job.core is None or unit.job.core.cls.claim is not claim
    }
