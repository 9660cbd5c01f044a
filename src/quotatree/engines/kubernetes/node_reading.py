"""What does an object of the cluster say about a node: its size, model, rack, state, and what others use of it? Pure."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from quotatree.core import WHOLE_GPU, NodeSpec, Resources
from quotatree.engines.kubernetes.kinds import Object
from quotatree.engines.kubernetes.options import DOMAIN, KubernetesOptions
from quotatree.engines.kubernetes.pod_reading import milliseconds
from quotatree.engines.kubernetes.pod_request import WrongRequest, shape_of
from quotatree.engines.kubernetes.quantities import mib, milli

JOB_LABEL: Final = f"{DOMAIN}/job"
OBJECT_LABEL: Final = f"{DOMAIN}/object"
"""Label of pods of objects that were adopted; they are ours too, once they have their place, and RUN_NOTE with it."""
RUN_NOTE: Final = f"{DOMAIN}/run"
OVER: Final = ("Succeeded", "Failed")


class NodeView(NamedTuple):
    """A node as its object says. `unusable`: GPUs that it has and does not offer; `resource`: what they are called.

    `unready_ms`: since when it is not ready, in milliseconds since the epoch; None if it is, or does not say.
    """

    spec: NodeSpec
    ready: bool
    cordoned: bool
    unusable: int
    resource: str
    unready_ms: int | None = None


class ForeignPod(NamedTuple):
    """What a pod that is not ours has of a node."""

    uid: str
    node: str
    use: Resources


def node_view(node: Object, options: KubernetesOptions) -> NodeView:
    meta, status = node["metadata"], node.get("status") or {}
    labels: dict[str, str] = meta.get("labels") or {}
    capacity, offered = status.get("capacity") or {}, status.get("allocatable") or {}
    resource = next(
        (name for name in options.gpu_resources if _count(capacity, name)), options.gpu_resources[0]
    )
    gpus = max(_count(capacity, resource), _count(offered, resource))
    model = next((labels[name] for name in options.model_labels if labels.get(name)), "")
    spec = NodeSpec(
        name=meta["name"],
        pool=labels.get(options.pool_label) or (_name_of(model) if gpus and model else "default"),
        model=model or "GPU",
        gpus=gpus,
        cpu_milli=_amount(offered, "cpu", milli),
        memory_mib=_amount(offered, "memory", mib),
        labels=_kept(labels, options),
    )
    condition = _ready_condition(status)
    ready = condition.get("status") == "True"
    return NodeView(
        spec, ready, bool((node.get("spec") or {}).get("unschedulable")), gpus - _count(offered, resource), resource,
        None if ready else milliseconds(str(condition.get("lastTransitionTime", ""))),
    )  # fmt: skip


def foreign_pod(pod: Object, options: KubernetesOptions) -> ForeignPod | None:
    """What a pod uses of its node; None for one of ours, one without a node, and one that is over."""
    labels, notes = pod["metadata"].get("labels") or {}, pod["metadata"].get("annotations") or {}
    node = (pod.get("spec") or {}).get("nodeName")
    if JOB_LABEL in labels or (OBJECT_LABEL in labels and RUN_NOTE in notes) or not node:
        return None
    if (pod.get("status") or {}).get("phase") in OVER:
        return None
    try:
        shape = shape_of(pod, options.gpu_resources, {})
    except WrongRequest:
        return None  # the API server lets no such pod in
    return ForeignPod(
        pod["metadata"]["uid"], node, Resources(shape.gpu_milli, shape.cpu_milli, shape.memory_mib)
    )


def _ready_condition(status: Object) -> Object:
    return next((one for one in status.get("conditions") or () if one.get("type") == "Ready"), {})


def _kept(labels: dict[str, str], options: KubernetesOptions) -> tuple[tuple[str, str], ...]:
    """The labels that jobs may ask for: the cluster's own, and `rack` and `zone` by our names."""
    found = dict(labels)
    for ours, theirs in (("rack", options.rack_label), ("zone", options.zone_label)):
        if labels.get(theirs):
            found[ours] = labels[theirs]
    return tuple(sorted(found.items()))


def _name_of(model: str) -> str:
    """A model as the name of a pool."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-._")[:63].strip("-._") or "default"


def _count(amounts: dict[str, Any], name: str) -> int:
    return _amount(amounts, name, milli) // WHOLE_GPU


def _amount(amounts: dict[str, Any], name: str, read: Any) -> int:
    try:
        return int(read(amounts.get(name, "0")))
    except ValueError:
        return 0
