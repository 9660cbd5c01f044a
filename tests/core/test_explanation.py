"""Why a job waits, who could take it, and previews that leave no trace (X1, X3, X4)."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.explanation import explain, exposure, preview
from quotatree.core.model.job import Idle, JobId, Placed, Shape
from quotatree.core.model.node import NodeState
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code, Step
from tests.core.building import World, child, cluster, root, self_level, submit


def test_exposure_to_a_return_names_only_priorities_that_may_take() -> None:
    lender = child("r.lender", 8)
    borrower = child("r.borrower", 8, self_level=self_level(4, 1))
    state = cluster(8, root(16), lender, borrower, nodes=2)
    submit(state, "loan", "r.borrower", (2, 8000), priority=4)
    plan(state, 0)
    returns = [e for e in exposure(state, JobId("loan"), 0) if e.rule == "ReturnOfLoan"]
    assert [(e.quota, e.who) for e in returns] == [("r.lender", "jobs of r.lender with priority 4-9")]


def test_explain_groups_the_nodes_on_which_a_job_finds_no_place() -> None:
    state = cluster(8, root(32), nodes=4)
    for number in range(4):
        submit(state, f"half-{number}", "r", (1, 5000))
    plan(state, 0)
    submit(state, "wide", "r", (1, 8000))
    plan(state, 0)
    told = explain(state, JobId("wide"), 0)
    assert [(g.nodes, g.free_gpus, g.replicas_fit) for g in told.nodes] == [(4, 3, 0)]


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


def test_what_surplus_uses_is_not_told_as_free_x1() -> None:
    """Before a loan the surplus of `wide` would give way (P12). That is not enough, so it stays and r has nothing free."""
    world = World(gpus=4)
    world.root(4)
    world.quota("a", 2, self_level=self_level(5, 1))
    world.quota("b", 2)
    world.run("full", "b", 2, priority=9)
    world.submit("wide", "a", 1, priority=9, max_replicas=2)
    world.plan()
    assert world.state.jobs[JobId("wide")].running_replicas == 2
    world.submit("new", "a", 2, priority=5)
    world.plan()
    told = explain(world.state, JobId("new"), 0)
    assert [dict(r.facts)["free"] for r in told.reasons if r.code is Code.AncestorFull] == ["0 GPU"]


def test_a_job_whose_quota_has_room_only_without_surplus_is_not_told_that_quota_allows_it_x1() -> None:
    """Before a loan the surplus of `wide` would give way. r had room then, but no node has two free devices."""
    world = World(nodes=2, gpus=2)
    world.root(4)
    world.quota("a", 2, self_level=self_level(5, 1))
    world.quota("b", 2)
    one = Shape(1000, 0, 0)
    world.run("beside", "b", 1, priority=9, places=(Placed(0, 1, (0,), one),))
    world.run("wide", "a", 1, priority=9, max_replicas=2, places=(Placed(0, 0, (0,), one),))
    assert world.plan() == [("Start", "wide")]
    world.submit("new", "a", 2, priority=5)
    world.plan()
    told = explain(world.state, JobId("new"), 0)
    assert next(t.reason.code for t in told.tried if t.step is Step.LOAN) is Code.AncestorFull
    assert Code.NoPlacement not in {r.code for r in told.reasons}


def test_an_idle_job_without_devices_is_told_so_x1() -> None:
    world = World()
    world.root(8)
    for device in range(0, 8, 2):
        world.run(f"half-{device}", "r", 0.5, places=(Placed(0, 0, (device,), Shape(500, 0, 0)),))
    world.submit("job", "r", 5, idle=Idle.ONLY)
    world.plan()
    assert [r.code for r in explain(world.state, JobId("job"), 0).reasons] == [Code.IdleNoPlacement]


def test_of_several_shapes_the_one_that_finds_no_place_beside_the_larger_is_told_x1() -> None:
    """Of three GPUs one is whole, and the others have 0.7 and 0.6 left: 0.65 fits twice only where the whole one would."""
    world = World(gpus=3)
    world.root(3)
    for device, milli in enumerate((300, 400)):
        place = Placed(0, 0, (device,), Shape(milli, 0, 0))
        world.run(f"part-{device}", "r", milli / 1000, places=(place,))
    job = submit(world.state, "job", "r", (1, 1000), (2, 650))
    world.plan()
    (reason, *_) = explain(world.state, job.id, 0).reasons
    assert reason.text == "quota allows it, but nodes do not: 1 of 2 replicas of 0.65 GPU fit"
