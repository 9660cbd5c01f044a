"""The figures shown for each quota (Q7). Every number can be recomputed from the jobs, and a test does."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass

from quotatree.core.model.job import Claim, Job, least_asked_for, total_request
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import loan, squeezed, unused
from quotatree.core.model.resources import GPU, ZERO, Bounds, Resources
from quotatree.core.model.unit import UnitKind
from quotatree.core.state import State


@dataclass(frozen=True, slots=True)
class QuotaReport:
    """One quota at a glance.

    used_own, used_below   regular work of the quota itself and of its descendants
    loan                   how much of it stands above the quota's min
    squeezed               what it cannot use of its guarantee now, because of `stood_on_by`
    shortfall              for a root: what its pools cannot deliver: nodes lost, devices ill, used by others
    idle_borrowed          idle work of the quota and its descendants
    idle_lent              how much of the unused guarantee idle work from outside may be standing on
    queued, queued_jobs    demand that waits at the quota itself
    queued_below, queued_jobs_below   demand that waits at its descendants
    free                   what a regular job of the quota could start now, along the whole path
    """

    id: QuotaId
    depth: int
    desired: Bounds
    actual: Bounds
    used_own: Resources
    used_below: Resources
    loan: Resources
    squeezed: Resources
    stood_on_by: tuple[tuple[QuotaId, Resources], ...]
    shortfall: Resources
    idle_borrowed: Resources
    idle_lent: Resources
    queued: Resources
    queued_jobs: int
    queued_below: Resources
    queued_jobs_below: int
    free: Resources


def quota_report(state: State, quota_id: str) -> QuotaReport:
    quota = state.quotas[QuotaId(quota_id)]
    used_own = Resources(*quota.own_used)
    tight = Resources(*(squeezed(quota, i) for i in range(3)))
    outside = [quota.root.idle[i] - quota.idle[i] for i in range(3)]
    queued, queued_jobs = _queued(state, (quota,))
    queued_below, queued_jobs_below = _queued(state, tuple(quota.subtree())[1:])
    return QuotaReport(
        id=quota.id,
        depth=quota.depth,
        desired=Bounds(*quota.min),
        actual=Bounds(*quota.actual),
        used_own=used_own,
        used_below=Resources(*quota.used).minus(used_own),
        loan=Resources(*(loan(quota, i) for i in range(3))),
        squeezed=tight,
        stood_on_by=_stood_on_by(quota) if tight != ZERO else (),
        shortfall=_shortfall(state, quota),
        idle_borrowed=Resources(*quota.idle),
        idle_lent=Resources(
            *(min(unused(quota, i), outside[i]) if quota.spec.lending else 0 for i in range(3))
        ),
        queued=queued,
        queued_jobs=queued_jobs,
        queued_below=queued_below,
        queued_jobs_below=queued_jobs_below,
        free=_free(quota),
    )


@dataclass(slots=True)
class ModuleTotal:
    """What the jobs of one module have and wait for. `regular_milli` counts holds, as quotas do (P9)."""

    running_jobs: int = 0
    regular_milli: int = 0
    idle_milli: int = 0
    waiting_jobs: int = 0
    waiting_milli: int = 0


def module_totals(state: State, quotas: Container[str]) -> dict[Module, ModuleTotal]:
    """Return totals over these quotas, by module. Counted by class: nothing is asked of single jobs."""
    found = {module: ModuleTotal() for module in Module}
    for root in state.roots:
        for cls in state.classes_below(root):
            if cls.quota.id not in quotas:
                continue
            total = found[cls.module]
            if cls.claim is Claim.IDLE:
                total.idle_milli += cls.standing[GPU]
            else:
                total.regular_milli += cls.standing[GPU]
            if cls.kind is UnitKind.CORE:
                total.running_jobs += sum(len(bucket) for bucket in cls.buckets.values())
    for first, request, jobs in _waiting(state, [q for name, q in state.quotas.items() if name in quotas]):
        total = found[first.spec.module]
        total.waiting_jobs += jobs
        total.waiting_milli += request.gpu_milli * jobs
    return found


@dataclass(slots=True)
class JobTotal:
    """How many jobs of one quota and module run and wait. `waiting_since_ms`: the longest wait's start; None: nobody waits."""

    running: int = 0
    waiting: int = 0
    waiting_since_ms: int | None = None

    def waits(self, jobs: int, since_ms: int) -> None:
        self.waiting += jobs
        if self.waiting_since_ms is None or since_ms < self.waiting_since_ms:
            self.waiting_since_ms = since_ms


