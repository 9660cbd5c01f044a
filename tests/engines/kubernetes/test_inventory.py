"""Which nodes are told, in which state, and what of them is not ours (R2, R5, R6)?"""

from __future__ import annotations

from quotatree.core import Resources
from quotatree.engines.base import NodeSeen
from quotatree.engines.kubernetes.inventory import Inventory
from quotatree.engines.kubernetes.node_reading import foreign_pod, node_view
from quotatree.engines.kubernetes.options import KubernetesOptions
from tests.engines.kubernetes.test_node_reading import foreign, node

OPTIONS = KubernetesOptions()


def test_gpus_that_are_there_and_not_offered_cannot_be_used():
    inventory = Inventory()
    seen = inventory.node_changed(None, node_view(node(offered="6"), OPTIONS))
    assert seen is not None
    assert (seen.spec.gpus, seen.foreign.gpu_milli) == (8, 2000)


def test_a_node_that_is_not_ready_gets_nothing_new_and_is_lost_only_after_a_while():
    """R5: after an outage of the control plane every node is not ready for some seconds, and everything on it runs."""
    sick = node()
    sick["status"]["conditions"][0] |= {"status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    view = node_view(sick, OPTIONS)
    assert view.unready_ms is not None
    since = view.unready_ms
    now = [since + 1_000]
    inventory = Inventory(10_000, lambda: now[0])
    seen = inventory.node_changed(None, view)
    assert seen is not None
    assert (seen.ready, seen.cordoned, inventory.changes_in_ms(view.spec.name)) == (True, True, 9_000)
    now[0] = since + 10_000
    seen = inventory.seen(view.spec.name)
    assert seen is not None
    assert (seen.ready, inventory.changes_in_ms(view.spec.name)) == (False, 0)
    back = inventory.node_changed(view, node_view(node(), OPTIONS))
    assert back is not None
    assert (back.ready, back.cordoned) == (True, False)


def test_foreign_pods_come_and_go_and_the_sum_is_always_right():
    inventory = Inventory()
    view = node_view(node(), OPTIONS)
    inventory.node_changed(None, view)
    one, two = (foreign_pod(foreign(name, gpus), OPTIONS) for name, gpus in (("one", 1), ("two", 2)))
    assert [seen.foreign for seen in inventory.pod_changed(None, one)] == [Resources(1000, 500, 0)]
    assert [seen.foreign for seen in inventory.pod_changed(None, two)] == [Resources(3000, 1000, 0)]
    assert [seen.foreign for seen in inventory.pod_changed(one, None)] == [Resources(2000, 500, 0)]
    assert [seen.foreign for seen in inventory.pod_changed(two, None)] == [Resources()]


def test_a_node_that_was_deleted_is_lost_at_once_and_gone_only_if_nobody_makes_it_again():
    now = [0]
    inventory = Inventory(clock_ms=lambda: now[0], gone_ms=600_000)
    view = node_view(node(), OPTIONS)
    name = view.spec.name
    inventory.node_changed(None, view)
    assert inventory.node_changed(view, None) == NodeSeen(view.spec, ready=False)
    assert (inventory.changes_in_ms(name), inventory.ready(name)) == (600_000, False)
    again = inventory.node_changed(None, view)
    assert again is not None
    assert again.ready
    assert inventory.changes_in_ms(name) == 0
    inventory.node_changed(view, None)
    now[0] = 599_999
    assert inventory.all() == (NodeSeen(view.spec, ready=False),)
    now[0] = 600_000
    assert inventory.seen(name) == NodeSeen(view.spec, ready=False, gone=True)
    assert (inventory.seen(name), inventory.all()) == (None, ())
