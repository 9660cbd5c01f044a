"""A GPU falls ill: its jobs move, nothing lands on it, and the rest of its node stays in use (R3, R5, Q1)."""

from __future__ import annotations

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.explanation import explain
from quotatree.core.model.job import Job, JobId, Phase
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import Module, Scope, Strategy
from quotatree.core.planning.plan import plan
from quotatree.core.quota_figures import quota_report
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.core.building import World, cluster, root, self_level, submit
from tests.property.accounting import ALL as ACCOUNTING
from tests.property.snapshot import snapshot as picture


def ill(
    state: State, device: int, node: str = "n0", now_ms: int = 1, *, healthy: bool = False
) -> tuple[say.Decision, ...]:
    found = apply(state, ev.DeviceChanged(node, device, healthy), now_ms)
    for check in ACCOUNTING:
        check(state)
    again = restore(snapshot(state))
    assert (picture(again)["nodes"], snapshot(again)) == (picture(state)["nodes"], snapshot(state))
    return found


def devices(job: Job) -> list[tuple[int, tuple[int, ...]]]:
    units = [job.core, *job.extras.values()] if job.core is not None else []
    return sorted((p.node, p.devices) for unit in units for p in unit.places)


def test_who_stands_on_it_moves_with_grace_and_uncounted() -> None:
    state = cluster(4)
    stays, moves = submit(state, "stays", "r", (1, 1000)), submit(state, "the-other", "r", (1, 2000))
    plan(state, 0)
    assert devices(moves) == [(0, (1, 2))]
    (evicted,) = ill(state, 2)
    assert isinstance(evicted, say.Evict)
    assert (evicted.job, evicted.requeued, evicted.counts) == ("the-other", True, False)
    assert evicted.grace_ms == moves.spec.grace_ms
    assert evicted.reason.text == "GPU 2 of node n0 is ill"
    plan(state, 1)
    apply(state, ev.JobLeft(moves.id), 2)
    plan(state, 2)
    assert devices(moves) == [(0, (1, 3))], "the other devices of the node stay in use"
    assert devices(stays) == [(0, (0,))]
    assert moves.preempted_ms == ()


def test_a_gang_leaves_whole_and_sharers_of_the_device_all_leave() -> None:
    state = cluster(2, nodes=2)
    gang = submit(state, "gang", "r", (2, 1000), module=Module.DSW)
    halves = [submit(state, f"half{i}", "r", (1, 500)) for i in range(2)]
    plan(state, 0)
    (half_node, (shared,)), *_ = devices(halves[0])
    assert devices(halves[1]) == [(half_node, (shared,))]
    assert {d.job for d in ill(state, shared, f"n{half_node}")} == {"half0", "half1"}
    (node, (device,)), _ = devices(gang)
    (evicted,) = ill(state, device, f"n{node}")
    assert isinstance(evicted, say.Evict)
    assert (evicted.replicas, evicted.requeued) == ((0, 1), True), (
        "a notebook too is queued again: no preemption"
    )


def test_surplus_on_it_leaves_alone() -> None:
    state = cluster(3)
    service = submit(state, "s", "r", (3, 1000), module=Module.EAS)
    plan(state, 0)
    place = service.extras[2].places[0]
    (evicted,) = ill(state, place.devices[0])
    assert isinstance(evicted, say.Evict)
    assert (evicted.replicas, service.phase) == ((2,), Phase.RUNNING)
    apply(state, ev.JobLeft(service.id), 2)
    plan(state, 2)
    assert len(devices(service)) == 2


def test_a_hold_on_it_is_planned_anew() -> None:
    state = cluster(2)
    leaves = submit(state, "leaves", "r", (1, 1000))
    plan(state, 0)
    apply(state, ev.JobCancelled(leaves.id), 0)
    other = submit(state, "other", "r", (1, 1000))
    plan(state, 0)
    held = submit(state, "held", "r", (1, 1000))
    plan(state, 0)
    assert held.phase is Phase.HELD
    assert held.hold is not None
    (released,) = ill(state, held.hold.unit.places[0].devices[0])
    assert isinstance(released, say.Release)
    plan(state, 1)
    assert (other.phase, held.phase) == (Phase.RUNNING, Phase.WAITING)


def test_nothing_lands_on_it_until_it_is_well_again() -> None:
    state = cluster(2)
    for device in (0, 1):
        assert ill(state, device) == ()
    whole, half = submit(state, "whole", "r", (1, 1000)), submit(state, "with-half", "r", (1, 500))
    plan(state, 1)
    assert (whole.phase, half.phase) == (Phase.WAITING, Phase.WAITING)
    ill(state, 1, healthy=True)
    plan(state, 2)
    assert devices(whole) == [(0, (1,))]
    ill(state, 0, healthy=True)
    plan(state, 3)
    assert devices(half) == [(0, (0,))]


