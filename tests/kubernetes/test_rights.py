"""The chart's role is exactly sufficient: a server that does everything it can do is refused nothing, and uses every right it has."""

from __future__ import annotations

from collections.abc import Callable

from tests.kubernetes.cluster import Asked
from tests.kubernetes.manifests import NAMESPACE
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, Story

ACCOUNT = f"system:serviceaccount:{NAMESPACE}:quotatree"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/quotatree"

NATIVE = "test_native_jobs.py and test_resources.py"
# The chart makes the PriorityClass; a server without it tries to, and may not.
REFUSED = {("scheduling.k8s.io", "priorityclasses", "create")}
# Rights that this story does not come to use, and where they are used.
ELSEWHERE = {
    ("", "pods", "get"): "a rolling restart of a service, and a pod of the same name that is not gone yet",
    ("", "pods", "patch"): "the label of the pod that leads; pods of Jobs, which get their node",
    ("", "namespaces", "list"): NATIVE,
    ("", "namespaces", "watch"): NATIVE,
    ("", "events", "get"): NATIVE,
    ("", "events", "create"): NATIVE,
    ("", "events", "patch"): NATIVE,
    ("batch", "jobs", "list"): NATIVE,
    ("batch", "jobs", "watch"): NATIVE,
    ("batch", "jobs", "patch"): NATIVE,
    **{
        ("quotatree.io", kind, verb): NATIVE
        for kind in ("quotas", "workspaces")
        for verb in ("list", "watch", "patch")
    },
    **{("quotatree.io", f"{kind}/status", "patch"): NATIVE for kind in ("quotas", "workspaces")},
    ("authentication.k8s.io", "tokenreviews", "create"): "kubectl quotatree",
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
    until(lambda: client.jobs.endpoint(notebook)["address"], "the notebook too")
    for job in (training, notebook, service):
        client.jobs.cancel(job)
        told.becomes(job, "Cancelled")
    until(lambda: not told.pods(training), "its pods are gone")
    asked = told.cluster.asked_by(ACCOUNT)
    refused = {right(one) for one in asked if one.status == 403}
    assert refused <= REFUSED
    assert granted(told) - used(told) - set(ELSEWHERE) == set(), "a right that nobody uses"
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
