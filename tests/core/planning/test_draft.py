"""Does a plan go back rather than take what it gave out itself (S8)?

Each is the smallest story of something that wide random walks found.
"""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, JobId, Phase
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import ChildLevel, Priorities, Scope, Strategy
from quotatree.core.planning.plan import plan
from quotatree.core.state import Settings, State
from tests.core.building import ALL, child, cluster, root, self_level, started_and_taken, submit


def test_nothing_is_started_only_to_be_taken_when_a_victim_was_larger_than_needed() -> None:
    """S8: `top` may not take `big`. `mid` may, and what that leaves over would let `top` take `mid`: so it waits."""
    below = ChildLevel(Priorities(6, 8), ALL)
    own = self_level(4, 3, Scope.OWN)
    state = cluster(8, root(4, child_level=below), child("a", 4, self_level=own, strategy=Strategy.TRAVERSE))
    big = submit(state, "big", "a", (1, 2000), priority=2)
    submit(state, "other", "r", (1, 1000), priority=5)
    plan(state, 0)
    submit(state, "top", "r", (1, 2000), now_ms=1, priority=8)
    small = submit(state, "small", "a", (1, 1000), now_ms=1, priority=8)
    mid = submit(state, "mid", "a", (1, 1000), now_ms=1, priority=7)
    made = plan(state, 1)
    assert started_and_taken(made) == set()
    assert (small.phase, mid.phase, big.phase) == (Phase.RUNNING, Phase.WAITING, Phase.RUNNING)
    assert plan(state, 1).decisions == ()


def test_a_guarded_job_is_not_started_idle_only_to_be_taken_when_its_guard_ends_s8() -> None:
    state = State(Settings(starvation_guard_ms=600_000))
    for name in ("n0", "n1"):
        apply(state, ev.NodeJoined(NodeSpec(name, gpus=2)), 0)
    for spec in (root(4), child("a", 2)):
        apply(state, ev.QuotaCreated(spec), 0)
    submit(state, "top", "r", (1, 2000))
    submit(state, "below", "a", (1, 2000))
    plan(state, 0)
    guarded = submit(state, "guarded", "a", (1, 2000), now_ms=1, idle=Idle.ALLOW)
    plan(state, 1)
    plan(state, 700_000)
    assert state.roots[0].tree.guard == guarded.id
    submit(state, "other", "r", (1, 2000), now_ms=700_001)
    plan(state, 700_001)
    apply(state, ev.JobEnded(JobId("top")), 700_002)
    made = plan(state, 700_002)
    assert started_and_taken(made) == set()
    assert guarded.phase is Phase.WAITING
    assert plan(state, 700_002).decisions == ()
