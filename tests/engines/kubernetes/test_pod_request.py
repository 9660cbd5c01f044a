"""What a pod asks for is counted as kube-scheduler counts it."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.core import Shape
from quotatree.engines.kubernetes.pod_request import WrongRequest, asks_for_more, grace_seconds, shape_of

GPUS = ("nvidia.com/gpu", "amd.com/gpu")


def container(
    requests: dict[str, Any] | None = None, limits: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def shape(**spec: Any) -> tuple[int, int, int]:
    return shape_of({"spec": spec}, GPUS, {})[:3]


def test_containers_add_up_and_a_limit_is_a_request():
    beside = [
        container({"cpu": "500m", "memory": "1Gi"}),
        container(limits={"nvidia.com/gpu": "2", "cpu": 1}),
    ]
    assert shape(containers=beside) == (2000, 1500, 1024)


def test_the_largest_of_those_that_come_first_counts():
    first = [container({"cpu": 4}), container({"cpu": 1, "memory": "8Gi"})]
    assert shape(containers=[container({"cpu": 2, "memory": "1Gi"})], initContainers=first) == (0, 4000, 8192)


def test_one_that_comes_first_and_stays_runs_along():
    side = container({"cpu": 1}, restartPolicy="Always")
    assert shape(containers=[container({"cpu": 2})], initContainers=[side, container({"cpu": 4})])[1] == 5000
    assert shape(containers=[container({"cpu": 9})], initContainers=[side])[1] == 10000


def test_overhead_is_added():
    assert shape(containers=[container({"cpu": 1})], overhead={"cpu": "250m"})[1] == 1250


def test_two_kinds_of_gpu_in_one_pod_are_refused():
    both = container(limits={"nvidia.com/gpu": 1, "amd.com/gpu": 1})
    with pytest.raises(WrongRequest, match=r"amd.com/gpu and nvidia.com/gpu"):
        shape(containers=[both])


def test_a_quantity_that_cannot_be_read_names_its_resource():
    with pytest.raises(WrongRequest, match="memory"):
        shape(containers=[container({"memory": "lots"})])


def test_an_empty_template_asks_for_nothing_and_gets_half_a_minute():
    assert shape_of({}, GPUS, {})[:3] == (0, 0, 0)
    assert grace_seconds({}) == 30
    assert grace_seconds({"spec": {"terminationGracePeriodSeconds": 0}}) == 0


def test_a_limit_of_the_whole_pod_is_its_request_where_no_container_says_another():
    assert shape(containers=[container()], resources={"limits": {"cpu": 4}})[1] == 4000
    assert shape(containers=[container({"cpu": 1})], resources={"limits": {"cpu": 4}})[1] == 1000


EIGHT = {"nvidia.com/gpu": "8"}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"containers": [container(limits=EIGHT), container(limits=EIGHT)]}, "16 GPUs, and the job for 8"),
        (
            {
                "containers": [container(limits=EIGHT)],
                "initContainers": [container(limits={"nvidia.com/gpu": "9"})],
            },
            "9 GPUs, and the job for 8",
        ),
        (
            {
                "containers": [container(limits=EIGHT)],
                "initContainers": [container(limits={"amd.com/gpu": 1})],
            },
            "one kind of GPU",
        ),
        ({"containers": [container(limits=EIGHT)], "resourceClaims": [{"name": "x"}]}, "resourceClaims"),
        ({"containers": [container({"cpu": 5}, EIGHT)]}, "5 CPU, and the job for 4"),
        ({"containers": [container({"memory": "9Gi"}, EIGHT)]}, "9216 MiB of memory, and the job for 8192"),
    ],
)
def test_a_pod_of_ours_that_asks_for_more_than_its_job_is_told(spec: dict[str, Any], said: str):
    """Q3: what is counted is what runs."""
    assert said in asks_for_more({"spec": spec}, Shape(8000, 4000, 8192), GPUS)


def test_a_pod_of_ours_that_asks_for_what_its_job_does_is_let_pass():
    spec = {"containers": [container({"cpu": 4, "memory": "8Gi"}, EIGHT)]}
    assert asks_for_more({"spec": spec}, Shape(8000, 4000, 8192), GPUS) == ""
