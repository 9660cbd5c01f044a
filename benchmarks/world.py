"""How does an instance become a state of the core? One root whose waiting job may take from the quota below it."""

from __future__ import annotations

from benchmarks.instances import Instance
from quotatree.core import (
    WHOLE_GPU,
    Bounds,
    ChildLevel,
    JobId,
    JobSpec,
    Module,
    NodeSpec,
    NodeState,
    Placed,
    Priorities,
    QuotaId,
    QuotaSpec,
    ReplicaGroup,
    Shape,
    State,
    apply,
)
from quotatree.core import events as ev

EVERYTHING = ChildLevel(Priorities(1, 9), frozenset(Module))
PREEMPTOR = JobId("preemptor")


def state_of(given: Instance) -> State:
    """The running cluster of an instance; its request is not submitted yet."""
    state = State()
    for index in range(given.nodes):
        apply(state, ev.NodeJoined(NodeSpec(f"node-{index:05}", gpus=given.gpus_per_node)), 0)
    used = sum(job.gpus for job in given.jobs)
    bound = used + given.quota_free_gpus
    # A quota may promise more than is up: cordoned nodes count as capacity but take no work.
    for index in range(-(-max(0, bound - given.nodes * given.gpus_per_node) // given.gpus_per_node)):
        apply(state, ev.NodeJoined(NodeSpec(f"spare-{index}", gpus=given.gpus_per_node)), 0)
        apply(state, ev.NodeChanged(f"spare-{index}", NodeState.CORDONED), 0)
    draws = (("default", Bounds(bound * WHOLE_GPU)),)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("org"), draws=draws, child_level=EVERYTHING)), 0)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("team"), parent=QuotaId("org"))), 0)
    for job in given.jobs:
        each = len(job.layout[0][1])
        shape = Shape(each * WHOLE_GPU, 0, 0)
        spec = JobSpec(
            JobId(job.id),
            "team",
            (ReplicaGroup(len(job.layout), shape),),
            job.started_ms,
            priority=job.priority,
        )
        places = tuple(Placed(i, node, devices, shape) for i, (node, devices) in enumerate(job.layout))
        apply(state, ev.JobAdopted(spec, job.started_ms, job.checkpoint_ms, places), given.now_ms)
    return state


def request_of(given: Instance) -> JobSpec:
    shape = Shape(given.request.gpus_each * WHOLE_GPU, 0, 0)
    return JobSpec(PREEMPTOR, "org", (ReplicaGroup(given.request.replicas, shape),), given.now_ms, priority=9)
