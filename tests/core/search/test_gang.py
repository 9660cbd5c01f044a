"""Victims of a gang: each unit is counted once, and siblings keep their min (P7, P12, P15)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, Phase
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.policy import ChildLevel, Module, Priorities
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.core.building import child, cluster, root, self_level, submit


def test_a_core_and_its_surplus_are_counted_once_for_a_gang() -> None:
    """The gang needs a slot on both nodes; the core and the surplus of the only victim free one."""
    below = ChildLevel(Priorities(1, 3), frozenset(Module))
    state = cluster(6, root(12, child_level=below), child("r.a", 12), nodes=2)
    submit(state, "keeps", "r.a", (1, 3000), priority=9)
    grows = submit(state, "grows", "r.a", (2, 3000), min_replicas=1, module=Module.EAS, priority=1)
    plan(state, 0)
    assert grows.running
    submit(state, "gang", "r", (2, 4000), priority=9)
    made = plan(state, 1_000)
    assert not [d for d in made.decisions if isinstance(d, say.Evict)]
    assert not plan(state, 1_000).decisions


def test_groups_of_several_sizes_together_leave_a_sibling_its_min() -> None:
    """P15: `b` is above its min by two GPUs; whichever group takes them, the other may not go on."""
    state = cluster(2, root(6), child("a", 3), child("b", 2, self_level=self_level(4, 3)), nodes=3)
    submit(state, "other", "r", (1, 2000), priority=9)
    submit(state, "b1", "b", (1, 2000), priority=4)
    plan(state, 0)
    b2 = submit(state, "b2", "b", (1, 2000), now_ms=1, priority=4)
    plan(state, 1)
    assert b2.phase is Phase.RUNNING
    waits = submit(state, "waits", "a", (1, 2000), (1, 1000), now_ms=2, priority=9)
    assert not any(isinstance(d, say.Evict) for d in plan(state, 2).decisions)
    assert waits.phase is Phase.WAITING


def test_groups_of_several_sizes_take_a_loan_back_in_the_order_that_is_lawful() -> None:
    """P15: `b` is above its min by two GPUs. `b1` goes while it is, and so does `b2` after it; not the other way round."""
    state = cluster(2, root(4), child("a", 3), child("b", 1, self_level=self_level(4, 3)), nodes=2)
    submit(state, "other", "r", (1, 1000), priority=9)
    submit(state, "b1", "b", (1, 1000), priority=4)
    plan(state, 0)
    submit(state, "b2", "b", (1, 2000), now_ms=1, priority=4)
    plan(state, 1)
    submit(state, "waits", "a", (1, 2000), (1, 1000), now_ms=2, priority=9)
    assert sorted(d.job for d in plan(state, 2).decisions if isinstance(d, say.Evict)) == ["b1", "b2"]
    assert not plan(state, 2).decisions


def test_what_an_idle_gang_frees_in_a_pool_of_another_root_is_no_place_p7() -> None:
    """`wide` of `r` stands on pool a and on pool b; `s` draws on a alone, so for its gang `small` must go as well."""
    state = State()
    for name, pool, gpus in (("a0", "a", 2), ("b0", "b", 1), ("a1", "a", 2)):
        apply(state, ev.NodeJoined(NodeSpec(name, pool, gpus=gpus)), 0)
    apply(state, ev.NodeChanged("a1", NodeState.LOST), 0)
    draws = (("a", Bounds(2000)), ("b", Bounds(1000)))
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=draws)), 0)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("s"), draws=(("a", Bounds(2000)),))), 0)
    submit(state, "small", "s", (1, 1000), idle=Idle.ONLY)
    plan(state, 0)
    submit(state, "wide", "r", (2, 1000), now_ms=1, idle=Idle.ONLY)
    plan(state, 1)
    gang = submit(state, "gang", "s", (2, 1000), now_ms=2)
    made = plan(state, 2)
    assert sorted(d.job for d in made.decisions if isinstance(d, say.Evict)) == ["small", "wide"]
    assert gang.hold is not None
    assert {state.nodes[p.node].spec.name for p in gang.hold.unit.places} == {"a0"}
