"""How long would each team have waited alone? Its quota as a cluster of its own, with nobody to share with.

The yardstick of sharing safety: a team that waits longer in the shared cluster than it would alone has a reason to
leave. The private cluster has as many GPUs as the quota's min, on nodes like those of the shared one, the quota's own
strategy, protections and preemption within the quota. Nobody is there to lend, so nothing runs idle; what the operator
changed meanwhile is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from quotatree.core import WHOLE_GPU, Bounds, Idle, JobSpec, QuotaSpec, Scope, SelfLevels
from quotatree.sim.brain import CoreBrain
from quotatree.sim.outcome import JobOutcome
from quotatree.sim.replay import Replay
from quotatree.sim.setup import PRODUCT, Setup
from quotatree.sim.sizing import fitting_nodes
from quotatree.sim.trace import Trace
from quotatree.sim.workload import LeftOut, Workload

Mapper = Callable[[Callable[["Alone"], dict[str, int]], Iterable["Alone"]], Iterable[dict[str, int]]]
"""The builtin `map`, or a replacement that uses several processes."""


@dataclass(frozen=True, slots=True)
class Alone:
    """One private cluster to be simulated; a value, so that it can be sent to another process."""

    shared: Setup
    private: Setup
    trace: Trace


def private_waits(setup: Setup, trace: Trace, mapper: Mapper = map) -> dict[str, int]:
    """Milliseconds that each job waited in all in its team's own cluster, for those that started there."""
    found: dict[str, int] = {}
    for waits in mapper(waits_alone, private_clusters(setup, trace)):
        found.update(waits)
    return found


def private_clusters(setup: Setup, trace: Trace) -> list[Alone]:
    """One private cluster for each leaf quota with jobs and GPUs.

    Those with most jobs come first, so that several processes end at about the same time.
    """
    workload = Workload(setup)
    jobs: dict[str, list[int]] = {}
    for number, job in enumerate(trace.jobs):
        submission = workload.submission(job)
        if not isinstance(submission, LeftOut):
            jobs.setdefault(submission.spec.quota, []).append(number)
    found = []
    for quota in leaves(setup):
        mine = jobs.get(quota.id, [])
        if mine and quota.min.gpu_milli:
            part = Trace(tuple(trace.jobs[number] for number in mine), trace.source)
            found.append(Alone(setup, _private(setup, quota), part))
    return sorted(found, key=lambda alone: -len(alone.trace.jobs))


def waits_alone(alone: Alone) -> dict[str, int]:
    return {job.id: job.waited_ms for job in outcomes_alone(alone) if job.first_start_ms is not None}


def outcomes_alone(alone: Alone) -> list[JobOutcome]:
    replay = Replay(
        alone.private,
        alone.trace,
        CoreBrain(alone.private.settings),
        workload=Workload(alone.shared),
        resubmit=never_idle,
    )
    replay.run()
    return [track.outcome(replay.now_ms) for track in replay.tracks]


def never_idle(spec: JobSpec) -> JobSpec:
    return spec if spec.idle is Idle.NEVER else replace(spec, idle=Idle.NEVER)


def leaves(setup: Setup) -> list[QuotaSpec]:
    """Quotas that have a parent and no children; the min of the others is divided among these."""
    parents = {quota.parent for quota in setup.quotas}
    return [quota for quota in setup.quotas if quota.id not in parents and quota.parent is not None]


def _private(setup: Setup, quota: QuotaSpec) -> Setup:
    gpus = (quota.min.gpu_milli or 0) // WHOLE_GPU
    pools = _pools_of(setup, quota)
    like = next(node for node in setup.nodes if node.gpus and node.pool in pools)
    root = replace(
        quota,
        parent=None,
        min=Bounds(),
        draws=((like.pool, Bounds(max(1, gpus) * WHOLE_GPU)),),
        self_level=_within(quota.self_level),
        child_level=None,
        min_runtime_ms=_inherited(setup, quota, "min_runtime_ms"),
        preemption_delay_ms=_inherited(setup, quota, "preemption_delay_ms"),
    )
    return replace(
        setup,
        name=f"{setup.name}: {quota.id} alone",
        baseline=PRODUCT,
        pools=tuple(pool for pool in setup.pools if pool.pool == like.pool),
        nodes=fitting_nodes(max(1, gpus), like),
        quotas=(root,),
        limits=(),
        teams=(),
        default_quota=None,
        rules=(),
        timeline=(),
        private_clusters=False,
    )


def _within(policies: SelfLevels) -> SelfLevels:
    """The policies that reach the quota's own jobs, with nobody beside it to reach."""
    return SelfLevels(replace(policy, scope=Scope.OWN) for policy in policies if policy.reaches_own)


def _path(setup: Setup, quota: QuotaSpec) -> list[QuotaSpec]:
    specs = {spec.id: spec for spec in setup.quotas}
    path = [quota]
    while path[-1].parent is not None:
        path.append(specs[path[-1].parent])
    return path


def _pools_of(setup: Setup, quota: QuotaSpec) -> set[str]:
    return {pool for pool, _ in _path(setup, quota)[-1].draws}


def _inherited(setup: Setup, quota: QuotaSpec, name: str) -> int | None:
    for spec in _path(setup, quota):
        value: int | None = getattr(spec, name)
        if value is not None:
            return value
    return None
