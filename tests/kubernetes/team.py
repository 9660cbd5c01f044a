"""A team with a namespace, a quota and Jobs made with kubectl: the words in which its stories are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from quotatree.control.commands import values as do
from quotatree.control.world import SYSTEM
from quotatree.core import Bounds, ChildLevel, Module, Priorities, QuotaId, QuotaSpec
from tests.kubernetes.api import Thing
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.edge_server import EdgeServer
from tests.kubernetes.processes import until

TEAM = "team-vision"
QUOTA = "quotatree.io/quota"
JOBS = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
PODS = f"/api/v1/namespaces/{TEAM}/pods"


@contextmanager
def team(cluster: Cluster, home: Path, **more: Any) -> Iterator[EdgeServer]:
    """Four nodes; company 32 GPUs over vision with 16, which takes 8 jobs below; namespace team-vision is vision's."""
    cluster.nodes.add(4, gpus=8)
    cluster.kubectl(
        "apply", "-f", str(Path(__file__).resolve().parents[2] / "src/quotatree/kubernetes_edge/crds")
    )
    cluster.api.create(
        "/api/v1/namespaces", {"metadata": {"name": TEAM, "labels": {"quotatree.io/workspace": "vision"}}}
    )
    made = EdgeServer(home, cluster.kubeconfig, **more)
    made.join(4)
    root = QuotaSpec(
        QuotaId("company"),
        None,
        draws=(("default", Bounds(32_000)),),
        child_level=ChildLevel(Priorities(1, 9), frozenset(Module)),
    )
    made.do(do.CreateQuota(actor=SYSTEM, spec=root))
    made.do(
        do.CreateQuota(actor=SYSTEM, spec=QuotaSpec(QuotaId("vision"), QuotaId("company"), Bounds(32_000)))
    )
    made.do(do.CreateWorkspace(actor=SYSTEM, workspace="vision"))
    made.do(do.BindQuota(actor=SYSTEM, workspace="vision", quota="vision"))
    try:
        yield made
    finally:
        made.stop()


def submit(
    cluster: Cluster,
    name: str,
    *,
    gpus: int = 8,
    pods: int = 1,
    quota: str = "vision",
    priority: str = "3",
    spec: Thing | None = None,
    affinity: Thing | None = None,
    **play: str,
) -> None:
    """Apply a suspended Job; `spec` adds to its specification, `affinity` to that of its pods, `play` says what these do."""
    annotations = {
        f"play.quotatree.io/{key.replace('_', '-')}": value
        for key, value in {"leaves_after": "1s", **play}.items()
    }
    thing = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": TEAM,
            "labels": {QUOTA: quota, "quotatree.io/priority": priority},
        },
        "spec": {
            "suspend": True,
            "parallelism": pods,
            "completions": pods,
            **(spec or {}),
            "template": {
                "metadata": {"annotations": annotations},
                "spec": {
                    "affinity": affinity or {},
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 5,
                    "containers": [
                        {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
                    ],
                },
            },
        },
    }
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(thing))


def job(cluster: Cluster, name: str) -> Thing:
    return cluster.api.get(f"{JOBS}/{name}")


def patch(cluster: Cluster, name: str, body: Thing) -> None:
    """Change a Job as its owner may."""
    cluster.api.merge(f"{JOBS}/{name}", body)


def alive(cluster: Cluster) -> list[Thing]:
    """Pods of the team that may hold devices: those with a node that are not over."""
    return [
        one
        for one in cluster.api.items(PODS)
        if one["spec"].get("nodeName") and one["status"].get("phase") not in ("Succeeded", "Failed")
    ]


def pods(cluster: Cluster, name: str = "") -> list[Thing]:
    found = cluster.api.items(PODS)
    return [one for one in found if not name or one["metadata"].get("labels", {}).get("job-name") == name]


def runs(cluster: Cluster, name: str, count: int = 1) -> list[str]:
    """Wait until so many pods of the Job run; return their nodes, sorted."""

    def nodes() -> list[str]:
        return sorted(
            one["spec"]["nodeName"] for one in pods(cluster, name) if one["status"].get("phase") == "Running"
        )

    until(lambda: len(nodes()) == count, f"{count} pods of {name} run")
    return nodes()


def told(cluster: Cluster, name: str) -> dict[str, str]:
    """What we told on the Job: the last text of each reason."""
    found = cluster.api.items(
        f"/api/v1/namespaces/{TEAM}/events", fieldSelector=f"involvedObject.name={name}"
    )
    ours = [one for one in found if one.get("source", {}).get("component") == "quotatree"]
    return {one["reason"]: one["message"] for one in ours}


def tells(cluster: Cluster, name: str, reason: str, text: str = "") -> None:
    until(
        lambda: (
            text in told(cluster, name).get(reason, "" if text else "nothing")
            and reason in told(cluster, name)
        ),
        f"{name}: {reason}",
    )