def job_totals(state: State) -> dict[tuple[QuotaId, Module], JobTotal]:
    """Return what the jobs of each quota itself are about, by module; a quota and module without any is left out."""
    found: dict[tuple[QuotaId, Module], JobTotal] = {}
    for root in state.roots:
        for cls in state.classes_below(root):
            running = sum(len(bucket) for bucket in cls.buckets.values()) if cls.kind is UnitKind.CORE else 0
            if running:
                found.setdefault((cls.quota.id, cls.module), JobTotal()).running += running
    for quota in state.waiting_quotas.values():
        for alike in quota.queue.classes.values():
            first = state.jobs[alike.members[0][1]]
            if not first.running:
                since_ms = min(state.jobs[job].queued_ms for _, job in alike.members)
                total = found.setdefault((quota.id, first.spec.module), JobTotal())
                total.waits(len(alike.members), since_ms)
    for job in state.put_off.values():
        if job.retry_ms:
            found.setdefault((job.quota.id, job.spec.module), JobTotal()).waits(1, job.queued_ms)
    return found


def _queued(state: State, quotas: Collection[Quota]) -> tuple[Resources, int]:
    """Return what waiting jobs of these quotas ask for, and their number."""
    queued, number = ZERO, 0
    for _, request, jobs in _waiting(state, quotas):
        queued, number = queued.plus(request.times(jobs)), number + jobs
    return queued, number


def _waiting(state: State, quotas: Collection[Quota]) -> Iterator[tuple[Job, Resources, int]]:
    """Yield the jobs that wait at these quotas: one of those alike, what each of them asks for, and their number.

    They are counted by class: a queue may be ten thousand long, and figures are asked for often. Who backs off after
    starts that came to nothing stands in no queue, and waits all the same.
    """
    for quota in quotas:
        for alike in quota.queue.classes.values():
            first = state.jobs[alike.members[0][1]]
            if not first.running:
                yield first, alike.request, len(alike.members)
    for job in state.put_off.values():
        if job.retry_ms and job.quota in quotas:
            yield job, total_request(job, least_asked_for(job)), 1


def _free(quota: Quota) -> Resources:
    """Return the least room along the path; 0 for a resource that no quota on the path names."""
    found = []
    for i in range(3):
        rooms = [bound - q.used[i] for q in quota.path for j, bound in q.named if i == j]
        found.append(max(0, min(rooms)) if rooms else 0)
    return Resources(*found)


def _stood_on_by(quota: Quota) -> tuple[tuple[QuotaId, Resources], ...]:
    """Return which quotas use what this one cannot: own jobs of ancestors, and loans beside its path, with amounts."""
    found = [(above.id, Resources(*above.own_used)) for above in quota.path[1:]]
    for one in quota.path:
        found += [(s.id, Resources(*(loan(s, i) for i in range(3)))) for s in one.siblings()]
    return tuple((who, amount) for who, amount in found if amount != ZERO)


def _shortfall(state: State, quota: Quota) -> Resources:
    """Return how much of a root's draws its pools cannot deliver for lost nodes, ill devices and what others use; 0 below a root."""
    if quota.parent is not None:
        return ZERO
    short = [0, 0, 0]
    for pool, drawn in quota.spec.draws:
        live = [n for n in state.nodes if n.spec.pool == pool and n.state is not NodeState.LOST]
        for i in range(3):
            have = sum(n.usable[i] for n in live)
            wanted = sum(b[i] or 0 for r in state.roots for p, b in r.spec.draws if p == pool)
            short[i] += min(drawn[i] or 0, max(0, wanted - have))
    return Resources(*short)
