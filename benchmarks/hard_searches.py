"""Which searches for victims make a plan work hardest in vain? Families of states in which so many shapes wait, and no lawful set helps.

As in hard_worlds.py: each grows with one number n and is ready for one plan. What fails cannot be charged to a plan, so it must be found
out quickly, or be given up after an effort that is settled beforehand (ADR 0045).
"""

from __future__ import annotations

from benchmarks.hard_worlds import (
    LATER,
    NODE_CPU_MILLI,
    NODE_GPUS,
    add_child,
    add_nodes,
    add_root,
    levels_of,
)
from quotatree.core import (
    WHOLE_GPU,
    Idle,
    JobId,
    JobSpec,
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

GPUS = 1_000
TEAMS = 5
TEAM_GPUS = 199


def cpu_over_reserved_shares(count: int) -> State:
    """Return full nodes of half GPUs, five siblings on each, of which each may lose two, and shapes that need nearly all CPU of a
    node: each unit may go, and never enough of them (Q8)."""
    state = _over_reserved_shares(share_milli=500, may_lose_milli=1_000)
    for number in range(count):
        _wait(state, number, Shape(WHOLE_GPU, NODE_CPU_MILLI - 2_000 + number % 2_000, number // 2_000))
    return state


def cpu_just_beyond_reserved(count: int) -> State:
    """Return the same with fifths of GPUs, and shapes that need a little more than whole units may give, and less than parts of units
    would: no bound tells that all sets are in vain."""
    state = _over_reserved_shares(share_milli=200, may_lose_milli=1_500)
    for number in range(count):
        _wait(state, number, Shape(WHOLE_GPU, NODE_CPU_MILLI * 9 // 10 + 1 + number, 0))
    return state


def borrowers_of_whole_nodes(count: int) -> State:
    """Return nodes with one regular job each, full of one team's idle work beside it, and borrowers that want whole nodes, by share: as
    much as is looked at may go, and no node comes free (I4)."""
    state = State()
    add_nodes(state, GPUS)
    add_root(state, "org", GPUS, fair_idle=True)
    for team in ("steady", "wide", "late"):
        add_child(state, team, "org", GPUS // 3)
    for number in range(GPUS // NODE_GPUS):
        group = ReplicaGroup(1, Shape(WHOLE_GPU, NODE_CPU_MILLI - 8_000, 0))
        spec = JobSpec(JobId(f"runs-{number:03}"), "steady", (group,), 0, priority=9)
        apply(state, ev.JobAdopted(spec, 0), 0)
    for number in range(GPUS - GPUS // NODE_GPUS):
        group = ReplicaGroup(1, Shape(WHOLE_GPU, 0, 0))
        apply(
            state,
            ev.JobSubmitted(JobSpec(JobId(f"idle-{number:03}"), "wide", (group,), 0, idle=Idle.ONLY)),
            0,
        )
    while plan(state, 0).next_wakeup_ms == 0:
        pass
    for number in range(count):
        group = ReplicaGroup(1, Shape(NODE_GPUS * WHOLE_GPU, 1 + number, 0))
        spec = JobSpec(JobId(f"waits-{number:04}"), "late", (group,), LATER, idle=Idle.ONLY)
        apply(state, ev.JobSubmitted(spec), LATER)
    return state


def _over_reserved_shares(share_milli: int, may_lose_milli: int) -> State:
    """Return nodes full of shares of GPUs of five siblings, which may each lose so much, and a sixth that may take from them."""
    state = State()
    add_nodes(state, GPUS)
    add_root(state, "org", GPUS)
    add_child(state, "high", "org", TEAMS, self_level=levels_of(Scope.LEVEL), strategy=Strategy.TRAVERSE)
    kept = Resources(TEAM_GPUS * WHOLE_GPU - may_lose_milli)
    for team in range(TEAMS):
        add_child(state, f"low-{team}", "org", TEAM_GPUS, reserved=kept)
    shape = Shape(share_milli, NODE_CPU_MILLI * share_milli // (NODE_GPUS * WHOLE_GPU), 0)
    for number in range(TEAMS * TEAM_GPUS * WHOLE_GPU // share_milli):
        spec = JobSpec(
            JobId(f"runs-{number:05}"), f"low-{number % TEAMS}", (ReplicaGroup(1, shape),), 0, priority=1 + number % 5
        )  # fmt: skip
        apply(state, ev.JobAdopted(spec, number * 7_919 % LATER), 0)
    return state


def _wait(state: State, number: int, shape: Shape) -> None:
    spec = JobSpec(JobId(f"waits-{number:05}"), "high", (ReplicaGroup(1, shape),), LATER, priority=6)
    apply(state, ev.JobSubmitted(spec), LATER)
