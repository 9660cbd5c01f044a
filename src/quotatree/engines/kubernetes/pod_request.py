"""What does one pod ask for of a node? By its template, counted as kube-scheduler counts it. Pure.

Containers run side by side, so their requests add up; those that come first run one after another, so the largest of them
counts; a first container that restarts always runs along with the rest. A request that is left out is its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from quotatree.core import WHOLE_GPU, Shape
from quotatree.engines.kubernetes.kinds import Object
from quotatree.engines.kubernetes.quantities import mib, milli

DEFAULT_GRACE_SECONDS: Final = 30


class WrongRequest(ValueError):
    """A pod asks for something that cannot be counted; the message says what."""


def shape_of(template: Object, gpu_names: Iterable[str], labels: Mapping[str, str]) -> Shape:
    """The shape of a pod of this template. `labels`: those of nodes that the cluster's scheduler will ask for.

    Raises WrongRequest for a quantity that cannot be read, and for GPUs of two kinds in one pod.
    """
    spec = template.get("spec") or {}
    asked = {name: _requested(spec, name, milli) for name in gpu_names}
    gpus = {name: amount for name, amount in asked.items() if amount}
    if len(gpus) > 1:
        raise WrongRequest(f"one pod asks for {' and '.join(sorted(gpus))}: one kind of GPU in a pod")
    return Shape(
        sum(gpus.values()),
        _requested(spec, "cpu", milli),
        _requested(spec, "memory", mib),
        labels=tuple(sorted(labels.items())),
    )


def asks_for_more(pod: Object, planned: Shape, gpu_names: Iterable[str]) -> str:
    """In which way a pod that we make asks for more than was counted for its job; "" if it does not (Q3)."""
    if (pod.get("spec") or {}).get("resourceClaims"):
        return "resourceClaims: claims of devices are not counted; ask for GPUs in the job"
    try:
        asked = shape_of(pod, gpu_names, {})
    except WrongRequest as wrong:
        return str(wrong)
    amounts = (
        (asked.gpu_milli, planned.gpu_milli, WHOLE_GPU, "GPUs"),
        (asked.cpu_milli, planned.cpu_milli, 1000, "CPU"),
        (asked.memory_mib, planned.memory_mib, 1, "MiB of memory"),
    )
    for has, counted, one, what in amounts:
        if has > counted:
            return (
                f"its containers ask for {has / one:g} {what}, and the job for {counted / one:g}: ask in the job "
                "for what all of them need; the first container gets what the others leave"
            )
    return ""


def grace_seconds(template: Object) -> int:
    """How long a pod of this template may take to end."""
    found = (template.get("spec") or {}).get("terminationGracePeriodSeconds")
    return found if isinstance(found, int) else DEFAULT_GRACE_SECONDS


def _requested(spec: Object, name: str, read: Callable[[object], int]) -> int:
    def of(container: Mapping[str, Any]) -> int:
        resources = container.get("resources") or {}
        said = (resources.get("requests") or {}).get(name, (resources.get("limits") or {}).get(name, "0"))
        return _read(said, name, read)

    beside = sum(of(one) for one in spec.get("containers") or ())
    first, along = 0, 0
    for one in spec.get("initContainers") or ():
        if one.get("restartPolicy") == "Always":
            along += of(one)
            first = max(first, along)
        else:
            first = max(first, along + of(one))
    total = max(beside + along, first)
    whole = spec.get("resources") or {}
    said = (whole.get("requests") or {}).get(name, None if total else (whole.get("limits") or {}).get(name))
    if said is not None:
        total = _read(said, name, read)
    return total + _read((spec.get("overhead") or {}).get(name, "0"), name, read)


def _read(said: object, name: str, read: Callable[[object], int]) -> int:
    try:
        return read(said)
    except ValueError as error:
        raise WrongRequest(f"{name}: {error}") from None
