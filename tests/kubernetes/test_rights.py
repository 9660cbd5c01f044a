"""The chart's role is exactly sufficient: a server that does everything it can do is refused nothing, and uses every right it has."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quotatree.client.errors import ClientError
from tests.kubernetes.api import Thing, condition
from tests.kubernetes.cluster import Asked, Cluster
from tests.kubernetes.manifests import NAMESPACE
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, Story

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:quotatree"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/quotatree"

# Rights that this story does not come to use, and where they are used.
ELSEWHERE = {
    ("", "pods", "get"): "a rolling restart of a service, and a pod of the same name that is not gone yet",
}
TEAM = "made-with-kubectl"
JOBS = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
RESOURCES = "/apis/quotatree.io/v1alpha1"


def test_a_server_that_does_everything_is_refused_nothing_and_uses_all_its_rights(
    cluster: Cluster, story: Callable[..., Story]
):
    before = len(
        cluster.asked_by(ACCOUNT)
    )  # an API server that was just restarted refuses for a moment what it allows
    told = story(nodes=2, environment={"QUOTATREE_KUBERNETES_LOGIN": "name"})
    told.tree(8, {"a": 4, "b": 4}, child_level={"priorities": "1-3"})
    training = told.submit("train", "a", 2, replicas=2, program={"image": IMAGE, "secrets": {"KEY": "x"}})
    notebook = told.submit(
        "notebook", "b", 1, module="DSW", program={"image": IMAGE, "storage": "1Gi"}, priority=2
    )
    service = told.submit("service", "b", 1, module="EAS")
    told.runs(training)
    told.runs(service)
    client = told.server.client
    until(lambda: "hello" in "".join(map(str, client.jobs.logs(training))), "its output can be read")
    until(lambda: client.jobs.endpoint(service)["address"], "the service has an address")
    until(lambda: client.jobs.endpoint(notebook)["address"], "the notebook too")
    for job in (training, notebook, service):
        client.jobs.cancel(job)
        told.becomes(job, "Cancelled")
    until(lambda: not told.pods(training), "its pods are gone")
    with pytest.raises(ClientError):
        client.logins.by_cluster("nobody's")
    declares_a_tree(told)
    makes_jobs_with_kubectl(told)
    asked = told.cluster.asked_by(ACCOUNT)[before:]
    refused = {right(one) for one in asked if one.status == 403}
    assert refused == set()
    assert granted(told) - used(told) - set(ELSEWHERE) == set(), "a right that nobody uses"
    assert not {one for one in ELSEWHERE if one not in granted(told)}, "no longer granted"


def declares_a_tree(told: Story) -> None:
    """A second tree, as resources; its figures come back as their status, and deleting it is held up until it is unused."""
    api = told.cluster.api
    draws = {told.pool(): {"gpus": 8}}
    api.create(f"{RESOURCES}/quotas", resource("Quota", "declared", {"draws": draws}))
    api.create(f"{RESOURCES}/workspaces", resource("Workspace", "robots", {"quotas": [{"name": "declared"}]}))
    for path in ("quotas/declared", "workspaces/robots"):
        until(
            lambda path=path: condition(api.get(f"{RESOURCES}/{path}"), "Accepted") == "True",  # type: ignore[misc]
            f"{path} is accepted",
        )


def resource(kind: str, name: str, spec: Thing) -> Thing:
    return {"apiVersion": "quotatree.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def makes_jobs_with_kubectl(told: Story) -> None:
    """One that runs, one that waits and is told why, one that is resumed behind our back."""
    api = told.cluster.api
    api.create(
        "/api/v1/namespaces", {"metadata": {"name": TEAM, "labels": {"quotatree.io/workspace": "robots"}}}
    )
    api.create(JOBS, native_job("first", 8))
    until(
        lambda: [pod for pod in pods_of(told, "first") if pod["status"].get("phase") == "Running"], "it runs"
    )
    api.create(JOBS, native_job("second", 8))
    until(lambda: {"Queued", "Waiting"} <= set(reasons_of(told, "second")), "the other says why it waits")
    for _ in range(2):  # the second time the same event is counted up
        api.merge(f"{JOBS}/second", {"spec": {"suspend": False}})
        until(lambda: api.get(f"{JOBS}/second")["spec"]["suspend"] is True, "it is suspended again")
    api.delete(f"{JOBS}/second", propagationPolicy="Background")
    for pod in pods_of(told, "first"):
        told.play(pod, end="now")
    until(lambda: condition(api.get(f"{JOBS}/first"), "Complete") == "True", "the first ends")
    until(lambda: "Ended" in reasons_of(told, "first"), "and is told so")
    for path in ("workspaces/robots", "quotas/declared"):
        api.delete(f"{RESOURCES}/{path}")
    until(lambda: api.find(f"{RESOURCES}/quotas/declared") is None, "the tree goes once nothing uses it")


def native_job(name: str, gpus: int) -> Thing:
    limits = {"nvidia.com/gpu": gpus}
    container = {"name": "main", "image": IMAGE, "resources": {"limits": limits}}
    return {
        "metadata": {"name": name, "labels": {"quotatree.io/quota": "declared"}},
        "spec": {
            "suspend": True,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 1,
                    "containers": [container],
                }
            },
        },
    }


def pods_of(told: Story, job: str) -> list[Thing]:
    return told.cluster.api.items(f"/api/v1/namespaces/{TEAM}/pods", labelSelector=f"job-name={job}")


def reasons_of(told: Story, job: str) -> list[str]:
    path = f"/api/v1/namespaces/{TEAM}/events"
    found = told.cluster.api.items(path, fieldSelector=f"involvedObject.name={job}")
    return [one["reason"] for one in found if one.get("source", {}).get("component") == "quotatree"]


def used(told: Story) -> set[tuple[str, str, str]]:
    return {right(one) for one in told.cluster.asked_by(ACCOUNT) if one.status < 400}


def granted(told: Story) -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb)
        for rule in told.cluster.api.get(ROLE)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def right(asked: Asked) -> tuple[str, str, str]:
    return (asked.group, asked.resource, asked.verb)
