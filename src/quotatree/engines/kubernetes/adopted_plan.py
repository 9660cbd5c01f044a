"""Does an adopted object ask for what was planned, and each of its pods too? What differs is not released. Pure.

An object says at submit what it asks for: GPUs, CPU, memory and node labels of each replica go into the plan, and all the rest
that decides where pods fit goes into a digest, which stands in the program of the job. A pod is compared with its replica by
itself, since others than the object's controller can make pods.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from quotatree.core import WHOLE_GPU, Shape
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable, Template
from quotatree.engines.kubernetes.kinds import Object
from quotatree.engines.kubernetes.pod_request import WrongRequest, shape_of

REQUEST: Final = "request"
"""Field of the program of an adopted object: the digest of what it asked for when it was planned."""
_OF_POD: Final = (
    "nodeName", "nodeSelector", "affinity", "tolerations", "resourceClaims", "resources", "overhead", "schedulerName",
    "runtimeClassName", "priorityClassName", "topologySpreadConstraints", "hostNetwork",
)  # fmt: skip
_OF_CONTAINER: Final = ("resources", "restartPolicy")


def request_of(sort: Adoptable, thing: Object) -> str:
    """A digest of all that decides which devices and nodes the pods of the object take."""
    said = [[one.pods, _asks(one)] for one in adopted.templates(sort, thing)]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


def _asks(one: Template) -> dict[str, Any]:
    spec = one.template.get("spec") or {}
    found = {name: spec[name] for name in _OF_POD if spec.get(name)}
    for name in ("containers", "initContainers"):
        found[name] = [
            {field: container[field] for field in _OF_CONTAINER if container.get(field)}
            for container in spec.get(name) or ()
        ]
    return found


def shape_asked(template: Object, gpu_names: Iterable[str]) -> Shape | None:
    """What a pod of this template asks for, or a pod; None if it cannot be counted."""
    spec = template.get("spec") or {}
    if spec.get("resourceClaims"):
        return None
    try:
        return shape_of(template, gpu_names, spec.get("nodeSelector") or {})
    except WrongRequest:
        return None


def object_differs(
    sort: Adoptable, thing: Object, planned: Sequence[Shape], request: str, gpu_names: Iterable[str]
) -> str:
    """In which way the object asks for something else than was planned; "" if it does not."""
    shapes = [
        shape_asked(one.template, tuple(gpu_names))
        for one in adopted.templates(sort, thing)
        for _ in range(one.pods)
    ]
    if len(shapes) != len(planned):
        return f"it asks for {len(shapes)} pods now, not {len(planned)}"
    for shape, wanted in zip(shapes, planned, strict=True):
        if why := shape_differs(shape, wanted):
            return why
    if request and request != request_of(sort, thing):
        return "the resources of its containers, or the rules for its nodes, are others than those that were planned"
    return ""


def shape_differs(asked: Shape | None, planned: Shape) -> str:
    """In which way a pod asks for something else than its replica; "" if it does not.

    Where no CPU or memory was asked for, whatever the cluster gives by default is let pass.
    """
    if asked is None:
        return "it asks for devices that cannot be counted"
    if asked.gpu_milli != planned.gpu_milli:
        return f"a pod asks for {asked.gpu_milli // WHOLE_GPU} GPUs now, not {planned.gpu_milli // WHOLE_GPU}"
    if planned.cpu_milli and asked.cpu_milli != planned.cpu_milli:
        return f"a pod asks for {asked.cpu_milli / 1000:g} CPU now, not {planned.cpu_milli / 1000:g}"
    if planned.memory_mib and asked.memory_mib != planned.memory_mib:
        return f"a pod asks for {asked.memory_mib} MiB now, not {planned.memory_mib}"
    if not set(planned.labels) <= set(asked.labels):
        return "a pod asks for other labels of nodes"
    return ""
