"""What does a node's object say, and what do others use of it?"""

from __future__ import annotations

from typing import Any

from quotatree.core import Resources
from quotatree.engines.kubernetes.node_reading import foreign_pod, node_view
from quotatree.engines.kubernetes.options import KubernetesOptions
from tests.engines.kubernetes.made import pod

OPTIONS = KubernetesOptions()


def node(
    gpus: str = "8", offered: str | None = None, labels: dict[str, str] | None = None, **spec: Any
) -> Any:
    size = {"cpu": "64", "memory": "512Gi"}
    return {
        "metadata": {"name": "gpu-1", "labels": labels or {}},
        "spec": spec,
        "status": {
            "capacity": {**size, "nvidia.com/gpu": gpus},
            "allocatable": {"cpu": "63500m", "memory": "510Gi", "nvidia.com/gpu": offered or gpus},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def foreign(name: str, gpus: int, where: str = "gpu-1", phase: str = "Running") -> Any:
    return {
        "metadata": {"name": name, "uid": name, "labels": {}},
        "spec": {
            "nodeName": where,
            "containers": [{"resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": str(gpus)}}}],
        },
        "status": {"phase": phase},
    }


def test_size_model_pool_rack_and_zone_come_from_the_cluster():
    labels = {
        "nvidia.com/gpu.product": "NVIDIA H100 80GB",
        "topology.kubernetes.io/rack": "r7",
        "topology.kubernetes.io/zone": "b",
    }
    found = node_view(node(labels=labels), OPTIONS)
    spec = found.spec
    assert (spec.gpus, spec.cpu_milli, spec.memory_mib) == (8, 63_500, 510 * 1024)
    assert (spec.model, spec.pool) == ("NVIDIA H100 80GB", "NVIDIA-H100-80GB")
    assert dict(spec.labels)["rack"] == "r7"
    assert dict(spec.labels)["zone"] == "b"
    assert (found.ready, found.cordoned, found.unusable) == (True, False, 0)


def test_a_label_names_the_pool_and_a_node_without_model_is_in_the_default_one():
    assert node_view(node(labels={"quotatree.io/pool": "big"}), OPTIONS).spec.pool == "big"
    assert node_view(node(), OPTIONS).spec.pool == "default"


def test_other_resources_count_as_gpus_if_the_settings_say_so():
    amd = node(gpus="0")
    amd["status"]["capacity"]["amd.com/gpu"] = amd["status"]["allocatable"]["amd.com/gpu"] = "4"
    found = node_view(amd, OPTIONS)
    assert (found.spec.gpus, found.resource) == (4, "amd.com/gpu")


def test_a_cordoned_and_a_not_ready_node_say_so():
    assert node_view(node(unschedulable=True), OPTIONS).cordoned
    sick = node()
    sick["status"]["conditions"][0]["status"] = "Unknown"
    assert not node_view(sick, OPTIONS).ready


def test_our_pods_and_those_that_are_over_are_not_foreign():
    assert foreign_pod(pod(), OPTIONS) is None
    assert foreign_pod(foreign("done", 1, phase="Succeeded"), OPTIONS) is None
    assert foreign_pod(foreign("unbound", 1, where=""), OPTIONS) is None
    found = foreign_pod(foreign("theirs", 2), OPTIONS)
    assert found is not None
    assert (found.node, found.use) == ("gpu-1", Resources(2000, 500, 0))


def test_a_label_of_an_object_alone_makes_no_pod_ours():
    """A pod that was adopted has its node and the name of its run from one and the same change."""
    said = foreign("says", 2)
    said["metadata"]["labels"] = {"quotatree.io/object": "u1", "quotatree.io/group": "0"}
    assert foreign_pod(said, OPTIONS) is not None
    said["metadata"]["annotations"] = {"quotatree.io/run": "job.1"}
    assert foreign_pod(said, OPTIONS) is None
