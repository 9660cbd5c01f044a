"""Nodes full of one team's work, so that most jobs that come must take some of it."""

from __future__ import annotations

from random import Random

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import Idle, JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.state import State
from tests.property.worlds import MINUTE_MS, chance, pick

NOW_MS = 1_000_000_000


def full_cluster(random: Random) -> State:
    """Nodes full of adopted jobs of one team: whole GPUs, fractions, gangs, CPU and memory sometimes tight."""
    state = State()
    gpus = 0
    for number in range(random.randint(2, 4)):
        size = pick(random, 4, 4, 8)
        gpus += size
        tight = chance(random, 40)
        cpu_milli, memory_mib = (12_000, 16_384) if tight else (128_000, 1_048_576)
        node = NodeSpec(f"n{number}", gpus=size, cpu_milli=cpu_milli, memory_mib=memory_mib)
        apply(state, ev.NodeJoined(node), NOW_MS)
    policy = SelfLevels.of(
        SelfLevel(Priorities(9, 9), Priorities(1, 6), frozenset({Module.DLC, Module.DSW}), Scope.OWN)
    )
    below = ChildLevel(Priorities(1, 4), frozenset(Module))
    drawn = Bounds(gpus * 1000)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("root"), draws=(("default", drawn),))), NOW_MS)
    share = Bounds((gpus - random.randint(0, 2)) * 1000)
    team = QuotaSpec(QuotaId("team"), QuotaId("root"), share, self_level=policy, child_level=below)
    apply(state, ev.QuotaCreated(team), NOW_MS)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("team.x"), QuotaId("team"), Bounds(4000))), NOW_MS)
    for number in range(40):
        adopt(random, state, number)
    return state


def adopt(random: Random, state: State, number: int) -> None:
    gpu_milli = pick(random, 1000, 1000, 2000, 4000, 500, 500, 300)
    shape = Shape(gpu_milli, pick(random, 0, 1000, 3000), pick(random, 0, 2048))
    idle = chance(random, 15)
    spec = JobSpec(
        JobId(f"j{number:02}"), pick(random, "team", "team", "team.x"),
        (ReplicaGroup(pick(random, 1, 1, 1, 2), shape),), NOW_MS - 100 * MINUTE_MS,
        module=pick(random, Module.DLC, Module.DLC, Module.DSW, Module.EAS), priority=random.randint(1, 7),
        idle=Idle.ONLY if idle else Idle.NEVER, checkpoint_interval_ms=pick(random, None, None, 7 * MINUTE_MS),
    )  # fmt: skip
    started_ms = NOW_MS - random.randint(0, 90) * MINUTE_MS
    saved_ms = random.randint(started_ms, NOW_MS) if chance(random, 50) else None
    replicas = spec.core_replicas
    event = ev.JobAdopted(spec, started_ms, saved_ms, idle=idle, replicas=replicas)
    quota = state.quotas[QuotaId(spec.quota)]
    fits = all(q.used[0] + gpu_milli * replicas <= (q.min[0] or 0) for q in quota.path)
    if idle or fits:
        try:
            apply(state, event, NOW_MS)
        except Refused:
            return
