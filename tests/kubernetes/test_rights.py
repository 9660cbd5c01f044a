"""The chart's role is exactly sufficient: a server that does everything it can do is refused nothing, and uses every right it has."""

from __future__ import annotations

from collections.abc import Callable

from tests.kubernetes.api import Thing, condition
from tests.kubernetes.cluster import Asked
from tests.kubernetes.manifests import NAMESPACE
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, Story

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:quotatree"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/quotatree"
JOBS = "/apis/batch/v1/namespaces/quotatree-team/jobs"

# The chart makes the PriorityClass; a server without it tries to, and may not.
REFUSED = {("scheduling.k8s.io", "priorityclasses", "create")}
# Rights that this story does not come to use, and why they are there.
ELSEWHERE = {
    ("authentication.k8s.io", "tokenreviews", "create"): "kubectl quotatree, whose tests are beside its code",
    ("", "pods", "get"): "a rolling restart of a service, and a pod of the same name that is not gone yet",
    ("quotatree.io", "quotas", "patch"): "the finalizer of a resource",
    ("quotatree.io", "workspaces", "patch"): "the finalizer of a resource",
    ("quotatree.io", "quotas/status", "patch"): "the figures of a resource",
    ("quotatree.io", "workspaces/status", "patch"): "the figures of a resource",
    ("", "events", "get"): "an event that is told a second time",
    ("", "events", "patch"): "an event that is told a second time",
}


def test_a_server_that_does_everything_is_refused_nothing_and_uses_all_its_rights(
    story: Callable[..., Story],
):
    told = story(nodes=2)
    told.tree(16, {"a": 8, "b": 8}, child_level={"priorities": "1-3"})
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
    told.cluster.api.create(JOBS, native())
    until(
        lambda: condition(told.cluster.api.get(f"{JOBS}/native"), "Suspended") == "False",
        "the Job was resumed",
    )
    for job in (training, notebook, service):
        client.jobs.cancel(job)
        told.becomes(job, "Cancelled")
    until(lambda: not told.pods(training), "its pods are gone")
    asked = told.cluster.asked_by(ACCOUNT)
    refused = {right(one) for one in asked if one.status == 403}
    assert refused <= REFUSED
    until(lambda: granted(told) - used(told) <= set(ELSEWHERE), "every right was used")
    assert not {one for one in ELSEWHERE if one not in granted(told)}, "no longer granted"


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


def native() -> Thing:
    labels = {"quotatree.io/quota": "a", "quotatree.io/workspace": "team"}
    limits = {"nvidia.com/gpu": "1"}
    container = {"name": "main", "image": IMAGE, "resources": {"limits": limits}}
    return {
        "metadata": {"name": "native", "labels": labels},
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
