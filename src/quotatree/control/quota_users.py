"""Who uses a quota, and who waits for how much of it? One row for each user and workspace, as far as the reader sees them.

The rows add up to the figures of the quota (Q7): what somebody may not know is summed, never left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quotatree.access.check import OnQuota, check
from quotatree.access.redaction import Reader
from quotatree.access.roles import Action
from quotatree.control.eyes import eyes
from quotatree.control.queries import Query
from quotatree.control.world import World
from quotatree.core import Claim, Job, Phase, Unit, least_asked_for


@dataclass(slots=True)
class UserTotal:
    """What the jobs of one user in one workspace have and wait for.

    Without names: all whose jobs the reader may not see, together. `regular_milli` counts holds, as quotas do (P9).
    `waiting_milli` is the least that would do, as in the figures of a quota (P12).
    """

    user: str | None
    workspace: str | None
    running_jobs: int = 0
    regular_milli: int = 0
    idle_milli: int = 0
    waiting_jobs: int = 0
    waiting_milli: int = 0
    waiting_since_ms: int | None = None


def quota_users(actor: str, quota: str, *, below: bool) -> Query[tuple[UserTotal, ...]]:
    """Who uses the quota, largest use first. `below`: with the quotas below it."""

    def query(world: World, now_ms: int) -> tuple[UserTotal, ...]:
        del now_ms
        check(world.directory, actor, Action.SEE_QUOTA, OnQuota(world.path(quota)))
        found = world.quota(quota)
        counted = found.subtree() if below else [found]
        return _totals(world, eyes(world, actor), (job for one in counted for job in one.jobs.values()))

    return query


def _totals(world: World, reads: Reader, jobs: Iterable[Job]) -> tuple[UserTotal, ...]:
    found: dict[tuple[str | None, str | None], UserTotal] = {}
    for job in jobs:
        workspace = job.spec.workspace
        seen = reads.everything or workspace in reads.jobs_of
        key = (world.cards[job.id].owner, workspace) if seen else (None, None)
        total = found.get(key)
        if total is None:
            total = found[key] = UserTotal(*key)
        _count(total, job)
    told = (one for key, one in found.items() if one != UserTotal(*key))  # stopped jobs have nothing
    return tuple(sorted(told, key=_largest_first))


def _count(total: UserTotal, job: Job) -> None:
    if job.core is not None:
        total.running_jobs += 1
        _count_unit(total, job.core)
        for extra in job.extras.values():
            _count_unit(total, extra)
    if job.hold is not None:
        _count_unit(total, job.hold.unit)
    if job.phase is Phase.WAITING:
        total.waiting_jobs += 1
        total.waiting_milli += _asked_milli(job)
        since_ms = total.waiting_since_ms
        total.waiting_since_ms = job.queued_ms if since_ms is None else min(since_ms, job.queued_ms)


def _count_unit(total: UserTotal, unit: Unit) -> None:
    if unit.cls.claim is Claim.IDLE:
        total.idle_milli += unit.footprint.gpu_milli
    else:
        total.regular_milli += unit.footprint.gpu_milli


def _asked_milli(job: Job) -> int:
    """GPUs without which a waiting job cannot start, in thousandths. A job that is put off is in no queue (R5)."""
    queued = job.quota.queue.of_job.get(job.id)
    if queued is not None:
        return queued.request.gpu_milli
    return sum(job.shape_of(replica).gpu_milli for replica in least_asked_for(job))


def _largest_first(total: UserTotal) -> tuple[int, int, str, str]:
    used = total.regular_milli + total.idle_milli
    return -used, -total.waiting_milli, total.user or "", total.workspace or ""
