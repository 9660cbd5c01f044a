"""Is a promise kept only where nobody would take at once what it gives (P9, S8)?"""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, JobId, Phase
from quotatree.core.model.policy import Scope
from quotatree.core.planning.plan import plan
from tests.core.building import child, cluster, root, self_level, started_and_taken, submit


def test_a_hold_is_not_finished_only_to_be_taken_when_somebody_loses_his_idle_room() -> None:
    """S8: `hopeful` could run idle, until `elsewhere` starts on that device; then it takes from its own quota (P4)."""
    own = self_level(6, 5, Scope.OWN)
    state = cluster(4, root(4), child("a", 1, self_level=own), child("b", 3))
    for name, quota in (("a0", "a"), ("b0", "b"), ("b1", "b"), ("b2", "b")):
        submit(state, name, quota, (1, 1000), priority=9)
    plan(state, 0)
    for name in ("a0", "b0"):
        apply(state, ev.JobCancelled(JobId(name)), 1)
    held = submit(state, "held", "a", (1, 1000), now_ms=1, priority=4)
    elsewhere = submit(state, "elsewhere", "b", (1, 1000), now_ms=1, priority=3)
    plan(state, 1)
    assert held.hold is not None
    assert elsewhere.hold is not None
    (leaver,) = held.hold.waiting_on
    apply(state, ev.JobLeft(leaver), 2)
    apply(state, ev.JobEnded(JobId("b2")), 2)
    hopeful = submit(state, "hopeful", "a", (1, 1000), now_ms=2, priority=6, idle=Idle.ALLOW)
    made = plan(state, 2)
    assert started_and_taken(made) == set()
    assert (hopeful.phase, held.phase, elsewhere.phase) == (Phase.RUNNING, Phase.WAITING, Phase.RUNNING)
