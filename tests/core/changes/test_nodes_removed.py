"""A node is taken out for good, and a pool after it; what is kept plans as if they had never been (R4, R5, Q1)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.node import GONE, NodeSpec, NodeState
from quotatree.core.model.resources import Bounds, Resources
from quotatree.core.planning.plan import plan
from quotatree.core.quota_figures import quota_report
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import bounds, cluster, root, submit
from tests.profiles import by_profile
from tests.property.accounting import ALL as ACCOUNTING
from tests.property.snapshot import snapshot as picture

WALKS = by_profile(quick=28, deep=150, long=5_000)


def sound(state: State) -> None:
    for check in ACCOUNTING:
        check(state)
    again = restore(snapshot(state))
    assert snapshot(again) == snapshot(state)


def decided(state: State, now_ms: int) -> list[str]:
    """What a plan decides; a restored state may tell once more who waits."""
    return [repr(one) for one in plan(state, now_ms).decisions if not isinstance(one, say.Wait)]


def remove(state: State, node: str = "n1") -> None:
    apply(state, ev.NodeRemoved(node), 1)
    sound(state)


def test_an_empty_node_goes_and_nothing_lands_there() -> None:
    state = cluster(4, root(4), nodes=2)
    remove(state, "n0")
    job = submit(state, "j", "r", (1, 4000))
    plan(state, 2)
    assert job.core is not None
    assert [place.node for place in job.core.places] == [1]
    assert [node.spec.name for node in state.nodes_of(state.quotas[job.quota.id])] == ["n1"]
    with pytest.raises(Refused, match="no such node"):
        remove(state, "n0")


def test_work_stands_in_the_way_until_it_has_left() -> None:
    state = cluster(4, root(4), nodes=2)
    job = submit(state, "j", "r", (1, 4000))
    plan(state, 0)
    assert job.core is not None
    name = state.nodes[job.core.places[0].node].spec.name
    with pytest.raises(Refused, match=f"quotatree drain {name}"):
        remove(state, name)
    apply(state, ev.NodeChanged(name, NodeState.DRAINING), 1)
    with pytest.raises(Refused, match="R5"):
        remove(state, name)
    apply(state, ev.JobLeft(job.id), 2)
    remove(state, name)


def test_what_roots_draw_must_be_left() -> None:
    """Q1: a node that is lost makes a shortfall; nobody removes one into it."""
    state = cluster(4, root(5), nodes=2)
    before = snapshot(state)
    with pytest.raises(
        Refused, match="pool default would have 4 GPU left, and 5 GPU are drawn from it, by r"
    ):
        remove(state)
    assert snapshot(state) == before
    apply(state, ev.QuotaScaled("r", draws=(("default", bounds(4)),)), 1)
    remove(state)
    assert quota_report(state, state.roots[0].id).shortfall == Resources()
    with pytest.raises(Refused, match="Q1"):
        apply(state, ev.QuotaScaled("r", draws=(("default", bounds(5)),)), 2)


def test_one_of_the_same_name_may_join_again_as_another() -> None:
    state = cluster(4, root(4), nodes=2)
    apply(state, ev.DeviceChanged("n1", 3, healthy=False), 0)
    apply(state, ev.ForeignUse("n1", Resources(1000)), 0)
    apply(state, ev.NodeChanged("n1", NodeState.CORDONED), 0)
    remove(state)
    apply(state, ev.NodeJoined(NodeSpec("n1", "other", "B", 2)), 2)
    sound(state)
    node = state.node_by_name["n1"]
    assert (node.gone, node.state, node.spec.model, node.free, node.ill) == (
        False, NodeState.READY, "B", [1000, 1000], frozenset(),
    )  # fmt: skip
    with pytest.raises(Refused, match="no node joins with it"):
        apply(state, ev.NodeJoined(NodeSpec("n2", labels=(GONE,))), 3)


def test_a_pool_goes_when_it_is_empty_and_nobody_draws_from_it() -> None:
    state = cluster(4, root(4), nodes=1)
    apply(state, ev.NodeJoined(NodeSpec("s0", "spare", "B", 2)), 0)
    with pytest.raises(Refused, match="it has the nodes s0; delete them first"):
        apply(state, ev.PoolRemoved("spare"), 1)
    remove(state, "s0")
    apply(state, ev.PoolRemoved("spare"), 2)
    sound(state)
    assert set(state.pools) == {"default"}
    with pytest.raises(Refused, match="no such pool"):
        apply(state, ev.PoolRemoved("spare"), 3)
    with pytest.raises(Refused, match="it has the nodes n0"):
        apply(state, ev.PoolRemoved("default"), 3)
    apply(state, ev.PoolDeclared("idle"), 4)
    apply(state, ev.QuotaCreated(replace(root(0), id="other", draws=(("idle", Bounds(0)),))), 4)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="drawn from by other"):
        apply(state, ev.PoolRemoved("idle"), 5)
    apply(state, ev.NodeJoined(NodeSpec("s0", "spare", "A", 2)), 6)
    sound(state)


def test_a_pool_that_comes_again_knows_nothing_of_what_was_asked_of_it() -> None:
    """A8: a server that was restarted in between must not plan otherwise than one that was not."""
    state = cluster(4, root(4), nodes=1)
    job = submit(state, "j", "r", (1, 2000))
    apply(state, ev.JobCancelled(job.id), 1)
    apply(state, ev.JobForgotten(job.id), 1)
    apply(state, ev.QuotaDeleted("r"), 1)
    remove(state, "n0")
    apply(state, ev.PoolRemoved("default"), 2)
    restarted = restore(snapshot(state))
    for one in (state, restarted):
        apply(one, ev.NodeJoined(NodeSpec("n0", gpus=4)), 3)
    assert snapshot(restarted) == snapshot(state)


@pytest.mark.parametrize("seed", range(WALKS))
def test_whatever_happens_it_can_be_taken_back_and_restored(seed: int) -> None:
    """A8, J4: nodes come and go among jobs; a rollback leaves no trace, and a restored state decides the same."""
    random = Random(seed)
    state = cluster(2, root(2), nodes=4)
    for now_ms in range(1, 25):
        before, name = picture(state), f"n{random.randrange(5)}"
        events: list[ev.Event] = [
            ev.NodeRemoved(name), ev.NodeRemoved(name), ev.PoolRemoved("default"), ev.PoolRemoved("spare"),
            ev.NodeJoined(NodeSpec(name, random.choice(("default", "spare")), gpus=2)),
            ev.NodeChanged(name, random.choice(list(NodeState))),
            ev.QuotaScaled("r", draws=(("default", bounds(random.randrange(5))),), mode=ev.ScaleMode.RECLAIM),
        ]  # fmt: skip
        event = random.choice(events)
        state.begin()
        try:
            apply(state, event, now_ms)
        except Refused:
            state.commit()
            assert picture(state) == before, f"refused, yet something changed: {event}"
        else:
            state.rollback()
            assert picture(state) == before, f"taken back, yet something changed: {event}"
            apply(state, event, now_ms)
        with suppress(Refused):  # larger than all that there is
            submit(state, f"j{now_ms}", "r", (1, random.choice((500, 1000, 2000))), now_ms=now_ms, grace_ms=0)
        for job in list(state.leaving_jobs.values()):
            apply(state, ev.JobLeft(job.id), now_ms)
        again = restore(snapshot(state))
        assert decided(again, now_ms) == decided(state, now_ms)
        sound(state)