def test_somebody_who_still_leaves_an_ill_device_hides_no_room_on_another() -> None:
    state = cluster(2)
    moves = submit(state, "moves", "r", (1, 500))
    plan(state, 0)
    ((_, (device,)),) = devices(moves)
    ill(state, device)
    other = submit(state, "other", "r", (1, 500))
    plan(state, 1)
    assert devices(other) == [(0, (1 - device,))]


def test_it_is_no_place_that_an_eviction_could_free() -> None:
    """P7: a node with seven devices that are well cannot be emptied for eight."""
    policy = self_level(6, 5, Scope.OWN)
    state = cluster(8, root(16, self_level=policy), nodes=2)
    low = [submit(state, f"low{i}", "r", (1, 8000)) for i in range(2)]
    plan(state, 0)
    ill(state, 0, "n0")
    high = submit(state, "high", "r", (1, 8000), now_ms=1, priority=9)
    plan(state, 1)
    assert high.hold is not None
    assert high.hold.unit.nodes == (1,)
    ill(state, 0, "n1", 2)
    found = plan(state, 2).decisions
    assert not any(isinstance(d, say.Evict) for d in found)
    assert high.phase is Phase.WAITING
    assert all(job.phase is Phase.WAITING for job in low)
    (reason,) = (r for r in explain(state, high.id, 2).reasons if r.code.name == "NoPlacement")
    assert "0 of 1 replicas" in reason.text


def test_who_cannot_fit_for_want_of_devices_blocks_nobody() -> None:
    """S0: the head is the first job that could start if somebody left."""
    state = cluster(8, root(8, strategy=Strategy.FIFO))
    ill(state, 7)
    big, small = submit(state, "big", "r", (1, 8000)), submit(state, "small", "r", (1, 1000), now_ms=1)
    plan(state, 1)
    assert (big.phase, small.phase) == (Phase.WAITING, Phase.RUNNING)


def test_it_is_a_shortfall_of_the_root_and_no_reason_to_refuse_a_job() -> None:
    state = cluster(4)
    ill(state, 0)
    assert quota_report(state, "r").shortfall.gpu_milli == 1000
    assert submit(state, "j", "r", (1, 4000)).phase is Phase.WAITING, "S11 refuses only what can never fit"
    apply(state, ev.NodeChanged("n0", state.nodes[0].state.LOST), 2)
    assert quota_report(state, "r").shortfall.gpu_milli == 4000, "not counted twice"
    ill(state, 0, healthy=True)
    assert quota_report(state, "r").shortfall.gpu_milli == 4000


def test_a_guard_whose_nodes_lost_a_device_keeps_others() -> None:
    state = cluster(8, nodes=2)
    first = [submit(state, f"f{i}", "r", (1, 5000)) for i in range(2)]
    plan(state, 0)
    big = submit(state, "big", "r", (1, 8000))
    hour = state.settings.starvation_guard_ms
    plan(state, hour)
    (kept,) = state.trees[0].guard_nodes
    assert state.trees[0].guard == big.id
    ill(state, 7, f"n{kept}", hour)
    plan(state, hour)
    assert state.trees[0].guard_nodes == {1 - kept}
    ill(state, 7, f"n{1 - kept}", hour)
    plan(state, hour)
    assert state.trees[0].guard is None, "nobody's leaving could help any more"
    assert all(job.phase is Phase.RUNNING for job in first)


def test_it_can_be_taken_back() -> None:
    state = cluster(4)
    submit(state, "j", "r", (2, 1000))
    plan(state, 0)
    before = picture(state)
    state.begin()
    ill(state, 0)
    plan(state, 1)
    ill(state, 3)
    ill(state, 0, healthy=True)
    state.rollback()
    assert picture(state) == before
    assert state.nodes_out == 0


def test_what_is_not_there_cannot_be_ill() -> None:
    state = cluster(4)
    with pytest.raises(Refused, match=r"n0 has GPUs 0\.\.3"):
        ill(state, 4)
    with pytest.raises(Refused, match="no such node"):
        ill(state, 0, "n9")
    assert ill(state, 1, healthy=True) == ()


def test_nothing_lands_on_a_cordoned_node_not_even_a_hold_r5() -> None:
    world = World(nodes=2)
    world.root(16, self_level=self_level(9, 1, Scope.OWN))
    world.run("victim", "r", 8)
    world.run("kept", "r", 8, priority=5)
    job = world.submit("big", "r", 8, priority=9)
    world.plan()
    (released,) = world.event(ev.NodeChanged("n0", NodeState.CORDONED))
    assert isinstance(released, say.Release)
    world.event(ev.JobLeft(JobId("victim")))
    assert world.plan() == []
    world.event(ev.NodeChanged("n0", NodeState.READY))
    world.plan()
    assert job.phase is Phase.RUNNING


@pytest.mark.parametrize("state", [NodeState.DRAINING, NodeState.LOST])
def test_a_notebook_whose_node_goes_is_queued_again_r5(state: NodeState) -> None:
    world = World(nodes=2)
    world.root(16)
    job = world.run("notebook", "r", 1, module=Module.DSW)
    world.event(ev.NodeChanged("n0", state))
    assert job.phase is Phase.WAITING
