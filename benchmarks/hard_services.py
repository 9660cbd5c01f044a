"""Which services, borrowers and gangs make a plan work hardest? Families of states in which a search would be made in vain again and again.

As in hard_worlds.py: each grows with one number n and is ready for one plan. They were found by looking for plans that take long.
"""

from __future__ import annotations

from benchmarks.hard_worlds import (
    ALL,
    LATER,
    NODE_GPUS,
    add_child,
    add_nodes,
    add_root,
    levels_of,
    submit,
)
from quotatree.core import (
    WHOLE_GPU,
    ChildLevel,
    Idle,
    JobId,
    JobSpec,
    Module,
    Phase,
    Priorities,
    ReplicaGroup,
    Resources,
    Scope,
    Shape,
    State,
    Strategy,
    apply,
    plan,
)
from quotatree.core import events as ev

SHARE_MILLI = 100
TEAM_SHAPES = 20
GANG = 6
UNITS = 24


def services_with_surplus(count: int) -> State:
    """Return small services that all have what they want and may each have one replica more (P12)."""
    state = State()
    add_nodes(state, 1_000)
    add_root(state, "org", 1_000)
    add_child(state, "serving", "org", 1_000)
    for number in range(count):
        _wait(
            state,
            f"service-{number:05}",
            "serving",
            Shape(SHARE_MILLI, 0, 0),
            module=Module.EAS,
            max_replicas=2,
        )
    return state


def fair_borrowers_and_surplus(count: int) -> State:
    """Return full siblings that borrow by share, each with jobs of many shapes waiting, and one service with surplus beside them;
    a job has just ended, so that all of them may be tried again (I4, P12)."""
    state = State()
    gpus = 4 * count + NODE_GPUS
    add_nodes(state, gpus)
    add_root(state, "org", gpus, fair_idle=True)
    add_child(state, "serving", "org", 4)
    submit(state, "service", "serving", 1, module=Module.EAS, max_replicas=3, priority=9)
    for number in range(count):
        team = f"team-{number:03}"
        add_child(state, team, "org", 2)
        submit(state, f"runs-{team}", team, 2, priority=9)
        submit(state, f"idle-{team}", team, 1, idle=Idle.ONLY)
    _until_nothing_more(state)
    for number in range(count):
        for shape in range(TEAM_SHAPES):
            cpu_milli = 2 + shape + number * TEAM_SHAPES
            name = f"waits-{number:03}-{shape:02}"
            _wait(state, name, f"team-{number:03}", Shape(WHOLE_GPU, cpu_milli, 0), priority=1 + shape % 6)
    _until_nothing_more(state)
    apply(state, ev.JobEnded(JobId("idle-team-000"), Phase.SUCCEEDED), LATER)
    apply(state, ev.JobEnded(JobId("runs-team-000"), Phase.SUCCEEDED), LATER)
    return state


def gangs_over_reserved_work(count: int) -> State:
    """Return gangs of so many shapes that may take low work beside them, each piece of it, but never enough of it together (Q8)."""
    state = State()
    add_nodes(state, 1_000)
    add_root(state, "org", 1_000)
    add_child(state, "high", "org", 1, self_level=levels_of(Scope.LEVEL), strategy=Strategy.TRAVERSE)
    add_child(state, "low", "org", UNITS, reserved=Resources((UNITS - 4) * WHOLE_GPU))
    add_child(state, "full", "org", 999 - UNITS)
    for number in range(UNITS):
        _run(state, f"low-{number:02}", "low", Shape(WHOLE_GPU, 0, 0), 1 + number % 5, number * 1_000)
    for number in range(999 - UNITS):
        _run(state, f"full-{number:03}", "full", Shape(WHOLE_GPU, 0, 0), 9, 0)
    _run(state, "runs", "high", Shape(WHOLE_GPU, 0, 0), 9, 0)
    for number in range(count):
        shape = Shape(WHOLE_GPU, 1 + number, 0)
        _wait(state, f"gang-{number:04}", "high", shape, replicas=GANG, priority=6 + number % 4)
    return state


def gangs_of_two_shapes(count: int) -> State:
    """Return a full cluster and gangs of two shapes at its root, which may take anything below (P2)."""
    state = State()
    add_nodes(state, 1_000)
    add_root(state, "org", 1_000, child_level=ChildLevel(Priorities(1, 9), ALL), strategy=Strategy.TRAVERSE)
    add_child(state, "a", "org", 500)
    add_child(state, "b", "org", 500)
    for number in range(1_000):
        shape = Shape(WHOLE_GPU, 12_000, 0)
        _run(state, f"runs-{number:03}", "a" if number < 500 else "b", shape, 1 + number % 9, number)
    for number in range(count):
        groups = (
            ReplicaGroup(NODE_GPUS, Shape(4 * WHOLE_GPU, 60_000 + number, 0)),
            ReplicaGroup(NODE_GPUS, Shape(2 * WHOLE_GPU, 30_000 + number, 0)),
        )
        spec = JobSpec(JobId(f"gang-{number:04}"), "org", groups, LATER, priority=1)
        apply(state, ev.JobSubmitted(spec), LATER)
    return state


def _wait(
    state: State, name: str, quota: str, shape: Shape, *, replicas: int = 1, priority: int = 1,
    module: Module = Module.DLC, max_replicas: int | None = None,
) -> None:  # fmt: skip
    groups = (ReplicaGroup(replicas, shape),)
    spec = JobSpec(
        JobId(name), quota, groups, LATER, priority=priority, module=module, max_replicas=max_replicas
    )
    apply(state, ev.JobSubmitted(spec), LATER)


def _run(state: State, name: str, quota: str, shape: Shape, priority: int, started_ms: int) -> None:
    spec = JobSpec(JobId(name), quota, (ReplicaGroup(1, shape),), 0, priority=priority)
    apply(state, ev.JobAdopted(spec, started_ms), 0)


def _until_nothing_more(state: State) -> None:
    while plan(state, LATER).next_wakeup_ms == LATER:
        pass
