"""Taking QuotaTree away: what it held goes on without it, and a cluster can be told apart from one that never had it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.kubernetes.api import Thing, condition
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.edge_server import EdgeServer
from tests.kubernetes.manifests import NAMESPACE, granted, hooks
from tests.kubernetes.processes import until

TEAM = "team-leaving"
JOBS = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
PODS = f"/api/v1/namespaces/{TEAM}/pods"
API = "/apis/quotatree.io/v1alpha1"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def left(cluster: Cluster, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster whose server is gone and has left everything: a tree, a Job that runs and one that waits."""
    granted(cluster)
    cluster.nodes.add(1, 8)
    api = cluster.api
    labels = {"quotatree.io/workspace": "leaving"}
    api.create("/api/v1/namespaces", {"metadata": {"name": TEAM, "labels": labels}})
    server = EdgeServer(tmp_path, cluster.kubeconfig)
    server.join(1)
    made = (
        ("Quota", "leaving", {"draws": {"default": {"gpus": 8}}}),
        ("Workspace", "leaving", {"quotas": [{"name": "leaving"}]}),
    )
    for kind, name, spec in made:
        thing = {
            "apiVersion": "quotatree.io/v1alpha1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(thing))
    until(lambda: condition(api.get(f"{API}/workspaces/leaving"), "Accepted") == "True", "it is accepted")
    api.create(JOBS, job("runs"))
    until(lambda: phases(cluster) == ["Running"], "one runs")
    api.create(JOBS, job("waits"))
    until(lambda: "schedulingGates" in api.get(f"{JOBS}/waits")["spec"]["template"]["spec"], "one waits")
    until(lambda: len(server.phases()) == 2, "both are queued")
    server.stop()
    yield cluster
    for plural in ("workspaces", "quotas"):
        if api.find(f"{API}/{plural}/leaving") is not None:
            api.merge(f"{API}/{plural}/leaving", {"metadata": {"finalizers": []}})
            api.delete(f"{API}/{plural}/leaving")


def job(name: str) -> Thing:
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    meta = {"name": name, "labels": {"quotatree.io/quota": "leaving"}}
    return {"metadata": meta, "spec": {"suspend": True, "template": {"spec": spec}}}


def phases(cluster: Cluster) -> list[str]:
    return [one["status"].get("phase", "") for one in cluster.api.items(PODS)]


def uninstall(kubeconfig: Path, *options: str) -> str:
    """What `quotatree uninstall` prints."""
    command = [sys.executable, "-m", "quotatree", "uninstall", "--kubeconfig", str(kubeconfig), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT, env={**os.environ})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def hook_account(cluster: Cluster) -> Iterator[Path]:
    """The account that helm makes for the moment of the uninstallation, with its rights."""
    made = [one for one in hooks(cluster) if one["kind"] != "Job"]
    text = yaml.safe_dump_all(made)
    if cluster.api.find(f"/api/v1/namespaces/{NAMESPACE}") is None:
        cluster.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    cluster.kubectl("apply", "-f", "-", input=text)
    yield cluster.kubeconfig_of_account(NAMESPACE, "quotatree-uninstall")
    cluster.kubectl("delete", "--ignore-not-found", "-f", "-", input=text)


def test_uninstall_takes_off_what_hangs_without_a_server(left: Cluster, hook_account: Path):
    api = left.api
    left.kubectl("delete", "workspace/leaving", "quota/leaving", "--wait=false")
    assert api.get(f"{API}/quotas/leaving")["metadata"]["deletionTimestamp"], "it hangs"
    said = uninstall(hook_account, "--dry-run")
    assert "quota leaving: take off our finalizer" in said
    assert f"job {TEAM}/waits" in said
    assert api.get(f"{API}/quotas/leaving")["metadata"]["finalizers"] == ["quotatree.io/quotatree"]
    # The policies are deleted with the release, before its hook.
    release = [
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicybindings",
    ]
    left.kubectl("delete", ",".join(release), "-l", "app.kubernetes.io/name=quotatree")
    said = uninstall(hook_account, "--yes")
    assert f"job {TEAM}/runs: its template keeps the gate" in said
    assert "objects changed" in said
    until(lambda: api.find(f"{API}/quotas/leaving") is None, "the quota goes")
    assert api.find(f"{API}/workspaces/leaving") is None
    assert phases(left) == ["Running"], "what runs goes on"
    assert ours(api.get(f"{JOBS}/waits")) == ours(api.get(f"{JOBS}/runs")) == set()
    assert "nothing of QuotaTree" in uninstall(hook_account, "--yes")
    left.kubectl("delete", "job", "runs", "-n", TEAM)
    left.kubectl("patch", "job", "waits", "-n", TEAM, "--type", "merge", "-p", '{"spec":{"suspend":false}}')
    until(lambda: phases(left) == ["Running"], "and what waited runs when it is resumed")
    granted(left)


def ours(thing: Thing) -> set[str]:
    return {name for name in thing["metadata"].get("annotations") or {} if name.startswith("quotatree.io/")}


def test_the_definitions_are_brought_up_to_date_by_apply(cluster: Cluster):
    """Helm does not upgrade crds/: an older definition takes the new schema, and keeps its objects."""
    granted(cluster)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/quotas.quotatree.io"
    old = cluster.api.get(path)["spec"]["versions"]
    spec = old[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["idleLimit"]
    cluster.api.merge(path, {"spec": {"versions": old}})
    printed = subprocess.run([sys.executable, "-m", "quotatree", "crds"], capture_output=True, text=True, check=True, cwd=ROOT)  # fmt: skip
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=printed.stdout)
    (now,) = cluster.api.get(path)["spec"]["versions"]
    assert "idleLimit" in now["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
