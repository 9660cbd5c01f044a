"""Two teams that must not see each other: in the API, in the cluster, by labels that lie and by pods that are forged (W1, W2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from quotatree.client import Client
from quotatree.client.errors import ClientError
from tests.kubernetes.api import Api, Denied, Thing
from tests.kubernetes.manifests import without_admission
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, Story

VISION, SPEECH = "quotatree-vision", "quotatree-speech"


class Teams(NamedTuple):
    """Ann of vision may do in her namespace what she likes; `hidden` is a job of speech."""

    told: Story
    ann: Client
    cluster_of_ann: Api
    seen: str
    hidden: str


@pytest.fixture
def teams(story: Callable[..., Story]) -> Iterator[Teams]:
    told = story(nodes=2)
    told.tree(16, {"a": 8, "b": 8})
    client = told.server.client
    for team, quota, user in (("vision", "a", "ann"), ("speech", "b", "bob")):
        told.workspace(team, [quota])
        client.users.create({"name": user, "password": f"a long secret of {user}"})
        client.workspaces.add_member(team, user, "developer")
    secret = {"image": IMAGE, "secrets": {"KEY": "of-speech"}}
    seen = told.submit("seen", "a", 1, workspace="vision")
    hidden = told.submit("hidden", "b", 1, workspace="speech", program=secret)
    for job in (seen, hidden):
        told.runs(job)
    config = told.cluster.kubeconfig_of("ann")
    binding = {
        "metadata": {"name": "ann"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{VISION}/rolebindings"
    told.cluster.api.create(path, binding)
    with Client(told.server.url) as nobody:
        token = nobody.logins.by_password("ann", "a long secret of ann", {"name": "t", "lasts": "1d"})
    api = Api(Path(config))
    with Client(told.server.url, token["token"]) as ann:
        yield Teams(told, ann, api, seen, hidden)
    api.close()


def test_each_team_has_a_namespace_and_reads_nothing_of_the_other(teams: Teams):
    told, ann, api = teams.told, teams.ann, teams.cluster_of_ann
    assert [pod["metadata"]["namespace"] for pod in told.pods(teams.seen)] == [VISION]
    assert [pod["metadata"]["namespace"] for pod in told.pods(teams.hidden)] == [SPEECH]
    assert [job["id"] for job in ann.jobs.list()] == [teams.seen]
    for ask in (ann.jobs.get, ann.jobs.runs, ann.jobs.cancel, lambda job: list(ann.jobs.logs(job))):
        with pytest.raises(ClientError):
            ask(teams.hidden)
    assert teams.hidden not in str(list(ann.events.list()))
    assert api.items(f"/api/v1/namespaces/{VISION}/pods") != []
    for kind in ("pods", "secrets", "services", "events"):
        with pytest.raises(Denied):
            api.items(f"/api/v1/namespaces/{SPEECH}/{kind}")
    with pytest.raises(ClientError):
        ann.jobs.submit({"name": "x", "workspace": "vision", "quota": "b", "groups": [{"gpus": 1}], "program": {"image": IMAGE}})  # fmt: skip


def test_a_job_of_kubectl_uses_neither_the_quota_nor_the_workspace_of_others(teams: Teams):
    api = teams.cluster_of_ann
    jobs = f"/apis/batch/v1/namespaces/{VISION}/jobs"
    api.create(jobs, native_job("greedy", {"quotatree.io/quota": "b"}))
    api.create(jobs, native_job("liar", {"quotatree.io/quota": "a", "quotatree.io/workspace": "speech"}))
    for name, why in (("greedy", "W1"), ("liar", "W1")):
        until(lambda name=name, why=why: why in refusals(api, name), f"{name} is told")  # type: ignore[misc]
        assert api.get(f"{jobs}/{name}")["spec"]["suspend"] is True
        assert teams.hidden not in refusals(api, name)
    assert len(list(teams.told.server.client.jobs.list())) == 2


def test_a_pod_that_is_forged_in_one_namespace_changes_nothing_in_the_other(teams: Teams):
    """Ann has come to know the id of Bob's job. The chart's policy lets only QuotaTree make a pod that says it is its replica."""
    told, api = teams.told, teams.cluster_of_ann
    (real,) = told.pods(teams.hidden)
    name = real["metadata"]["name"]
    forged = {
        "metadata": {"name": name, "labels": real["metadata"]["labels"]},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": IMAGE}]},
    }
    until(lambda: is_denied(api, forged), "nobody else may")
    path = f"/api/v1/namespaces/{VISION}/pods/{name}"
    with without_admission(told.cluster, "quotatree-pods"):
        until(lambda: not is_denied(api, forged), "the policy is not in force")
        api.create(f"/api/v1/namespaces/{VISION}/pods", forged)
    until(lambda: api.get(path)["status"].get("phase") == "Running", "it runs")
    api.merge(path, {"metadata": {"annotations": {"play.quotatree.io/end": "now"}}})
    until(lambda: api.get(path)["status"].get("phase") == "Succeeded", "it ends")
    later = told.submit("later", "a", 1, workspace="vision")
    told.runs(later)  # by then the server has seen the other too
    assert told.phase(teams.hidden) == "Running"
    told.server.client.jobs.cancel(teams.hidden)
    told.becomes(teams.hidden, "Cancelled")
    until(lambda: told.cluster.api.find(told.path(real)) is None, "the real one goes when it is told to")
    assert api.find(path) is not None, "and what is not ours stays"


def is_denied(api: Api, pod: Thing) -> bool:
    """Whether the pod is refused; one that was let in, because the policy is not in force yet, is taken away again."""
    path = f"/api/v1/namespaces/{VISION}/pods"
    try:
        api.create(path, {**pod, "metadata": {**pod["metadata"], "name": "forged"}})
    except Denied as denied:
        return "quotatree.io/job" in str(denied)
    until(lambda: is_deleted(api, f"{path}/forged"), "it is taken away")
    return False


def is_deleted(api: Api, path: str) -> bool:
    """Whether the pod could be deleted: while it gets its node the API server makes 0 of any grace, which the policy refuses."""
    try:
        api.delete(path, gracePeriodSeconds=1)
    except Denied as denied:
        if "gracePeriodSeconds: 0" not in str(denied):
            raise
        return False
    return True


def refusals(api: Api, job: str) -> str:
    found = api.items(f"/api/v1/namespaces/{VISION}/events", fieldSelector=f"involvedObject.name={job}")
    return " ".join(one["message"] for one in found if one["reason"] == "Refused")


def native_job(name: str, labels: dict[str, str]) -> Thing:
    container = {"name": "main", "image": IMAGE, "resources": {"limits": {"nvidia.com/gpu": 1}}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"suspend": True, "template": {"spec": spec}},
    }
