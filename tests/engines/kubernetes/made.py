"""Orders and objects of a cluster, as short as a test wants them."""

from __future__ import annotations

from typing import Any

from quotatree.core import JobId, Module, Shape
from quotatree.engines.base import Owner, ReplicaOrder, StartOrder


def order(
    module: Module = Module.DLC,
    replicas: int = 1,
    gpus: int = 2,
    program: dict[str, Any] | None = None,
    **more: Any,
) -> StartOrder:
    shape = Shape(gpus * 1000, 4000, 8192)
    return StartOrder(
        job=JobId("dlc-abc"),
        run=3,
        module=module,
        replicas=tuple(ReplicaOrder(n, f"node-{n}", tuple(range(gpus)), shape) for n in range(replicas)),
        program=program or {"image": "train:1"},
        grace_ms=more.pop("grace_ms", 5_500),
        workspace="vision",
        owner=Owner(quota="root", user="ann", name="nightly", priority=7, replicas=replicas),
    )


def pod(
    replica: int = 0, phase: str = "Running", *, run: int = 1, core: int = 1, module: str = "DLC", uid: str = "",
    status: dict[str, Any] | None = None, meta: dict[str, Any] | None = None, spec: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A pod of ours as the API shows it."""
    return {
        "metadata": {
            "name": f"dlc-abc-{run}-{replica}",
            "namespace": "quotatree-vision",
            "uid": uid or f"uid-{run}-{replica}",
            "creationTimestamp": "2026-11-17T10:00:00Z",
            "labels": {
                "quotatree.io/job": "dlc-abc",
                "quotatree.io/run": str(run),
                "quotatree.io/replica": str(replica),
                "quotatree.io/core-replicas": str(core),
                "quotatree.io/module": module,
            },
            **(meta or {}),
        },
        "spec": {"nodeName": "node-0"} if spec is None else spec,
        "status": {"phase": phase, **(status or {})},
    }
