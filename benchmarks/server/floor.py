"""How long would the load take if deciding, writing and talking took no time? The core alone, in virtual time.

Work that is taken away begins from zero, so what a policy evicts is time for everybody: this is the limit that a policy
itself sets, above the one by capacity. The groups do not know of each other, so one of them stands for all.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from benchmarks.server.load import (
    BY_NAME,
    CLASSES,
    QUOTAS_PER_GROUP,
    UNITS,
    JobClass,
    Policy,
    quotas_of,
    submissions,
)
from quotatree.core import (
    Bounds,
    Idle,
    JobId,
    JobSpec,
    Module,
    NodeSpec,
    Phase,
    QuotaId,
    QuotaSpec,
    ReplicaGroup,
    Scope,
    SelfLevel,
    SelfLevels,
    Shape,
    State,
    UnitKind,
    apply,
    parse_priorities,
    plan,
)
from quotatree.core import decisions as say
from quotatree.core import events as ev


class Happening(NamedTuple):
    at_ms: int
    order: int
    event: ev.Event
    run: int | None = None


def floor_seconds(policy: Policy) -> float:
    """Virtual seconds until the last job of one group has ended."""
    state = _group(policy)
    heap = [
        Happening(one.at_ms, order, ev.JobSubmitted(_spec(one.quota, one.job_class, one.number, one.at_ms)))
        for order, one in enumerate(
            one for quota in quotas_of(0) for each in CLASSES for one in submissions(quota, each)
        )
    ]
    heapq.heapify(heap)
    pushed = len(heap)
    runs: dict[JobId, int] = {}
    last_ms = 0
    while heap:
        now_ms = heap[0].at_ms
        decided: list[say.Decision] = []
        while heap and heap[0].at_ms == now_ms:
            happening = heapq.heappop(heap)
            event = happening.event
            if isinstance(event, ev.JobEnded):
                if runs.get(event.job) != happening.run:
                    continue  # the job was evicted in the middle of this run
                last_ms = now_ms
            decided += apply(state, event, now_ms)
        for decision in (*decided, *plan(state, now_ms).decisions):
            if isinstance(decision, say.Start):
                runs[decision.job] = decision.run
                end_ms = now_ms + BY_NAME[decision.job.split("/")[0]].run_ms
                ends = ev.JobEnded(decision.job, Phase.SUCCEEDED)
                pushed += 1
                heapq.heappush(heap, Happening(end_ms, pushed, ends, decision.run))
            elif isinstance(decision, say.Evict) and decision.kind is not UnitKind.HOLD:
                runs.pop(decision.job, None)
                pushed += 1
                heapq.heappush(heap, Happening(now_ms, pushed, ev.JobLeft(decision.job)))
    return last_ms / 1000


def _group(policy: Policy) -> State:
    state = State()
    whole = Bounds(None, QUOTAS_PER_GROUP * UNITS * 1000)
    takes = SelfLevels.of(SelfLevel(
        parse_priorities("high", policy.high), parse_priorities("low", policy.low), frozenset(Module), Scope.OWN
    ))  # fmt: skip
    apply(
        state, ev.NodeJoined(NodeSpec("node", "pool", gpus=0, cpu_milli=QUOTAS_PER_GROUP * UNITS * 1000)), 0
    )
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("group"), draws=(("pool", whole),))), 0)
    for quota in quotas_of(0):
        part = QuotaSpec(QuotaId(quota), QuotaId("group"), Bounds(None, UNITS * 1000), self_level=takes)
        apply(state, ev.QuotaCreated(part), 0)
    return state


def _spec(quota: str, job_class: JobClass, number: int, at_ms: int) -> JobSpec:
    shape = Shape(0, job_class.units * 1000, 0)
    return JobSpec(
        JobId(f"{job_class.name}/{quota}/{number}"), quota, (ReplicaGroup(1, shape),), at_ms,
        priority=job_class.priority, idle=Idle.ALLOW, grace_ms=0,
    )  # fmt: skip
