"""What does a pod say about its replica?"""

from __future__ import annotations

import pytest

from quotatree.engines.kubernetes.pod_reading import milliseconds, pod_view
from tests.engines.kubernetes.made import pod


def view(*args, **more):
    found = pod_view(pod(*args, **more))
    assert found is not None
    return found


def failed(code: int = 1, **more):
    ended = {"state": {"terminated": {"exitCode": code, "reason": "Error"}}}
    return view(phase="Failed", status={"containerStatuses": [ended], **more})


def test_a_pod_of_somebody_else_is_none_of_ours():
    assert pod_view({"metadata": {"name": "x", "uid": "u", "labels": {"quotatree.io/job": "a"}}}) is None


def test_phases_are_told_apart():
    assert view(phase="Pending").phase == "pending"
    assert view(phase="Running").phase == "running"
    assert view(phase="Succeeded").phase == "succeeded"
    assert (failed(3).phase, failed(3).detail) == ("failed", "exit code 3")


@pytest.mark.parametrize(
    "status",
    [
        {"reason": "Evicted", "message": "The node was low on resource: memory."},
        {"reason": "Preempting"},
        {"reason": "OutOfnvidia.com/gpu", "message": "Node didn't have enough resource"},
        {"reason": "UnexpectedAdmissionError"},
        {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]},
    ],
)
def test_what_the_cluster_took_away_is_lost_and_no_failure_of_its_program(status):
    found = failed(137, **status)
    assert found.phase == "lost"
    assert found.detail


def test_a_pod_that_kube_scheduler_does_not_place_says_why():
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/16 nodes"}
    found = view(phase="Pending", status={"conditions": [said]})
    assert (found.blocked, found.unplaced) == ("0/16 nodes", True)


def test_a_pod_without_its_image_says_why():
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    found = view(phase="Pending", status={"containerStatuses": [waiting]})
    assert (found.blocked, found.unplaced) == ("ImagePullBackOff: no such image", False)


def test_a_pod_that_only_needs_time_is_not_blocked():
    waiting = {"state": {"waiting": {"reason": "ContainerCreating"}}}
    assert view(phase="Pending", status={"containerStatuses": [waiting]}).blocked == ""


def test_a_deleted_pod_is_leaving_until_it_is_gone():
    assert view(meta={"deletionTimestamp": "2026-11-17T10:00:01Z"}).leaving


def test_times_are_read_with_their_zone_and_nonsense_is_none():
    assert milliseconds("2026-11-17T10:00:00Z") == milliseconds("2026-11-17T11:00:00+01:00") == 1794909600000
    assert milliseconds("yesterday") is None
    assert milliseconds("2026-11-17T10:00:00") is None
