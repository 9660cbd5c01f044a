"""Jobs as somebody makes them with kubectl, and a cluster in memory that an edge can work on."""

from __future__ import annotations

from typing import Any

from quotatree.engines.kubernetes.adopted import BATCH_JOB
from quotatree.kubernetes_edge.native_reading import Asked, asked_of

GPUS = ("nvidia.com/gpu", "amd.com/gpu")


def job(name: str = "train", *, notes: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """A suspended Job of two pods with 2 GPUs each; `labels` and `spec` add to it."""
    labels = {"quotatree.io/quota": "a", "quotatree.io/priority": "3", **more.pop("labels", {})}
    limits = {"nvidia.com/gpu": "2", "cpu": "4", "memory": "8Gi"}
    pod = {"containers": [{"name": "c", "resources": {"limits": limits}}], "terminationGracePeriodSeconds": 5}
    spec = {"suspend": True, "parallelism": 2, "template": {"spec": pod}, **more.pop("spec", {})}
    meta = {
        "name": name,
        "namespace": "team",
        "uid": f"uid-{name}",
        "labels": labels,
        "annotations": notes or {},
    }
    return {"metadata": {**meta, **more}, "spec": spec}


def asked(thing: dict[str, Any]) -> Asked:
    return asked_of(BATCH_JOB, GPUS, thing)
