"""What a pod asks for is counted as kube-scheduler counts it."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.engines.kubernetes.pod_request import WrongRequest, grace_seconds, shape_of

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
