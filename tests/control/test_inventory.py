"""An engine tells which nodes there are: they come, change, are shut, go and come back (R2, R5, R6)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quotatree.access.errors import NotFound
from quotatree.control.commands import values as do
from quotatree.control.inventory import present
from quotatree.core import NodeSpec, NodeState, Resources
from quotatree.engines.base import NodeSeen, Observed, StartOrder
from quotatree.store.rows import EventRow
from tests.control.kept_store import KeptStore
from tests.control.test_reports import Told
from tests.control.told_engine import ToldEngine

SPEC = NodeSpec("k0", pool="cluster", model="H100", gpus=8, labels=(("rack", "r1"),))


@pytest.fixture
def server(tmp_path: Path, kept: KeptStore) -> Told:
    return Told(tmp_path, kept, ToldEngine()).furnish()  # type: ignore[return-value]


def node(server: Told, name: str = "k0"):
    return server.world.state.node_by_name[name]


def state(server: Told, name: str = "k0") -> NodeState:
    return node(server, name).state


def test_a_node_joins_changes_and_a_restart_knows(server: Told):
    server.hear(NodeSeen(replace(SPEC, gpus=0)))
    server.hear(NodeSeen(SPEC, foreign=Resources(2000, 500, 64)))
    server.restart()
    assert (node(server).spec.gpus, node(server).whole_free) == (8, 6)
    assert dict(node(server).spec.labels)["rack"] == "r1"
    assert [row.kind for row in server.store.table(EventRow) if row.kind.startswith("node.")][-2:] == [
        "node.joined",
        "node.altered",
    ]


def test_a_report_that_says_nothing_new_changes_nothing(server: Told):
    server.hear(NodeSeen(SPEC, foreign=Resources(1000)))
    version, events = server.world.version("node", "k0"), len(server.kinds())
    server.hear(NodeSeen(SPEC, foreign=Resources(1000)))
    assert (server.world.version("node", "k0"), len(server.kinds())) == (version, events)


def test_a_cordon_of_the_cluster_is_lifted_by_the_cluster_even_after_a_restart(server: Told):
    server.hear(NodeSeen(SPEC, cordoned=True))
    assert state(server) is NodeState.CORDONED
    server.restart()
    server.hear(NodeSeen(SPEC))
    assert state(server) is NodeState.READY


def test_a_cordon_and_a_drain_of_ours_stay_whatever_the_cluster_says(server: Told):
    for ours in (NodeState.CORDONED, NodeState.DRAINING):
        server.hear(NodeSeen(SPEC))
        server.do(do.SetNodeState(actor="root", node="k0", state=ours))
        server.hear(NodeSeen(SPEC, foreign=Resources(1000)))
        assert state(server) is ours
        server.do(do.SetNodeState(actor="root", node="k0", state=NodeState.READY))


def test_a_node_that_is_not_ready_is_lost_and_comes_back(server: Told):
    server.hear(NodeSeen(SPEC))
    server.hear(NodeSeen(SPEC, ready=False))
    assert state(server) is NodeState.LOST
    server.hear(NodeSeen(SPEC, cordoned=True))
    assert state(server) is NodeState.CORDONED


def test_a_node_that_never_was_ready_does_not_join(server: Told):
    server.hear(NodeSeen(SPEC, ready=False))
    assert "k0" not in server.world.state.node_by_name


def test_a_whole_inventory_loses_the_nodes_of_an_earlier_one_and_no_declared_ones(server: Told):
    server.hear(NodeSeen(SPEC))
    server.engine.nodes = (NodeSeen(replace(SPEC, name="k1")),)
    server.restart()
    assert state(server, "k0") is NodeState.LOST
    assert state(server, "k1") is NodeState.READY
    assert state(server, "n0") is NodeState.READY, "one that was declared by people is theirs"


def test_a_cordon_of_ours_outlives_that_the_node_was_not_ready_or_lost(server: Told):
    """R5. The engine tells a node that is not ready as cordoned at first, and that cordon is not ours."""
    server.hear(NodeSeen(SPEC))
    server.do(do.SetNodeState(actor="root", node="k0", state=NodeState.CORDONED))
    for report in (NodeSeen(SPEC, cordoned=True), NodeSeen(SPEC)):
        server.hear(report)
        assert state(server) is NodeState.CORDONED
    for report in (NodeSeen(SPEC, cordoned=True), NodeSeen(SPEC, ready=False), NodeSeen(SPEC)):
        server.hear(report)
    assert state(server) is NodeState.CORDONED
    server.do(do.SetNodeState(actor="root", node="k0", state=NodeState.READY))
    for report in (NodeSeen(SPEC, cordoned=True), NodeSeen(SPEC, ready=False), NodeSeen(SPEC)):
        server.hear(report)
    assert state(server) is NodeState.READY


def test_a_node_that_is_gone_counts_nothing_and_comes_back_as_another(server: Told):
    server.hear(NodeSeen(SPEC, foreign=Resources(1000)))
    server.do(do.SetNodeState(actor="root", node="k0", state=NodeState.CORDONED))
    server.hear(NodeSeen(SPEC, ready=False, gone=True))
    server.hear(NodeSeen(SPEC, ready=False, gone=True))
    assert "k0" not in [one.spec.name for one in present(server.world.state.nodes)]
    assert node(server).spec.size == Resources()
    assert server.kinds().count("node.gone") == 1
    with pytest.raises(NotFound):
        server.do(do.SetNodeState(actor="root", node="k0", state=NodeState.READY))
    server.restart()
    assert "k0" not in [one.spec.name for one in present(server.world.state.nodes)]
    server.hear(NodeSeen(replace(SPEC, gpus=4, model="L20", pool="other"), ready=False))
    assert "k0" not in [one.spec.name for one in present(server.world.state.nodes)], "it was never ready"
    server.hear(NodeSeen(replace(SPEC, gpus=4, model="L20", pool="other")))
    assert (state(server), node(server).whole_free, node(server).spec.model) == (NodeState.READY, 4, "L20")


def test_a_node_that_was_lost_and_is_not_in_a_new_inventory_is_gone(server: Told):
    server.hear(NodeSeen(SPEC))
    server.hear(NodeSeen(SPEC, ready=False))
    server.engine.nodes = (NodeSeen(replace(SPEC, name="k1")),)
    server.restart()
    assert [one.spec.name for one in present(server.world.state.nodes) if one.spec.pool == "cluster"] == [
        "k1"
    ]


def test_a_model_that_its_pool_does_not_take_is_told_and_harms_nothing(server: Told):
    server.hear(NodeSeen(SPEC))
    server.hear(NodeSeen(replace(SPEC, name="k1", model="L20")))
    assert "k1" not in server.world.state.node_by_name
    (told,) = (row for row in server.store.table(EventRow) if row.kind == "node.refused")
    assert (told.body["node"], told.body["rule"]) == ("k1", "R4")


def test_gpus_that_vanish_under_running_work_are_kept_and_count_as_used_by_others(server: Told):
    n0 = node(server, "n0").spec
    server.hear(NodeSeen(n0))
    job = server.submit(gpus=2)
    (start,) = (order for order in server.new_orders() if isinstance(order, StartOrder))
    where = node(server, start.replicas[0].node)
    server.hear(NodeSeen(replace(n0, name=where.spec.name, gpus=0)))
    assert server.phase(job) == "Running"
    assert (where.spec.gpus, where.whole_free) == (n0.gpus, 0)
    server.hear(NodeSeen(replace(n0, name=where.spec.name)))
    assert where.whole_free == n0.gpus - 2


def test_an_order_says_whose_run_it_is(server: Told):
    job = server.submit(gpus=1)
    (start,) = (order for order in server.new_orders() if isinstance(order, StartOrder))
    card = server.world.cards[server.job(job).id]
    assert (start.owner.user, start.workspace, start.owner.quota) == (
        card.owner,
        server.job(job).spec.workspace,
        server.job(job).spec.quota,
    )


def test_the_same_inventory_twice_is_one(server: Told):
    seen = NodeSeen(SPEC)
    server.engine.nodes = (seen,)
    server.restart()
    before = server.world.version("node", "k0")
    server.restart()
    assert server.world.version("node", "k0") == before
    assert server.engine.observe() == Observed((), (), (seen,))
