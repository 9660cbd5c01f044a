"""Who goes on one node: protected work is spared whatever its neighbours cost (P5, P11)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core.model.policy import ChildLevel, Module, Priorities
from quotatree.core.planning.plan import plan
from tests.core.building import child, cluster, root, submit


def test_a_protected_job_is_spared_though_its_neighbour_on_the_node_costs_more() -> None:
    below = ChildLevel(Priorities(1, 3), frozenset(Module))
    young, old = child("r.young", 4, min_runtime_ms=3_600_000), child("r.old", 4)
    state = cluster(8, root(8, child_level=below), young, old)
    submit(state, "old", "r.old", (1, 4000))
    plan(state, 0)
    submit(state, "young", "r.young", (1, 4000), now_ms=1_800_000)
    plan(state, 1_800_000)
    submit(state, "boss", "r", (1, 4000), now_ms=1_900_000)
    made = plan(state, 1_900_000)
    assert [d.job for d in made.decisions if isinstance(d, say.Evict)] == ["old"]
