"""What a pod and an object say of themselves."""

from __future__ import annotations

from typing import Any

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted_view import (
    Spot,
    places_text,
    placing,
    pod_reader,
    run_name,
    run_of,
)
from quotatree.engines.kubernetes.adopted_view import _spots as spots_of

pod_view = pod_reader({("batch/v1", "Job")}, ("nvidia.com/gpu",), lambda uid: uid == "known")


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


def test_a_pod_is_remembered_by_label_by_owner_or_because_it_was_given_a_place():
    bare: dict[str, Any] = {"metadata": {"name": "p", "uid": "p"}}
    assert pod_view(bare) is None
    bare["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "uid": "j"}]
    seen = pod_view(bare)
    assert seen is not None
    assert (seen.things, seen.labelled) == (("j",), False)
    assert pod_view({"metadata": {"name": "p", "uid": "known"}}) is not None
    labelled = pod_view(pod("p", group="x"))
    assert labelled is not None
    assert (labelled.things, labelled.group) == (("u",), -1)


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


def test_a_pod_that_leaves_without_a_node_never_gets_one():
    """P9: a finalizer, which its tenant may write, keeps it in the API; the places of others do not wait for it."""
    leaves = pod("p", spec={"schedulingGates": []})
    leaves["metadata"] |= {"deletionTimestamp": "2026-11-17T10:00:00Z", "finalizers": ["mine.org/stay"]}
    seen = pod_view(leaves)
    assert seen is not None
    assert not seen.alive
    leaves["spec"]["nodeName"] = "node-a"
    seen = pod_view(leaves)
    assert seen is not None
    assert seen.alive


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


def test_a_gate_that_is_open_is_no_reason_to_wait_however_late_the_scheduler_sees_it():
    """The scheduler's word of before stands on the pod until it looks again."""
    conditions = [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
    ]
    ours = pod_view(pod("p", "0", "0", conditions=conditions))
    of_others = pod_view(
        pod("p", "0", "0", conditions=conditions, spec={"schedulingGates": [{"name": "other"}]})
    )
    assert ours is not None
    assert ours.unplaced == ""
    assert of_others is not None
    assert "gates" in of_others.unplaced
