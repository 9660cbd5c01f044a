"""Which mixtures make a plan work hardest? Pools that roots share, gangs over services, elastic teams, racks, idle children.

As in hard_worlds.py: each family grows with one number n and is ready for one plan. Each was found by outsiders who looked for plans of
more than a second.
"""

from __future__ import annotations

from benchmarks.hard_worlds import (
    LATER,
    NODE_CPU_MILLI,
    NODE_GPUS,
    add_child,
    add_nodes,
    add_root,
    add_running,
    levels_of,
    submit,
)
from quotatree.core import (
    WHOLE_GPU,
    Bounds,
    Idle,
    Module,
    NodeSpec,
    QuotaId,
    QuotaSpec,
    Scope,
    State,
    apply,
    plan,
)
from quotatree.core import events as ev

RACK_NODES = 4
GANG = 6


def roots_on_many_pools(count: int) -> State:
    """Return a root that draws on so many pools, another on half of them, both full of work that urgent gangs may take (Q1, P1)."""
    state = State()
    for number in range(count):
        add_nodes(state, NODE_GPUS, pool=f"pool-{number:03}")
    half = Bounds(NODE_GPUS // 2 * WHOLE_GPU)
    for name, pools in (("org", range(count)), ("half", range(0, count, 2))):
        draws = tuple((f"pool-{number:03}", half) for number in pools)
        spec = QuotaSpec(QuotaId(name), draws=draws, self_level=levels_of(Scope.OWN))
        apply(state, ev.QuotaCreated(spec), 0)
    for name, jobs in (("org", 4 * count), ("half", 2 * count)):
        for number in range(jobs):
            submit(state, f"runs-{name}-{number:04}", name, 1, priority=1 + number % 5)
    _until_nothing_more(state)
    for number in range(count // 4):
        submit(state, f"gang-{number:03}", "org", 1, replicas=4, priority=9)
    return state


def gangs_over_services(count: int) -> State:
    """Return so many services with all replicas that they want, and a quarter as many urgent gangs that may take them (P1, P12)."""
    state = State()
    add_nodes(state, 4 * count)
    add_root(state, "org", 4 * count, self_level=levels_of(Scope.OWN))
    for number in range(count):
        submit(
            state, f"service-{number:04}", "org", 1, replicas=4, module=Module.EAS, min_replicas=2, priority=1 + number % 5
        )  # fmt: skip
    _until_nothing_more(state)
    for number in range(count // 4):
        submit(state, f"gang-{number:03}", "org", 1, replicas=4, priority=9)
    return state


def elastic_teams(count: int) -> State:
    """Return teams whose elastic jobs want four times what their quota has, beside teams with urgent work that may take it (P2, P12)."""
    state = State()
    add_nodes(state, 4 * count)
    add_root(state, "org", 4 * count)
    for number in range(count):
        team = f"team-{number:03}"
        add_child(state, team, "org", 4, self_level=levels_of(Scope.LEVEL))
        submit(state, f"wide-{number:03}", team, 1, replicas=16, min_replicas=1, priority=1 + number % 5)
    for number in range(0, count, 4):
        submit(state, f"urgent-{number:03}", f"team-{number:03}", 1, replicas=4, priority=9)
    return state


def gangs_in_racks(count: int) -> State:
    """Return nodes in racks of four, full of low work, and gangs that each would rather have one rack (R2, P1)."""
    state = State()
    for number in range(count):
        labels = (("rack", f"rack-{number // RACK_NODES:03}"),)
        node = NodeSpec(f"n{number:04}", gpus=NODE_GPUS, cpu_milli=NODE_CPU_MILLI, labels=labels)
        apply(state, ev.NodeJoined(node), 0)
    add_root(state, "org", NODE_GPUS * count, self_level=levels_of(Scope.OWN))
    for number in range(NODE_GPUS // 2 * count):
        add_running(state, f"runs-{number:05}", "org", 2, priority=1 + number % 5, started_ms=number)
    for number in range(count // RACK_NODES):
        submit(state, f"gang-{number:03}", "org", 4, replicas=GANG, priority=9)
    return state


def idle_children(count: int) -> State:
    """Return children below fair borrowing that all run on idle capacity alone, and jobs of the root that take it back (I3, I4)."""
    state = State()
    add_nodes(state, 2 * count)
    add_root(state, "org", 2 * count, fair_idle=True)
    for number in range(count):
        add_child(state, f"team-{number:03}", "org", 1)
        for job in range(2):
            submit(state, f"idle-{number:03}-{job}", f"team-{number:03}", 1, priority=5, idle=Idle.ONLY)
    _until_nothing_more(state)
    for number in range(count // 4):
        submit(state, f"regular-{number:03}", "org", 1, priority=5)
    return state


def _until_nothing_more(state: State) -> None:
    while plan(state, LATER).next_wakeup_ms == LATER:
        pass
