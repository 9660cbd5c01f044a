"""Which queues make a plan work hardest? Families of states in which thousands of classes, borrowers or services wait for their turn.

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
    wait_in_shapes,
)
from quotatree.core import (
    WHOLE_GPU,
    Idle,
    JobId,
    JobSpec,
    Module,
    ReplicaGroup,
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

GPUS = 1_000


def fifo_queue(count: int) -> State:
    """Return 125 empty nodes and one queue in which each of so many jobs asks for something else and blocks those behind it (S1)."""
    state = State()
    add_nodes(state, GPUS)
    add_root(state, "org", GPUS, strategy=Strategy.FIFO)
    wait_in_shapes(state, "org", count, priority=5)
    return state


def shapes_over_own_work(count: int) -> State:
    """Return a full quota and so many shapes that may all take its work: each victim may help any of them (S9)."""
    state = State()
    add_nodes(state, GPUS)
    add_root(state, "org", GPUS, self_level=levels_of(Scope.OWN))
    for number in range(GPUS):
        group = ReplicaGroup(1, Shape(WHOLE_GPU, 1, 0))
        spec = JobSpec(JobId(f"runs-{number:05}"), "org", (group,), 0, priority=1 + number % 5)
        apply(state, ev.JobAdopted(spec, number), 0)
    wait_in_shapes(state, "org", count, priority=6)
    return state


def fair_borrowers(count: int) -> State:
    """Return siblings that borrow idle capacity by share, two jobs each (I4)."""
    state = State()
    add_nodes(state, 2 * count)
    add_root(state, "org", 2 * count, fair_idle=True)
    for number in range(count):
        add_child(state, f"team-{number:03}", "org", 2)
        for job in range(2):
            submit(state, f"waits-{number:03}-{job}", f"team-{number:03}", 1, priority=5, idle=Idle.ONLY)
    return state


def fractions(count: int) -> State:
    """Return 125 empty nodes and so many shares of a GPU, each of another size (R1)."""
    state = State()
    add_nodes(state, GPUS)
    add_root(state, "org", GPUS)
    for number in range(count):
        group = ReplicaGroup(1, Shape(100 + number % 800, 1 + number, 0))
        spec = JobSpec(JobId(f"waits-{number:05}"), "org", (group,), LATER, priority=1 + number % 6)
        apply(state, ev.JobSubmitted(spec), LATER)
    return state


def growing_onto_loans(count: int) -> State:
    """Return services in siblings that each want twice what their quota has, and may all borrow (P3, P12)."""
    state = State()
    add_nodes(state, 4 * count)
    add_root(state, "org", 4 * count)
    policy = SelfLevels.of(SelfLevel.over_any_lower(ALL, Scope.LEVEL))
    for number in range(count):
        team = f"team-{number:03}"
        add_child(state, team, "org", 4, self_level=policy)
        priority = 1 + number % 9
        submit(
            state, f"service-{number:03}", team, 1, replicas=8, module=Module.EAS, min_replicas=1, priority=priority
        )  # fmt: skip
    return state


def surplus_and_loans(count: int) -> State:
    """Return siblings of which half have surplus, and jobs of three sizes waiting in each that may borrow (P3, P12)."""
    state = State()
    add_nodes(state, 4 * count)
    add_root(state, "org", 4 * count)
    for number in range(count):
        team = f"team-{number:03}"
        add_child(state, team, "org", 4, self_level=levels_of(Scope.LEVEL))
        if number % 2:
            submit(state, f"wide-{number:03}", team, 1, max_replicas=4, module=Module.EAS, min_replicas=1)
    plan(state, LATER)
    for number in range(count):
        for job in range(3):
            submit(state, f"waits-{number:03}-{job}", f"team-{number:03}", 1 + job, priority=5 + job)
    return state


def roots_on_one_pool(count: int) -> State:
    """Return trees that share one pool, each with work that its own urgent jobs may take (Q1, P1)."""
    state = State()
    add_nodes(state, NODE_GPUS * count)
    for number in range(count):
        add_root(state, f"org-{number:03}", NODE_GPUS, self_level=levels_of(Scope.OWN))
    for job in range(NODE_GPUS):
        for number in range(count):
            group = ReplicaGroup(1, Shape(WHOLE_GPU, 0, 0))
            name = JobId(f"runs-{number:03}-{job}")
            spec = JobSpec(name, f"org-{number:03}", (group,), 0, priority=1 + job % 5)
            apply(state, ev.JobAdopted(spec, job * number), 0)
    for number in range(count):
        for job in range(3):
            submit(state, f"waits-{number:03}-{job}", f"org-{number:03}", 1 + job, priority=6 + job)
    return state
