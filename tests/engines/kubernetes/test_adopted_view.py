"""What a pod and an object say of themselves, and which pod gets which place."""

from __future__ import annotations

from typing import Any

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted_view import (
    Spot,
    free_spots,
    places_text,
    placing,
    pod_view,
    run_name,
    run_of,
)
from quotatree.engines.kubernetes.adopted_view import _spots as spots_of


def pod(name: str, group: str = "0", replica: str = "", **more: Any) -> dict[str, Any]:
    labels = {adopted.OBJECT: "u", adopted.GROUP: group, **({adopted.REPLICA: replica} if replica else {})}
    spec = {"schedulingGates": [] if replica else [{"name": adopted.GATE}], **more.pop("spec", {})}
    notes = {adopted.RUN: "dlc-1.1"} if replica else {}
    return {
        "metadata": {"name": name, "namespace": "n", "uid": name, "labels": labels, "annotations": notes},
        "spec": spec,
        "status": more,
    }


def test_runs_and_places_are_written_and_read():
    assert run_of(run_name("dlc-8k2m0qz4xa", 12)) == ("dlc-8k2m0qz4xa", 12)
    for wrong in ("", "x", "dlc-1.", ".3", "dlc.x"):
        assert run_of(wrong) == ("", 0)
    spots = (Spot(0, "node-a"), Spot(1, "node.b"))
    assert spots_of(places_text(spots)) == spots
    assert spots_of("nonsense") == ()


def test_labels_that_we_did_not_write_make_a_pod_nobodys():
    assert pod_view(pod("p", group="x")) is None
    assert pod_view({"metadata": {"name": "p", "uid": "p"}}) is None


def test_each_gated_pod_gets_a_free_place_of_its_template():
    views = [
        pod_view(one)
        for one in (
            pod("c", "1"),
            pod("a"),
            pod("b"),
            pod("x", "0", "0", phase="Running"),
            pod("z", "0", "1", phase="Failed"),
        )
    ]
    spots = (Spot(0, "n0"), Spot(0, "n1"), Spot(1, "n2"))
    found = free_spots([view for view in views if view is not None], "dlc-1.1", spots, {})
    assert [(view.key.name, replica) for view, replica in found] == [("a", 1), ("c", 2)]


def test_affinity_and_gates_of_others_stay():
    terms: list[dict[str, Any]] = [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]},
        {"matchExpressions": []},
    ]
    spec = {
        "schedulingGates": [{"name": "other"}, {"name": adopted.GATE}],
        "affinity": {
            "podAffinity": {"x": 1},
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}},
        },
    }
    view = pod_view(pod("p", spec=spec))
    assert view is not None
    changed = placing(view, "dlc-1.1", 3, "node-a")["spec"]
    required = changed["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    here = [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]
    assert changed["schedulingGates"] == [{"name": "other"}]
    assert changed["affinity"]["podAffinity"] == {"x": 1}
    assert required == [{**term, "matchFields": here} for term in terms]


def test_why_the_scheduler_finds_no_node_is_seen():
    conditions = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes"}
    ]
    seen, gated = (
        pod_view(pod("p", "0", "0", conditions=conditions)),
        pod_view(pod("p", conditions=conditions)),
    )
    assert seen is not None
    assert seen.unplaced == "0/4 nodes"
    assert gated is not None
    assert gated.unplaced == ""
