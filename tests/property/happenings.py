"""What may happen next: random events that make sense in a given state. Some are refused, which is fine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from quotatree.core import events as ev
from quotatree.core.model.job import FINAL_PHASES, Idle, Job, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import AmountLimit
from quotatree.core.model.resources import WHOLE_GPU, ZERO, Bounds, Resources
from quotatree.core.reasons import Code, because
from quotatree.core.state import State
from tests.property.worlds import MINUTE_MS, chance, pick, quota_spec

Happening = Callable[[Random, State, int], ev.Event | None]


def anything(random: Random, state: State, now_ms: int) -> ev.Event | None:
    """Return a random event, mostly an ordinary one; None if there is no job or node that it could happen to."""
    arrivals = (submit, submit, submit, submit_low, submit_low, push, push, push, push)
    ordinary = (*arrivals, *arrivals, left, left, left, end, end, cancel, checkpoint, confirm)
    return pick(random, *ordinary, *ordinary, *RARE)(random, state, now_ms)


def submit(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobSubmitted(job_spec(random, state, JobId(f"j{len(state.jobs):03}"), now_ms))


def submit_low(random: Random, state: State, now_ms: int) -> ev.Event:
    """Submit a job of low priority, a victim to be."""
    spec = job_spec(random, state, JobId(f"j{len(state.jobs):03}"), now_ms)
    return ev.JobSubmitted(replace(spec, priority=random.randint(1, 4), idle=Idle.NEVER))


def push(random: Random, state: State, now_ms: int) -> ev.Event:
    """Submit a job that may preempt: of high priority, at a quota with a policy if there is one."""
    spec = job_spec(random, state, JobId(f"j{len(state.jobs):03}"), now_ms)
    quotas: list[str] = [q.id for q in state.quotas.values() if q.spec.self_level or q.spec.child_level]
    quotas = quotas or [spec.quota]
    quota, priority = pick(random, *quotas), random.randint(5, 9)
    return ev.JobSubmitted(replace(spec, quota=quota, priority=priority, idle=Idle.NEVER))


def job_spec(random: Random, state: State, job_id: JobId, now_ms: int) -> JobSpec:
    groups: tuple[ReplicaGroup, ...] = (_group(random),)
    module = pick(random, Module.DLC, Module.DLC, Module.DSW, Module.EAS)
    min_replicas = None
    if chance(random, 10):
        groups += (_group(random),)
    elif groups[0].replicas > 1 and chance(random, 50):
        min_replicas = random.randint(1, groups[0].replicas)
    return JobSpec(
        job_id,
        pick(random, *state.quotas),
        groups,
        max(0, now_ms - pick(random, 0, 0, 0, 15 * MINUTE_MS)),
        module=module,
        priority=random.randint(1, 9),
        min_replicas=min_replicas,
        max_replicas=groups[0].replicas + random.randint(0, 2)
        if len(groups) == 1 and chance(random, 25)
        else None,
        idle=pick(random, Idle.NEVER, Idle.NEVER, Idle.NEVER, Idle.ALLOW, Idle.ONLY),
        grace_ms=pick(random, 30_000, 0, 120_000),
        checkpoint_interval_ms=pick(random, None, None, None, 5 * MINUTE_MS, 7 * MINUTE_MS),
        max_preemptions=pick(random, None, None, None, 0, 1),
        requeue=chance(random, 50),
        subjects=("user:ann",) if chance(random, 30) else (),
    )


def _group(random: Random) -> ReplicaGroup:
    gpu_milli = pick(random, 1000, 1000, 2000, 2000, 4000, 3000, 500, 250, 700, 0)
    cpu_milli = pick(random, 0, 0, 1000, 3000) or (1000 if not gpu_milli else 0)
    memory_mib = pick(random, 0, 0, 0, 3072)
    models = (pick(random, "A", "B"),) if chance(random, 8) else ()
    labels = (("rack", "x"),) if chance(random, 5) else ()
    replicas = pick(random, 1, 1, 1, 1, 2, 2, 3)
    return ReplicaGroup(replicas, Shape(gpu_milli, cpu_milli, memory_mib, models, labels))


def adopt(random: Random, state: State, now_ms: int) -> ev.Event:
    spec = job_spec(random, state, JobId(f"j{len(state.jobs):03}"), now_ms)
    started_ms = max(0, now_ms - random.randint(0, 60) * MINUTE_MS)
    saved_ms = random.randint(started_ms, now_ms) if chance(random, 50) else None
    idle = spec.idle is Idle.ONLY or (spec.idle is Idle.ALLOW and chance(random, 50))
    return ev.JobAdopted(replace(spec, submitted_ms=started_ms), started_ms, saved_ms, idle=idle)


def _one(random: Random, state: State, *phases: Phase) -> Job | None:
    jobs = [job for job in state.jobs.values() if job.phase in phases]
    return pick(random, *jobs) if jobs else None


def end(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, Phase.RUNNING)
    how = pick(random, Phase.SUCCEEDED, Phase.SUCCEEDED, Phase.FAILED, Phase.STOPPED)
    return ev.JobEnded(job.id, how) if job else None


def left(random: Random, state: State, now_ms: int) -> ev.Event | None:
    jobs = list(state.leaving_jobs.values())
    if not jobs:
        return None
    job = pick(random, *jobs)
    one = (pick(random, *job.leaving),) if chance(random, 30) else None
    return ev.JobLeft(job.id, one)


def cancel(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, *(p for p in Phase if p not in FINAL_PHASES))
    return ev.JobCancelled(job.id) if job else None


def checkpoint(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, Phase.RUNNING)
    return ev.JobCheckpointed(job.id) if job else None


def confirm(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, Phase.RUNNING)
    return ev.JobStarted(job.id, job.run) if job else None


def resize(random: Random, state: State, now_ms: int) -> ev.Event | None:
    jobs = [j for j in state.jobs.values() if j.phase not in FINAL_PHASES and j.spec.most_replicas > 1]
    job = pick(random, *jobs) if jobs else None
    if job is None:
        return None
    total = random.randint(1, job.spec.wanted_replicas + 2) if chance(random, 50) else None
    core = random.randint(1, job.spec.wanted_replicas) if total is None or chance(random, 50) else None
    most = (total or job.spec.wanted_replicas) + random.randint(0, 2) if chance(random, 30) else None
    return ev.JobResized(job.id, core, total, most)


def change_priority(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, Phase.WAITING)
    return ev.JobPriorityChanged(job.id, random.randint(1, 9)) if job else None


def resubmit(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, Phase.STOPPED)
    return ev.JobResubmitted(job.id) if job else None


def change_policy(random: Random, state: State, now_ms: int) -> ev.Event:
    quota = pick(random, *state.quotas.values())
    return ev.QuotaUpdated(quota_spec(random, quota.id, quota.spec.parent, Bounds(*quota.min)))


def scale(random: Random, state: State, now_ms: int) -> ev.Event:
    quota = pick(random, *state.quotas.values())
    gpus = (quota.min[0] or 0) // WHOLE_GPU + random.randint(-3, 2)
    mode = pick(random, *ev.ScaleMode)
    if quota.parent is None and len(quota.spec.draws) > 1:
        draws = tuple(
            (pool, Bounds(max(0, (b.gpu_milli or 0) - WHOLE_GPU), b.cpu_milli))
            for pool, b in quota.spec.draws
        )
        return ev.QuotaScaled(quota.id, draws=draws, mode=mode)
    return ev.QuotaScaled(quota.id, Bounds(max(0, gpus) * WHOLE_GPU), mode=mode)


def transfer(random: Random, state: State, now_ms: int) -> ev.Event | None:
    quotas = [q for q in state.quotas.values() if q.siblings()]
    if not quotas:
        return None
    source = pick(random, *quotas)
    target = pick(random, *source.siblings())
    amount = Bounds(random.randint(1, 3) * WHOLE_GPU)
    return ev.QuotaTransferred(source.id, target.id, amount, pick(random, *ev.ScaleMode))


def return_loan(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.LoanReturned(pick(random, *state.quotas))


def set_limits(random: Random, state: State, now_ms: int) -> ev.Event:
    quota = pick(random, *state.quotas)
    low = random.randint(1, 9)
    limit = AmountLimit(quota, "user:ann", low, random.randint(low, 9), random.randint(0, 4) * WHOLE_GPU)
    return ev.LimitsSet(quota, (limit,) if chance(random, 70) else ())


def change_node(random: Random, state: State, now_ms: int) -> ev.Event:
    node = pick(random, *state.nodes)
    wanted = pick(random, NodeState.READY, NodeState.READY, NodeState.READY, *NodeState)
    return ev.NodeChanged(node.spec.name, wanted)


def change_device(random: Random, state: State, now_ms: int) -> ev.Event | None:
    nodes = [node for node in state.nodes if node.spec.gpus]
    node = pick(random, *nodes) if nodes else None
    if node is None:
        return None
    if node.ill and chance(random, 60):
        return ev.DeviceChanged(node.spec.name, pick(random, *sorted(node.ill)), True)
    return ev.DeviceChanged(node.spec.name, random.randrange(node.spec.gpus), chance(random, 20))


def foreign_use(random: Random, state: State, now_ms: int) -> ev.Event:
    """Others come to a node, mostly with little, or leave it (R6)."""
    node = pick(random, *state.nodes)
    if chance(random, 40):
        return ev.ForeignUse(node.spec.name, ZERO)
    gpus = random.randint(0, node.spec.gpus + 1) if chance(random, 50) else pick(random, 0, 1)
    cpu_milli = pick(random, 0, 0, 1000, node.spec.cpu_milli)
    return ev.ForeignUse(node.spec.name, Resources(gpus * WHOLE_GPU, cpu_milli))


RARE: tuple[Happening, ...] = (
    adopt, resize, resize, change_priority, resubmit, change_policy, scale, scale, transfer, return_loan, set_limits,
    change_node, change_node, change_device, change_device, foreign_use, foreign_use,
)  # fmt: skip


def join(random: Random, state: State, now_ms: int) -> ev.Event:
    like = pick(random, *state.nodes).spec
    return ev.NodeJoined(replace(like, name=f"n{len(state.nodes)}", gpus=pick(random, 2, 4)))


def alter(random: Random, state: State, now_ms: int) -> ev.Event:
    spec = pick(random, *state.nodes).spec
    gpus = max(0, spec.gpus + pick(random, -2, -1, 0, 1))
    cpu_milli = pick(random, spec.cpu_milli, spec.cpu_milli, 2000, 128_000)
    labels = pick(random, spec.labels, (("rack", "r9"),))
    return ev.NodeAltered(replace(spec, gpus=gpus, cpu_milli=cpu_milli, labels=labels))


def declare_pool(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.PoolDeclared(f"p{len(state.pools)}", chance(random, 50))


def create_quota(random: Random, state: State, now_ms: int) -> ev.Event:
    """Create a quota, often with a min of 0, since the capacity has mostly been divided."""
    parent = pick(random, *state.quotas.values())
    name = f"{parent.id}.{pick(random, *'abcdef')}"
    if chance(random, 20):
        draws = tuple((pool, Bounds(0)) for pool, _ in parent.root.spec.draws)
        return ev.QuotaCreated(replace(quota_spec(random, name, None, Bounds()), draws=draws))
    gpus = pick(random, 0, 0, 1, 2)
    return ev.QuotaCreated(quota_spec(random, name, parent.id, Bounds(gpus * WHOLE_GPU)))


def delete_quota(random: Random, state: State, now_ms: int) -> ev.Event:
    empty = [q.id for q in state.quotas.values() if not q.children and not q.jobs]
    return ev.QuotaDeleted(pick(random, *(empty or list(state.quotas))))


def forget(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, *FINAL_PHASES)
    return ev.JobForgotten(job.id) if job else None


def stop(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, Phase.RUNNING, Phase.WAITING, Phase.HELD)
    why = because(Code.LongestRun, limit="1 h")
    return ev.JobStopped(job.id, why, final=chance(random, 50)) if job else None


def lose(random: Random, state: State, now_ms: int) -> ev.Event | None:
    job = _one(random, state, Phase.RUNNING)
    return ev.JobLost(job.id, (random.randint(0, job.spec.wanted_replicas - 1),)) if job else None


SERVER: tuple[Happening, ...] = (
    join, alter, alter, declare_pool, create_quota, create_quota, delete_quota, forget, stop, lose,
)  # fmt: skip
"""Events that happen in a server only: they change pools, nodes and quotas, or stop, lose or forget jobs."""


def anything_at_all(random: Random, state: State, now_ms: int) -> ev.Event | None:
    if chance(random, 20):
        return pick(random, *SERVER)(random, state, now_ms)
    return anything(random, state, now_ms)


def submit_possible(random: Random, state: State, now_ms: int) -> ev.Event:
    """Submit a small job that is never refused."""
    quota = next(iter(state.quotas.values())).root
    spec = job_spec(random, state, JobId("possible"), now_ms)
    return ev.JobSubmitted(
        replace(
            spec,
            quota=quota.id,
            groups=(ReplicaGroup(1, Shape(0, 1, 0)),),
            min_replicas=None,
            max_replicas=None,
        )
    )
