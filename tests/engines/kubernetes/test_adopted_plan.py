"""What differs from the plan is seen, whatever it is (A7)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from quotatree.core import Shape
from quotatree.engines.kubernetes.adopted import BATCH_JOB
from quotatree.engines.kubernetes.adopted_plan import object_differs, request_of, shape_differs

GPUS = ("nvidia.com/gpu", "amd.com/gpu")
PLANNED = Shape(2000, 4000, 8192, labels=(("disk", "ssd"),))


def job(pods: int = 2) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": "2", "cpu": "4", "memory": "8Gi"}
    pod = {"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "c", "resources": {"limits": limits}}]}
    return {"metadata": {"uid": "u"}, "spec": {"parallelism": pods, "template": {"spec": pod}}}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, ""),
        ({"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "4", "memory": "8Gi"}}}]}, "8 GPUs now, not 2"),
        ({"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "5", "memory": "8Gi"}}}]}, "5 CPU now"),
        ({"overhead": {"memory": "1Gi"}}, "MiB now"),
        ({"initContainers": [{"name": "i", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}, "4 GPUs"),
        ({"nodeSelector": {}}, "labels of nodes"),
        ({"nodeSelector": {"disk": "ssd", "rack": "r1"}}, "rules for its nodes"),
        ({"affinity": {"nodeAffinity": {"x": 1}}}, "rules for its nodes"),
        ({"nodeName": "node-a"}, "rules for its nodes"),
        ({"resourceClaims": [{"name": "gpu"}]}, "cannot be counted"),
        ({"tolerations": [{"operator": "Exists"}]}, "rules for its nodes"),
        ({"containers": [{"name": "c", "image": "other", "resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "4", "memory": "8Gi"}}}]}, ""),
    ],
)  # fmt: skip
def test_an_object_is_compared_in_full(change: dict[str, Any], says: str):
    before = job()
    after = deepcopy(before)
    after["spec"]["template"]["spec"].update(change)
    found = object_differs(BATCH_JOB, after, (PLANNED, PLANNED), request_of(BATCH_JOB, before), GPUS)
    assert (found == "") == (says == "")
    assert says in found


def test_the_number_of_pods_is_compared():
    assert "3 pods now, not 2" in object_differs(BATCH_JOB, job(3), (PLANNED, PLANNED), "", GPUS)


def test_a_job_of_an_earlier_version_has_no_digest_and_is_compared_by_its_plan():
    assert object_differs(BATCH_JOB, job(), (PLANNED, PLANNED), "", GPUS) == ""


def test_what_the_cluster_gives_where_nothing_was_asked_for_is_let_pass():
    assert shape_differs(Shape(1000, 100, 64), Shape(1000, 0, 0)) == ""
    assert "GPUs" in shape_differs(Shape(2000, 100, 64), Shape(1000, 0, 0))
