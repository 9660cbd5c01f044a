"""Which clusters make a plan work hardest? Families of states that grow with one number n, each ready for one plan.

A family is as hard as `size` says, on as many GPUs as it needs. Each was once quadratic or worse; what a plan does with
them is decided by the rules, not here. All nodes have eight GPUs, all times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from quotatree.core import (
    WHOLE_GPU,
    Bounds,
    ChildLevel,
    JobId,
    JobSpec,
    Module,
    NodeSpec,
    Priorities,
    QuotaId,
    QuotaSpec,
    ReplicaGroup,
    Resources,
    Scope,
    SelfLevel,
    SelfLevels,
    Shape,
    State,
    Strategy,
    apply,
    plan,
)
from quotatree.core import events as ev

ALL: Final = frozenset(Module)
NODE_GPUS: Final = 8
NODE_CPU_MILLI: Final = 128_000
HOUR: Final = 3_600_000
LATER: Final = 600_000
"""When the plan that is measured is made."""


def put_off_starts(trees: int) -> State:
    """Return trees in each of which one start would only be taken again, since a victim is larger than needed (S8)."""
    state = State()
    for tree in range(trees):
        add_nodes(state, NODE_GPUS, pool=f"pool-{tree}")
        top = ChildLevel(Priorities(6, 8), ALL)
        add_root(state, f"r{tree}", 4, pool=f"pool-{tree}", child_level=top)
        own = SelfLevels.of(SelfLevel(Priorities(4, 9), Priorities(1, 3), ALL, Scope.OWN))
        add_child(state, f"a{tree}", f"r{tree}", 4, self_level=own, strategy=Strategy.TRAVERSE)
        add_running(state, f"big-{tree}", f"a{tree}", 2, priority=2)
        add_running(state, f"other-{tree}", f"r{tree}", 1, priority=5)
    for tree in range(trees):
        submit(state, f"top-{tree}", f"r{tree}", 2, priority=8)
        submit(state, f"small-{tree}", f"a{tree}", 1, priority=8)
        submit(state, f"mid-{tree}", f"a{tree}", 1, priority=7)
    return state


def services(count: int) -> State:
    """Return services of four replicas that all fit, of which only one each is the core (P12)."""
    state = State()
    add_nodes(state, 4 * count)
    add_root(state, "org", 4 * count)
    for number in range(count):
        submit(
            state, f"service-{number:05}", "org", 1, replicas=4, module=Module.EAS, min_replicas=1, priority=1
        )
    return state


def surplus_in_the_way(count: int) -> State:
    """Return services that ask for replicas where others have more than they want, which gives way (P12)."""
    state = State()
    gpus = NODE_GPUS * count
    add_nodes(state, gpus)
    add_root(state, "org", gpus)
    for number in range(count):
        add_child(state, f"team-{number:03}", "org", NODE_GPUS)
    service: dict[str, Any] = {"module": Module.EAS, "min_replicas": 1}
    for number in range(0, count, 2):
        team = f"team-{number:03}"
        submit(state, f"wide-{number:03}", team, 1, replicas=2, max_replicas=12, priority=3, **service)
    plan(state, LATER)
    for number in range(count):
        submit(state, f"asks-{number:03}", f"team-{number:03}", 1, replicas=10, priority=4, **service)
    return state


def protected_shapes(count: int) -> State:
    """Return a full cluster under min_runtime, each job protected until another time, and as many shapes that wait (P11)."""
    state = State()
    add_nodes(state, count)
    add_root(state, "org", count, min_runtime_ms=HOUR, self_level=levels_of(Scope.OWN))
    for number in range(count):
        add_running(state, f"runs-{number:05}", "org", 1, priority=1, started_ms=number)
    wait_in_shapes(state, "org", count, priority=6)
    return state


def reserved_siblings(count: int) -> State:
    """Return siblings with reserved parts; whatever one of each pair borrows from the other, the other may have back (Q8, P15)."""
    state = State()
    gpus = NODE_GPUS * count
    add_nodes(state, gpus)
    add_root(state, "org", gpus)
    beside = levels_of(Scope.SIBLINGS)
    for number in range(count):
        policy = beside if number % 2 else SelfLevels()
        reserved = Resources(2 * WHOLE_GPU)
        add_child(state, f"team-{number:03}", "org", NODE_GPUS, reserved=reserved, self_level=policy)
    for job in range(NODE_GPUS):  # one after the other, so that every node has work of eight siblings
        for number in range(count):
            priority = 9 if number % 2 else 1 + job % 5
            add_running(
                state, f"runs-{number:03}-{job}", f"team-{number:03}", 1, priority, started_ms=job * number
            )
    for number in range(count):
        submit(state, f"waits-{number:03}", f"team-{number:03}", 2 + 2 * (number % 2), priority=6)
    return state


def any_lower(count: int) -> State:
    """Return siblings that may take any lower work beside them: some have borrowed, some hold places, and more wait (P1, P9)."""
    state = State()
    gpus = NODE_GPUS * count
    add_nodes(state, gpus)
    add_root(state, "org", gpus)
    policy = SelfLevels.of(SelfLevel.over_any_lower(ALL, Scope.LEVEL))
    for number in range(count):
        add_child(state, f"team-{number:03}", "org", NODE_GPUS, self_level=policy)
    for job in range(NODE_GPUS):
        for number in range(count):
            priority = 1 + (job + number) % 8
            add_running(
                state, f"runs-{number:03}-{job}", f"team-{number:03}", 1, priority, started_ms=job * number
            )
    for jobs in (range(2), range(2, 4)):  # the first of them are planned before the others come
        if jobs.start:
            plan(state, LATER)
        for number in range(count):
            for job in jobs:
                priority = 2 + (job + number) % 8
                submit(state, f"waits-{number:03}-{job}", f"team-{number:03}", 1 + job, priority=priority)
    return state


def levels(depth: int) -> State:
    """Return two chains of quotas, one below the other, with work running and waiting at every level."""
    state = State()
    gpus = 64 * depth
    add_nodes(state, gpus)
    below = ChildLevel(Priorities(1, 9), ALL)
    add_root(state, "level-0", gpus, child_level=below)
    for level in range(1, depth):
        add_child(
            state,
            f"level-{level}",
            f"level-{level - 1}",
            gpus - 64 * level,
            child_level=below,
            self_level=levels_of(Scope.LEVEL),
        )
        add_child(state, f"beside-{level}", f"level-{level - 1}", 64, self_level=levels_of(Scope.LEVEL))
    for level in range(depth):
        for job in range(64):
            add_running(
                state, f"runs-{level}-{job:02}", f"level-{level}", 1, priority=1 + job % 9, started_ms=job
            )
    for level in range(depth):
        for job in range(16):
            submit(
                state,
                f"waits-{level}-{job:02}",
                f"level-{level}",
                1 + job % 8,
                priority=1 + (job + level) % 9,
            )
    return state


def waiting_shapes(count: int) -> State:
    """Return 125 nodes with a free GPU and too little CPU each, and jobs waiting that all ask for something else."""
    state = State()
    add_nodes(state, 1_000)
    add_root(state, "org", 1_000, self_level=levels_of(Scope.OWN))
    each = (NODE_GPUS - 1, NODE_CPU_MILLI - 1)
    for number in range(125):
        add_running(state, f"runs-{number:03}", "org", each[0], priority=9, cpu_milli=each[1])
    wait_in_shapes(state, "org", count, priority=6)
    return state


def quotas(count: int) -> State:
    """Return siblings with room for one job each, and two jobs waiting in each."""
    state = _siblings(count, lambda _: levels_of(Scope.LEVEL))
    for number in range(count):
        add_running(state, f"runs-{number:03}", f"team-{number:03}", 1, priority=1)
    for number in range(count):
        for job in range(2):
            submit(state, f"waits-{number:03}-{job}", f"team-{number:03}", 1, priority=6)
    return state


def half_may_borrow(count: int) -> State:
    """Return siblings with two jobs each, of which the second fits no min; half of them may have it on a loan (P3, P15)."""
    state = _siblings(count, lambda number: levels_of(Scope.LEVEL) if number % 2 else SelfLevels())
    for number in range(count):
        for gpus in (1, 2):
            submit(state, f"waits-{number:03}-{gpus}", f"team-{number:03}", gpus, priority=6)
    return state


def loans_and_victims(count: int) -> State:
    """Return the same siblings with a job of low priority running in each, which those that may borrow may also take (P1, P4)."""
    state = half_may_borrow(count)
    for number in range(count):
        add_running(state, f"runs-{number:03}", f"team-{number:03}", 1, priority=1)
    return state


def low_work_beside(count: int) -> State:
    """Return siblings that may take low work from each other, and only low work waits: nobody comes before anybody (S8)."""
    state = _siblings(count, lambda _: levels_of(Scope.LEVEL))
    for number in range(count):
        for job in range(2):
            submit(state, f"waits-{number:03}-{job}", f"team-{number:03}", 1, priority=5)
    return state


def shapes_that_start(count: int) -> State:
    """Return a quota that may take from itself, on 125 empty nodes, and as many shapes as given: one start after the other."""
    state = State()
    add_nodes(state, 1_000)
    add_root(state, "org", 1_000, self_level=levels_of(Scope.OWN))
    wait_in_shapes(state, "org", count, priority=5)
    return state


def crowded_nodes(units: int) -> State:
    """Return nodes full of shares of a GPU, on each as many as given; some must go where reserved parts bind (P5, Q8)."""
    state = State()
    nodes = 20
    add_nodes(state, NODE_GPUS * nodes)
    add_root(state, "org", NODE_GPUS * nodes)
    add_child(state, "high", "org", NODE_GPUS * nodes // 2, self_level=levels_of(Scope.LEVEL))
    add_child(state, "low", "org", NODE_GPUS * nodes // 2, reserved=Resources(WHOLE_GPU))
    shape = Shape(NODE_GPUS * WHOLE_GPU // units, 100, 0)
    for number in range(nodes * units):
        spec = JobSpec(
            JobId(f"runs-{number:05}"), "low", (ReplicaGroup(1, shape),), 0, priority=1 + number % 5
        )
        apply(state, ev.JobAdopted(spec, number * 7_919 % LATER), 0)
    for number in range(4):
        group = ReplicaGroup(1, Shape(WHOLE_GPU, NODE_CPU_MILLI - 2_000, 0))
        spec = JobSpec(JobId(f"waits-{number}"), "high", (group,), LATER, priority=6)
        apply(state, ev.JobSubmitted(spec), LATER)
    return state


def gang_with_cpu(replicas: int) -> State:
    """Return a full cluster and a gang of whole nodes that also asks for CPU, which each victim has some of."""
    state = State()
    gpus = NODE_GPUS * replicas
    add_nodes(state, gpus + gpus // 4)
    add_root(state, "org", gpus + gpus // 4, child_level=ChildLevel(Priorities(1, 9), ALL))
    add_child(state, "team", "org", gpus + gpus // 4)
    each = NODE_CPU_MILLI // NODE_GPUS
    for number in range(gpus + gpus // 4):
        add_running(state, f"runs-{number:05}", "team", 1, 1 + number % 3, started_ms=number, cpu_milli=each)
    group = ReplicaGroup(replicas, Shape(NODE_GPUS * WHOLE_GPU, NODE_CPU_MILLI // 2, 0))
    apply(state, ev.JobSubmitted(JobSpec(JobId("gang"), "org", (group,), LATER, priority=9)), LATER)
    return state


def _siblings(count: int, policy_of: Callable[[int], SelfLevels]) -> State:
    """Return quotas of two GPUs each below one root that has no more, each with the policies that its number gives it."""
    state = State()
    add_nodes(state, 2 * count)
    add_root(state, "org", 2 * count)
    for number in range(count):
        add_child(state, f"team-{number:03}", "org", 2, self_level=policy_of(number))
    return state


def levels_of(scope: Scope) -> SelfLevels:
    return SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), ALL, scope))


def add_nodes(state: State, gpus: int, pool: str = "default") -> None:
    for number in range(-(-gpus // NODE_GPUS)):
        apply(
            state,
            ev.NodeJoined(NodeSpec(f"{pool}-{number:04}", pool, gpus=NODE_GPUS, cpu_milli=NODE_CPU_MILLI)),
            0,
        )


def add_root(state: State, name: str, gpus: int, pool: str = "default", **fields: Any) -> None:
    draws = ((pool, Bounds(gpus * WHOLE_GPU)),)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId(name), draws=draws, **fields)), 0)


def add_child(state: State, name: str, parent: str, gpus: int, **fields: Any) -> None:
    spec = QuotaSpec(QuotaId(name), QuotaId(parent), Bounds(gpus * WHOLE_GPU), **fields)
    apply(state, ev.QuotaCreated(spec), 0)


def add_running(
    state: State, name: str, quota: str, gpus: int, priority: int, started_ms: int = 0, cpu_milli: int = 0
) -> None:
    group = ReplicaGroup(1, Shape(gpus * WHOLE_GPU, cpu_milli, 0))
    spec = JobSpec(JobId(name), quota, (group,), 0, priority=priority)
    apply(state, ev.JobAdopted(spec, started_ms), 0)


def submit(state: State, name: str, quota: str, gpus: int, replicas: int = 1, **fields: Any) -> None:
    group = ReplicaGroup(replicas, Shape(gpus * WHOLE_GPU, 0, 0))
    apply(state, ev.JobSubmitted(JobSpec(JobId(name), quota, (group,), LATER, **fields)), LATER)


def wait_in_shapes(state: State, quota: str, count: int, priority: int) -> None:
    """Submit one-GPU jobs that each ask for another amount of CPU."""
    for number in range(count):
        group = ReplicaGroup(1, Shape(WHOLE_GPU, 2 + number, 0))
        spec = JobSpec(JobId(f"waits-{number:05}"), quota, (group,), LATER, priority=priority)
        apply(state, ev.JobSubmitted(spec), LATER)
