"""Where reading the code against the rules found a difference, each as the smallest story that shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.explanation import explain, preview
from quotatree.core.model.job import Idle, JobId, JobSpec, Phase, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.policy import Module, Scope, Strategy
from quotatree.core.model.quota import AmountLimit, QuotaId, QuotaSpec
from quotatree.core.model.resources import Resources
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from quotatree.core.state import State
from tests.core.building import MINUTE, World, bounds, self_level


def test_a_guarded_job_is_tried_even_behind_a_later_head_s10() -> None:
    world = World()
    world.root(8, strategy=Strategy.FIFO)
    running = world.run("running", "r", 8)
    world.submit("gang", "r", 8)
    world.plan(0)
    assert world.plan(61 * MINUTE) == [("Hold", "gang")]
    world.submit("head", "r", 1, priority=9)
    world.plan()
    world.event(ev.JobEnded(running.id))
    assert world.plan() == [("Start", "gang")]


def test_a_guard_keeps_other_nodes_when_one_is_cordoned_s10() -> None:
    world = World(nodes=3)
    world.root(24, strategy=Strategy.TRAVERSE)
    for number in range(24):
        world.run(f"small-{number}", "r", 1)
    world.submit("big", "r", 8)
    world.plan(0)
    world.plan(61 * MINUTE)
    assert world.state.roots[0].guard_nodes == {0}
    world.event(ev.NodeChanged("n0", NodeState.CORDONED))
    world.plan()
    assert world.state.roots[0].guard_nodes == {1}


def test_a_head_whose_nodes_are_lost_blocks_nobody_and_gets_no_guard() -> None:
    world = World()
    world.event(ev.NodeJoined(NodeSpec("small", gpus=4)))
    world.root(12, strategy=Strategy.FIFO)
    world.submit("big", "r", 8)
    world.event(ev.NodeChanged("n0", NodeState.LOST))
    world.submit("one", "r", 1)
    assert world.plan(1) == [("Start", "one")]
    assert world.plan(61 * MINUTE) == []
    world.event(ev.NodeChanged("n0", NodeState.READY))
    assert world.plan() == [("Start", "big")]


def test_what_a_guard_keeps_is_released_when_the_job_cannot_start_any_more_s10() -> None:
    world = World()
    world.event(ev.NodeJoined(NodeSpec("small", gpus=4)))
    world.root(12, strategy=Strategy.FIFO)
    world.run("running", "r", 8)
    world.submit("big", "r", 8)
    world.plan(0)
    assert world.plan(61 * MINUTE) == [("Hold", "big")]
    world.event(ev.NodeChanged("n0", NodeState.LOST))
    world.submit("one", "r", 1)
    assert world.plan() == [("Release", "big"), ("Start", "one")]


def test_a_gang_that_no_nodes_hold_at_once_is_refused_s11() -> None:
    world = World(nodes=2)
    world.root(16)
    with pytest.raises(Refused, match="hold 2 replicas"):
        world.submit("gang", "r", 5, 3)


def test_a_job_that_comes_back_to_an_empty_queue_has_not_stood_there_s3() -> None:
    world = World(nodes=2)
    world.root(16, strategy=Strategy.BALANCE)
    world.run("half", "r", 4, places=(Placed(0, 1, (0, 1, 2, 3), Shape(4000, 0, 0)),))
    first = world.run("first", "r", 8, places=(Placed(0, 0, tuple(range(8)), Shape(8000, 0, 0)),))
    world.submit("big", "r", 8)
    world.plan(0)
    world.event(ev.JobEnded(first.id))
    world.plan(MINUTE)
    world.now_ms = 20 * MINUTE
    world.event(ev.NodeChanged("n0", NodeState.DRAINING))
    world.event(ev.JobLeft(JobId("big")))
    world.event(ev.NodeChanged("n0", NodeState.READY))
    world.run("late", "r", 6, places=(Placed(0, 0, (0, 1, 2, 3, 4, 5), Shape(6000, 0, 0)),))
    world.submit("small", "r", 1)
    assert world.plan() == []
    assert world.plan(26 * MINUTE) == [("Start", "small")]


def test_siblings_that_go_before_a_loan_go_in_their_order_s6() -> None:
    world = World()
    world.root(8)
    world.quota("a", 2, self_level=self_level(9, 1))
    world.quota("b", 3)
    world.quota("c", 3)
    for name, gpus in (("a", 2), ("b", 2), ("c", 2), ("r", 1)):
        world.run(f"runs-{name}", name, gpus, priority=9)
    world.submit("low", "b", 1, priority=2)
    world.submit("high", "c", 1, priority=7)
    world.submit("borrower", "a", 1, priority=9)
    assert world.plan() == [("Start", "high")]


def test_siblings_go_also_before_a_loan_that_needs_victims_p3() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, self_level=self_level(9, 3))
    world.quota("b", 4)
    world.run("runs-a", "a", 4, priority=9)
    world.run("runs-b", "b", 3, priority=1)
    world.submit("sibling", "b", 1, priority=5)
    world.submit("borrower", "a", 4, priority=9)
    assert world.plan() == [("Start", "sibling")]


def test_an_increase_is_not_refused_because_of_a_loan_q5() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(5, 1))
    world.quota("b", 6)
    world.run("one", "a", 8, priority=5)
    world.submit("two", "a", 2, priority=5)
    world.plan()
    world.event(ev.QuotaScaled("a", bounds(9)))
    assert not world.state.quotas[QuotaId("a")].shrinking


def test_actual_follows_use_through_two_lazy_scalings_q5() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 16)
    world.run("one", "a", 8)
    world.run("two", "a", 8)
    for gpus in (12, 8):
        world.event(ev.QuotaScaled("a", bounds(gpus), mode=ev.ScaleMode.LAZY))
    assert world.state.quotas[QuotaId("a")].actual[0] == 16_000


def test_a_service_that_changes_its_core_frees_nothing_q5() -> None:
    world = World()
    world.root(8)
    world.quota("a", 8)
    job = world.run("service", "a", 1, 8, module=Module.EAS, min_replicas=2)
    world.event(ev.QuotaScaled("a", bounds(4), mode=ev.ScaleMode.LAZY))
    world.event(ev.JobResized(job.id, 6))
    world.plan()
    quota = world.state.quotas[QuotaId("a")]
    assert (quota.actual[0], quota.shrinking) == (8000, True)


def test_reclaim_takes_an_elastic_job_once_q5() -> None:
    world = World()
    world.root(8, 6)
    world.quota("a", 8, 6)
    world.run("elastic", "a", 1, 3, cpus=1, min_replicas=1)
    world.run("kept", "a", 2, cpus=1, priority=9)
    found = world.event(ev.QuotaScaled("a", bounds(2, 1), mode=ev.ScaleMode.RECLAIM))
    assert [(d.job, d.replicas) for d in found if isinstance(d, say.Evict)] == [("elastic", (0, 1, 2))]


def test_no_loan_on_what_is_reserved_below_q8() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(5, 1))
    world.quota("team", 4, parent="a", reserved=Resources(4000))
    world.run("runs", "a", 4, priority=5)
    world.submit("loan", "a", 8, priority=5)
    assert world.plan() == []
    world.submit("mine", "team", 4)
    assert world.plan() == [("Start", "mine")]


def test_a_loan_of_cpu_returns_no_gpu_p15() -> None:
    world = World(nodes=2)
    world.root(16, 32)
    world.quota("a", 8, 8, self_level=self_level(5, 1))
    world.quota("b", 8, 24)
    world.run("trains", "a", 8, cpus=8, priority=1)
    world.run("above", "r", 8, priority=9)
    world.submit("prepares", "a", 0, cpus=2, priority=5)
    assert world.plan() == [("Start", "prepares")]
    world.submit("waits", "b", 2, priority=5)
    assert world.plan() == []


def test_victims_may_be_needed_for_one_resource_more_than_for_another_p7() -> None:
    world = World(nodes=4)
    world.root(16, 200)
    world.quota("a", 8, 64, self_level=self_level(9, 1, Scope.OWN))
    for number in range(8):
        world.run(f"v{number}", "a", 1, cpus=8)
    world.submit("big", "a", 1, cpus=24, priority=9)
    assert [d for d in world.plan() if d[0] == "Evict"] == [("Evict", f"v{n}") for n in range(3)]


@pytest.mark.parametrize("reserved", [0, 1])
def test_a_reserved_part_elsewhere_makes_no_victim_dearer_p5(reserved: int) -> None:
    world = World(nodes=4)
    world.root(32)
    world.quota("a", 10, self_level=self_level(9, 1, Scope.OWN))
    world.quota("elsewhere", 8, reserved=Resources(reserved * 1000))
    for name, gpus, age in (("x", 3, 10_000), ("y", 4, 20_000), ("z", 3, 10_000)):
        world.now_ms = 100 * MINUTE - age
        world.run(name, "a", gpus)
    world.now_ms = 100 * MINUTE
    world.submit("big", "a", 4, priority=9)
    assert world.plan() == [("Evict", "y"), ("Start", "big")]


def test_nobody_goes_beside_a_core_whose_surplus_is_enough_p8() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(9, 4, Scope.OWN))
    world.run("elastic", "a", 1, 5, min_replicas=3, priority=2)
    world.run("allow", "a", 1, idle=Idle.ALLOW)
    world.run("kept", "a", 2, priority=8)
    world.submit("big", "a", 4, priority=9)
    assert world.plan() == [("Evict", "elastic"), ("Start", "big")]


def test_demotion_respects_the_idle_limit_i2() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(9, 1, Scope.OWN), idle_limit_milli=0)
    world.run("allow", "a", 8, idle=Idle.ALLOW)
    world.submit("big", "a", 8, priority=9)
    assert world.plan() == [("Evict", "allow"), ("Start", "big")]


def test_who_stopped_at_idle_preempts_when_another_took_the_idle_room_p4() -> None:
    world = World()
    world.root(8)
    world.quota("a", 4, self_level=self_level(6, 1, Scope.OWN))
    world.quota("b", 4)
    world.run("victim", "a", 4)
    world.submit("only", "b", 4, priority=9, idle=Idle.ONLY)
    world.submit("allow", "a", 4, priority=6, idle=Idle.ALLOW)
    assert world.plan() == [("Start", "only"), ("Evict", "victim"), ("Hold", "allow")]


def test_a_larger_core_waits_for_the_preemption_delay_p11() -> None:
    world = World()
    world.root(8, self_level=self_level(9, 1, Scope.OWN), preemption_delay_ms=5 * MINUTE)
    job = world.run("service", "r", 1, 2, module=Module.EAS, priority=9, min_replicas=1)
    world.run("victim", "r", 6)
    world.now_ms = 60 * MINUTE
    bigger = replace(job.spec, groups=(ReplicaGroup(4, job.spec.groups[0].shape),))
    world.state.set(job, "spec", bigger)
    world.event(ev.JobResized(job.id, 4))
    assert world.plan() == [("Promote", "service")]
    assert ("Evict", "victim") in world.plan(65 * MINUTE)


def test_surplus_stays_within_the_amount_limits_w3() -> None:
    world = World()
    world.root(8)
    world.event(ev.LimitsSet("r", (AmountLimit("r", "user:ann", 1, 9, 4000),)))
    job = world.submit("service", "r", 1, 8, module=Module.EAS, subjects=("user:ann",))
    world.plan()
    assert len(job.core_indexes) + len(job.surplus) == 4


def test_a_tree_of_two_pools_takes_idle_borrowers_where_it_may_stand_q1() -> None:
    state = State()
    for pool, gpus in (("a", 4), ("b", 8)):
        apply(state, ev.NodeJoined(NodeSpec(pool, pool=pool, gpus=gpus)), 0)
    for name in ("one", "two"):
        draws = (("a", bounds(2)), ("b", bounds(4)))
        apply(state, ev.QuotaCreated(QuotaSpec(QuotaId(name), draws=draws)), 0)

    def stand(name: str, quota: str, node: int, devices: tuple[int, ...], idle: bool) -> None:
        shape = Shape(len(devices) * 1000, 0, 0)
        spec = JobSpec(JobId(name), quota, (ReplicaGroup(1, shape),), 0)
        places = (Placed(0, node, devices, shape),)
        apply(state, ev.JobAdopted(spec, 0, places=places, idle=idle), 0)

    stand("own", "one", 0, (0, 1), idle=False)
    stand("cheap", "two", 0, (2, 3), idle=True)
    stand("dear", "two", 1, (0, 1, 2, 3), idle=True)
    stand("regular", "two", 1, (4, 5, 6, 7), idle=False)
    waiting = JobSpec(JobId("waiting"), "one", (ReplicaGroup(1, Shape(2000, 0, 0)),), 0)
    apply(state, ev.JobSubmitted(waiting), 0)
    made = plan(state, 0).decisions
    assert [d.job for d in made if isinstance(d, say.Evict | say.Hold)] == ["dear", "waiting"]


def test_a_replica_that_is_evicted_later_delays_only_its_own_preemptor_p9() -> None:
    world = World()
    world.root(8)
    job = world.run("service", "r", 1, 8, module=Module.EAS, min_replicas=2)
    world.submit("first", "r", 1, priority=5)
    world.plan()
    (replica,) = job.leaving
    world.now_ms = 10_000
    world.submit("second", "r", 1, priority=5)
    world.plan()
    world.event(ev.JobLeft(job.id, (replica,)))
    assert world.plan() == [("Start", "first")]


def test_no_fraction_of_a_device_is_given_twice_p9() -> None:
    world = World(gpus=2)
    world.root(2, self_level=self_level(9, 1, Scope.OWN))
    half, whole = Shape(500, 0, 0), Shape(1000, 0, 0)
    world.run("half", "r", 0.5, places=(Placed(0, 0, (0,), half),))
    goes = world.run("goes", "r", 1, places=(Placed(0, 0, (1,), whole),))
    world.event(ev.JobCancelled(goes.id))
    gang = world.submit("gang", "r", 0.5, 3, priority=5)
    world.plan()
    world.submit("new", "r", 0.5, priority=9)
    world.plan()
    world.event(ev.JobLeft(goes.id))
    world.plan()
    node = world.state.nodes[0]
    for device in range(2):
        assert node.free[device] + node.held[device] - node.leaving[device] >= 0
    assert gang.phase is Phase.HELD
    world.event(ev.JobLeft(JobId("half")))
    assert world.plan() == [("Start", "gang")]


def test_a_gang_starts_on_promised_and_other_free_places_together_p9() -> None:
    world = World(nodes=3)
    world.root(24, self_level=self_level(9, 1, Scope.OWN))
    for name in ("v0", "v1"):
        world.run(name, "r", 8)
    other = world.run("other", "r", 8, priority=5)
    gang = world.submit("gang", "r", 8, 2, priority=9)
    world.plan()
    world.event(ev.JobLeft(JobId("v0")))
    world.event(ev.JobEnded(other.id))
    world.plan()
    assert gang.phase is Phase.RUNNING


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


def test_a_name_is_free_again_when_its_job_has_left_p9() -> None:
    world = World()
    world.root(8)
    job = world.run("job", "r", 8)
    world.event(ev.JobCancelled(job.id))
    with pytest.raises(Refused, match="still leaving"):
        world.submit("job", "r", 8)
    world.event(ev.JobLeft(job.id))
    world.submit("job", "r", 8)
    assert world.plan() == [("Start", "job")]


def test_a_preview_of_a_cordon_leaves_the_node_usable_x3() -> None:
    world = World()
    world.root(8)
    world.submit("job", "r", 8)
    preview(world.state, [ev.NodeChanged("n0", NodeState.CORDONED)], 0)
    assert world.plan() == [("Start", "job")]


def test_every_resource_that_is_short_is_told_x1() -> None:
    world = World()
    world.root(8, 8)
    world.run("full", "r", 8, cpus=8)
    world.submit("job", "r", 1, cpus=1)
    world.plan()
    told = [r.text for r in explain(world.state, JobId("job"), 0).reasons]
    assert any("0 GPU free" in text for text in told)
    assert any("0 CPU free" in text for text in told)


def test_an_idle_job_without_devices_is_told_so_x1() -> None:
    world = World()
    world.root(8)
    for device in range(0, 8, 2):
        world.run(f"half-{device}", "r", 0.5, places=(Placed(0, 0, (device,), Shape(500, 0, 0)),))
    world.submit("job", "r", 5, idle=Idle.ONLY)
    world.plan()
    assert [r.code for r in explain(world.state, JobId("job"), 0).reasons] == [Code.IdleNoPlacement]
