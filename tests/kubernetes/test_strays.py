"""Pods with GPUs that no quota has, where admission is off: they are counted and told, and by a setting suspended or deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.control.commands import values as do
from quotatree.control.world import SYSTEM
from quotatree.core import Bounds, QuotaId, QuotaSpec
from quotatree.engines.kubernetes.options import SUSPEND, WARN
from tests.kubernetes.api import Thing, names
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.edge_server import EdgeServer
from tests.kubernetes.manifests import without_admission
from tests.kubernetes.processes import until

TEAM, OTHERS = "team-strays", "not-of-a-workspace"
LIMITS = {"nvidia.com/gpu": 2}
SPEC: Thing = {
    "restartPolicy": "Never",
    "terminationGracePeriodSeconds": 1,
    "containers": [{"name": "c", "image": "i", "resources": {"limits": LIMITS}}],
}


@pytest.fixture
def lenient(cluster: Cluster) -> Iterator[Cluster]:
    """A cluster without our policies, with a namespace of workspace vision and another one."""
    cluster.nodes.add(2, 8)
    with without_admission(cluster):
        for name, labels in ((TEAM, {"quotatree.io/workspace": "vision"}), (OTHERS, {})):
            cluster.api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
            path = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            until(lambda path=path: cluster.api.find(path), "the default account")  # type: ignore[misc]
        yield cluster


@pytest.fixture(params=[WARN, SUSPEND])
def server(request: pytest.FixtureRequest, lenient: Cluster, tmp_path: Path) -> Iterator[EdgeServer]:
    made = EdgeServer(tmp_path, lenient.kubeconfig, strays=request.param)
    made.join(2)
    made.do(do.CreateQuota(actor=SYSTEM, spec=QuotaSpec(QuotaId("company"), None, draws=(("default", Bounds(16_000)),))))  # fmt: skip
    made.do(do.CreateWorkspace(actor=SYSTEM, workspace="vision"))
    made.do(do.BindQuota(actor=SYSTEM, workspace="vision", quota="company"))
    yield made
    made.stop()


def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def job(name: str, **labels: str) -> Thing:
    meta = {"name": name, "labels": {f"quotatree.io/{key}": value for key, value in labels.items()}}
    return {"metadata": meta, "spec": {"suspend": bool(labels), "template": {"spec": SPEC}}}


def told(cluster: Cluster, name: str) -> str:
    found = cluster.api.items(
        f"/api/v1/namespaces/{TEAM}/events", fieldSelector=f"involvedObject.name={name},reason=NotQueued"
    )
    return " ".join(one["message"] for one in found)


def stray_gpus(server: EdgeServer) -> float:
    return server.controller.metrics.registry.get_sample_value("quotatree_stray_gpus") or 0.0


def runs(cluster: Cluster, namespace: str, count: int) -> None:
    def running() -> list[Thing]:
        return [one for one in cluster.api.items(pods(namespace)) if one["status"].get("phase") == "Running"]

    until(lambda: len(running()) == count, f"{count} pods run in {namespace}")


@pytest.mark.parametrize("server", [WARN], indirect=True)
def test_strays_are_counted_and_told_and_left_alone(lenient: Cluster, server: EdgeServer):
    """A plain pod, an unlabelled Job, a pod with a label that lies; a queued Job is none, nor is a pod of no workspace."""
    api = lenient.api
    jobs = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
    api.create(jobs, job("queued", quota="company"))
    runs(
        lenient, TEAM, 1
    )  # before the strays: one that came between its plan and its start would have its GPUs
    api.create(pods(TEAM), {"metadata": {"name": "plain"}, "spec": SPEC})
    forged = {"quotatree.io/job": "job-of-nobody", "quotatree.io/run": "1", "quotatree.io/replica": "0"}
    api.create(pods(TEAM), {"metadata": {"name": "forged", "labels": forged}, "spec": SPEC})
    api.create(pods(OTHERS), {"metadata": {"name": "elsewhere"}, "spec": SPEC})
    api.create(jobs, job("unlabelled"))
    runs(lenient, TEAM, 4)
    for name in ("plain", "forged", "unlabelled"):
        until(lambda name=name: "uses 2 GPUs" in told(lenient, name), f"{name} is told")  # type: ignore[misc]
    until(lambda: stray_gpus(server) == 6.0, "they are counted")
    assert told(lenient, "queued") == ""
    runs(lenient, TEAM, 4)
    assert api.get(f"{jobs}/unlabelled")["spec"]["suspend"] is False
    api.delete(f"{pods(TEAM)}/plain", gracePeriodSeconds=0)
    until(lambda: stray_gpus(server) == 4.0, "one less")


@pytest.mark.parametrize("server", [SUSPEND], indirect=True)
def test_strays_are_suspended_or_deleted_where_the_settings_say_so(lenient: Cluster, server: EdgeServer):
    api = lenient.api
    jobs = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
    api.create(pods(OTHERS), {"metadata": {"name": "elsewhere"}, "spec": SPEC})
    api.create(jobs, job("queued", quota="company"))
    runs(lenient, TEAM, 1)
    api.create(jobs, job("unlabelled"))
    api.create(pods(TEAM), {"metadata": {"name": "plain"}, "spec": SPEC})
    until(lambda: api.get(f"{jobs}/unlabelled")["spec"]["suspend"] is True, "the Job is suspended")
    until(lambda: api.find(f"{pods(TEAM)}/plain") is None, "the pod is deleted")
    until(lambda: stray_gpus(server) == 0.0, "none is left")
    runs(lenient, TEAM, 1)
    assert names(api.items(pods(OTHERS))) == ["elsewhere"]
