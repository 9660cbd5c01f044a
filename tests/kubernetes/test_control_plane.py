"""Does the cluster of the tests behave as a real one does, where stories lean on it?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kubernetes.api import Api, Denied, Thing, condition
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.processes import until

PODS = "/api/v1/namespaces/default/pods"


def pod(name: str, gpus: int = 1, *, grace: int = 30, annotations: dict[str, str] | None = None) -> Thing:
    limits = {"nvidia.com/gpu": str(gpus)}
    container = {"name": "main", "image": "none", "resources": {"limits": limits}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {
            "containers": [container],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": grace,
        },
    }


@pytest.fixture
def submit(cluster: Cluster):
    """Makes a pod and returns it when it runs."""

    def make(name: str, gpus: int = 1, **more: object) -> Thing:
        cluster.api.create(PODS, pod(name, gpus, **more))  # type: ignore[arg-type]
        until(lambda: phase(cluster, name) == "Running", f"{name} runs")
        return cluster.api.get(f"{PODS}/{name}")

    return make


def phase(cluster: Cluster, name: str) -> str | None:
    found = cluster.api.find(f"{PODS}/{name}")
    return None if found is None else found["status"].get("phase")


def test_a_pod_is_bound_and_runs_and_one_too_many_waits(cluster: Cluster, submit):
    cluster.nodes.add(1, 8)
    first = submit("first", 8)
    assert first["spec"]["nodeName"] == "node-0"
    cluster.api.create(PODS, pod("second", 1))
    until(lambda: condition(cluster.api.get(f"{PODS}/second"), "PodScheduled") == "False", "it is refused")
    cluster.api.delete(f"{PODS}/first", gracePeriodSeconds=0)
    until(lambda: phase(cluster, "second") == "Running", "second runs")


def test_a_pod_told_to_go_stays_for_its_grace_unless_it_leaves_earlier(cluster: Cluster, submit):
    cluster.nodes.add(1, 8)
    submit("deaf", grace=3600)
    submit("willing", grace=3600, annotations={"play.quotatree.io/leaves-after": "0s"})
    submit("short", grace=1)
    for name in ("deaf", "willing", "short"):
        cluster.api.delete(f"{PODS}/{name}")
    until(lambda: phase(cluster, "willing") is None, "the willing one left")
    until(lambda: phase(cluster, "short") is None, "the grace of the other was over")
    assert phase(cluster, "deaf") == "Running"


def test_a_stuck_pod_never_goes(cluster: Cluster, submit):
    cluster.nodes.add(1, 8)
    submit("stuck", grace=1, annotations={"play.quotatree.io/stuck": "true"})
    submit("other", grace=1)
    cluster.api.delete(f"{PODS}/stuck")
    cluster.api.delete(f"{PODS}/other")
    until(lambda: phase(cluster, "other") is None, "the other is gone")
    assert phase(cluster, "stuck") == "Running"
    cluster.api.merge(f"{PODS}/stuck", {"metadata": {"annotations": {"play.quotatree.io/stuck": None}}})
    until(lambda: phase(cluster, "stuck") is None, "it goes when it may")


@pytest.mark.parametrize(("code", "end"), [("0", "Succeeded"), ("3", "Failed")])
def test_a_pod_ends_when_its_annotation_says_so(cluster: Cluster, submit, code: str, end: str):
    cluster.nodes.add(1, 8)
    submit("one", annotations={"play.quotatree.io/exit-code": code})
    cluster.api.merge(f"{PODS}/one", {"metadata": {"annotations": {"play.quotatree.io/end": "now"}}})
    until(lambda: phase(cluster, "one") == end, f"it {end}")
    state = cluster.api.get(f"{PODS}/one")["status"]["containerStatuses"][0]["state"]
    assert state["terminated"]["exitCode"] == int(code)


def test_a_pod_is_ready_only_when_it_may_be(cluster: Cluster, submit):
    cluster.nodes.add(1, 8)
    submit("one", annotations={"play.quotatree.io/ready": "false"})
    assert condition(cluster.api.get(f"{PODS}/one"), "Ready") == "False"
    cluster.api.merge(f"{PODS}/one", {"metadata": {"annotations": {"play.quotatree.io/ready": None}}})
    until(lambda: condition(cluster.api.get(f"{PODS}/one"), "Ready") == "True", "it is ready")
    cluster.api.merge(f"{PODS}/one", {"metadata": {"annotations": {"play.quotatree.io/ready": "false"}}})
    until(lambda: condition(cluster.api.get(f"{PODS}/one"), "Ready") == "False", "it is ill again")


def test_the_logs_of_a_pod_come_through_the_api_server(cluster: Cluster, submit):
    cluster.nodes.add(1, 8)
    submit("one")
    assert "hello from a pod" in cluster.kubectl("logs", "one")


def test_a_suspended_job_has_no_pods_and_ends_when_they_do(cluster: Cluster):
    cluster.nodes.add(1, 8)
    template = pod("", 1, annotations={"play.quotatree.io/runs-for": "0s"})
    body = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job"},
        "spec": {
            "suspend": True,
            "template": {"metadata": {"annotations": template["metadata"]["annotations"]}, "spec": template["spec"]},
        },
    }  # fmt: skip
    path = "/apis/batch/v1/namespaces/default/jobs"
    cluster.api.create(path, body)
    until(lambda: condition(cluster.api.get(f"{path}/job"), "Suspended") == "True", "it is suspended")
    assert cluster.api.items(PODS) == []
    cluster.api.merge(f"{path}/job", {"spec": {"suspend": False}})
    until(lambda: condition(cluster.api.get(f"{path}/job"), "Complete") == "True", "it is complete")


def test_a_lost_node_is_not_ready_and_the_others_stay_ready(cluster: Cluster):
    cluster.nodes.add(3, 8)
    cluster.nodes.lose("node-1")
    assert sorted(cluster.nodes.ready()) == ["node-0", "node-2"]
    cluster.nodes.bring_back("node-1")
    assert len(cluster.nodes.ready()) == 3


def test_what_was_written_outlives_a_killed_etcd_and_a_killed_api_server(cluster: Cluster, submit):
    cluster.nodes.add(1, 8)
    submit("one")
    cluster.restart("kube-apiserver")
    cluster.restart("etcd")
    assert phase(cluster, "one") == "Running"
    cluster.api.delete(f"{PODS}/one", gracePeriodSeconds=1)
    until(lambda: phase(cluster, "one") is None, "kwok found its way back")


def test_somebody_without_rights_has_none(cluster: Cluster):
    stranger = Api(cluster.kubeconfig_of("stranger"))
    with pytest.raises(Denied, match="403"):
        stranger.items(PODS)
    stranger.close()
    account = Api(cluster.kubeconfig_of_account("default", "default"))
    with pytest.raises(Denied, match="403"):
        account.items(PODS)
    account.close()


def test_no_process_is_left_when_the_one_that_started_a_cluster_is_killed():
    command = [sys.executable, "-m", "tests.kubernetes.scratch", "--nodes", "1"]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root
    ) as scratch:
        assert scratch.stdout is not None
        home = Path(scratch.stdout.readline().partition("=")[2].strip()).parent
        assert (home / "etcd").is_dir()
        assert len(processes_of(home)) == 5
        os.kill(scratch.pid, signal.SIGKILL)
    until(lambda: not processes_of(home), "all parts are gone")
    shutil.rmtree(home)


def processes_of(home: Path) -> list[str]:
    """Running processes that work in this folder; a zombie does not."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == home:
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
