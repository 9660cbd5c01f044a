"""Quotas and workspaces as resources on a real API server: what its schema refuses, what the server answers, figures (E6, P1, Q7)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from quotatree.control.commands import values as do
from quotatree.core import Bounds, QuotaId, QuotaSpec, Refused
from tests.kubernetes.api import Denied, Thing, condition
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.edge_server import EdgeServer
from tests.kubernetes.processes import until

CRDS = Path(__file__).resolve().parents[2] / "src/quotatree/kubernetes_edge/crds"
API = "/apis/quotatree.io/v1alpha1"


@pytest.fixture
def resources(cluster: Cluster) -> Iterator[Cluster]:
    """A cluster that knows our resources; those a test leaves are gone afterwards."""
    cluster.kubectl("apply", "-f", str(CRDS))
    cluster.kubectl(
        "wait", "--for=condition=Established", "crd/quotas.quotatree.io", "crd/workspaces.quotatree.io"
    )
    until(lambda: all(is_served(cluster, plural) for plural in ("workspaces", "quotas")), "they are served")
    yield cluster
    for plural in ("workspaces", "quotas"):
        for one in cluster.api.items(f"{API}/{plural}"):
            path = f"{API}/{plural}/{one['metadata']['name']}"
            cluster.api.merge(path, {"metadata": {"finalizers": []}})
            if one["metadata"].get("deletionTimestamp") is None:
                cluster.api.delete(path)


def is_served(cluster: Cluster, plural: str) -> bool:
    try:
        return cluster.api.find(f"{API}/{plural}") is not None
    except Denied as denied:
        if denied.code != 429:  # the API server opens its storage
            raise
        return False


@pytest.fixture
def server(resources: Cluster, tmp_path: Path) -> Iterator[EdgeServer]:
    made = EdgeServer(tmp_path, resources.kubeconfig)
    made.join(4)
    made.user("ann")
    yield made
    made.stop()


def apply(cluster: Cluster, kind: str, name: str, spec: dict[str, Any], **meta: Any) -> str:
    thing = {
        "apiVersion": "quotatree.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, **meta},
        "spec": spec,
    }
    return cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(thing))


def seen(cluster: Cluster, name: str, plural: str = "quotas") -> Thing:
    return cluster.api.get(f"{API}/{plural}/{name}")


def accepted(cluster: Cluster, name: str, status: str = "True", plural: str = "quotas") -> None:
    def is_so() -> bool:
        found = seen(cluster, name, plural)
        current = found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"]
        return current and condition(found, "Accepted") == status

    until(is_so, f"{name} is Accepted {status}")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a range that overlaps": (
        {"parent": "c", "selfLevel": [{"high": "6-9", "low": "4-7"}]},
        "low 4-7 must lie below high 6-9",
    ),
    "the same number twice": ({"parent": "c", "selfLevel": [{"high": 6, "low": 6}]}, "must lie below"),
    "high without low": ({"parent": "c", "selfLevel": [{"high": 6}]}, "go together"),
    "a module there is not": ({"parent": "c", "childLevel": {"modules": ["ABC"]}}, "supported values"),
    "a priority there is not": (
        {"parent": "c", "selfLevel": [{"high": 12, "low": 1}]},
        "less than or equal to 9",
    ),
    "a range that goes down": (
        {"parent": "c", "selfLevel": [{"high": "9-6", "low": "1-3"}]},
        "a range goes from the lower priority to the higher: 6-9, not 9-6",
    ),
    "a low range that goes down": ({"parent": "c", "selfLevel": [{"high": 9, "low": "3-1"}]}, "1-3, not 3-1"),
    "priorities below that go down": ({"parent": "c", "childLevel": {"priorities": "5-2"}}, "2-5, not 5-2"),
    "its own parent": ({"parent": "self"}, "own parent"),
    "neither root nor child": ({"min": {"gpus": 1}}, "one of the two"),
    "both root and child": ({"parent": "c", "draws": {"default": {"gpus": 1}}}, "one of the two"),
    "more reserved than it has": (
        {"parent": "c", "min": {"gpus": 1}, "reserved": {"gpus": 2}},
        "at most min",
    ),
    "a field there is not": ({"parent": "c", "hue": 1}, "unknown field"),
    "our own label": ({"parent": "c", "labels": {"quotatree.io/owned-by": "me"}}, "set by the server"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_in_itself_is_refused_when_it_is_applied(resources: Cluster, what: str):
    spec, says = WRONG[what]
    with pytest.raises(AssertionError) as refused:
        apply(resources, "Quota", "self", spec)
    assert says in str(refused.value)


def test_a_ceiling_and_an_amount_that_go_down_are_refused(resources: Cluster):
    for rules in (
        {"ceilings": [{"who": "role:developer", "priority": "9-6"}]},
        {"amounts": [{"who": "role:developer", "priorities": "9-6", "gpus": 1}]},
    ):
        with pytest.raises(AssertionError) as refused:
            apply(resources, "Workspace", "w", {"quotas": [{"name": "a", **rules}]})
        assert "6-9, not 9-6" in str(refused.value)


def test_names_of_priorities_pass_the_schema(resources: Cluster):
    apply(resources, "Quota", "named", {"parent": "c", "selfLevel": [{"high": "production", "low": "1-3"}]})


def test_parent_and_pools_are_fixed(resources: Cluster):
    apply(resources, "Quota", "root", {"draws": {"a": {"gpus": 1}}})
    apply(resources, "Quota", "child", {"parent": "root"})
    for name, spec in (("root", {"draws": {"b": {"gpus": 1}}}), ("child", {"parent": "other"})):
        with pytest.raises(AssertionError) as refused:
            apply(resources, "Quota", name, spec)
        assert "fixed after creation" in str(refused.value)


def test_a_tree_in_any_order_becomes_so_and_shows_its_figures(resources: Cluster, server: EdgeServer):
    apply(
        resources,
        "Workspace",
        "v",
        {"quotas": [{"name": "a"}], "members": [{"user": "ann", "roles": ["owner"]}]},
    )
    apply(resources, "Quota", "a", {"parent": "company", "min": {"gpus": 8}})
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 32}}})
    for name in ("a", "company"):
        accepted(resources, name)
    accepted(resources, "v", plural="workspaces")
    until(lambda: seen(resources, "company")["status"].get("min") == {"gpus": 32}, "the figures are there")
    table = resources.kubectl("get", "quotas").splitlines()
    assert table[0].split() == ["NAME", "PARENT", "MIN", "USED", "SQUEEZED", "QUEUED", "ACCEPTED", "AGE"]
    assert server.ask(lambda world: world.directory.workspaces["v"].quotas) == ("a",)


def test_a_refused_change_is_a_condition_and_heals_by_itself(resources: Cluster, server: EdgeServer):
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 8}}})
    apply(resources, "Quota", "a", {"parent": "company", "min": {"gpus": 16}})
    accepted(resources, "a", "False")
    status = seen(resources, "a")["status"]
    assert (status["rule"], status["conditions"][0]["reason"]) == ("Q1", "Refused")
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 32}}})
    accepted(resources, "a")
    assert seen(resources, "a")["status"]["rule"] == ""


def test_a_quota_with_children_is_deleted_after_them(resources: Cluster, server: EdgeServer):
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 8}}})
    apply(resources, "Quota", "a", {"parent": "company", "min": {"gpus": 8}})
    for name in ("company", "a"):
        accepted(resources, name)
    resources.kubectl("delete", "quota", "company", "--wait=false")
    accepted(resources, "company", "False")
    assert "Q6" in seen(resources, "company")["status"]["conditions"][0]["message"]
    resources.kubectl("delete", "quota", "a")
    until(lambda: resources.api.find(f"{API}/quotas/company") is None, "the root is gone too")
    assert server.ask(lambda world: list(world.state.quotas)) == []


def test_the_api_is_told_whose_the_tree_is_and_the_other_way_round(resources: Cluster, server: EdgeServer):
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 8}}})
    accepted(resources, "company")
    with pytest.raises(Refused, match=r"quotas\.quotatree\.io/company"):
        server.do(do.ScaleQuota(actor="(server)", quota="company", draws=(("default", Bounds(4000)),)))
    server.do(
        do.CreateQuota(
            actor="(server)", spec=QuotaSpec(QuotaId("other"), None, draws=(("default", Bounds(8000)),))
        )
    )
    apply(resources, "Quota", "other", {"draws": {"default": {"gpus": 8}}})
    accepted(resources, "other", "False")
    assert seen(resources, "other")["status"]["rule"] == "E6"
    resources.kubectl("annotate", "quota", "other", "quotatree.io/adopt=true")
    accepted(resources, "other")


def test_a_restarted_server_writes_nothing_that_is_already_there(resources: Cluster, server: EdgeServer):
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 8}}})
    accepted(resources, "company")
    until(lambda: "min" in seen(resources, "company")["status"], "the figures are there")
    before = seen(resources, "company")["metadata"]["resourceVersion"]
    server.stop()
    server.boot()
    apply(resources, "Quota", "later", {"draws": {"default": {"gpus": 8}}})
    accepted(resources, "later")
    assert seen(resources, "company")["metadata"]["resourceVersion"] == before


def test_a_quota_that_is_being_deleted_takes_no_new_workspace(resources: Cluster, server: EdgeServer):
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 8}}})
    apply(resources, "Workspace", "early", {"quotas": [{"name": "company"}]})
    accepted(resources, "early", plural="workspaces")
    resources.kubectl("delete", "quota", "company", "--wait=false")
    accepted(resources, "company", "False")
    apply(resources, "Workspace", "late", {"quotas": [{"name": "company"}]})
    accepted(resources, "late", "False", "workspaces")
    (told,) = seen(resources, "late", "workspaces")["status"]["conditions"]
    assert "quota company is being deleted" in told["message"]
    resources.kubectl("delete", "workspace", "early")
    until(lambda: resources.api.find(f"{API}/quotas/company") is None, "the quota goes")


def test_a_workspace_that_is_made_again_lets_its_namespaces_in_again(resources: Cluster, server: EdgeServer):
    labels = {"quotatree.io/workspace": "v"}
    resources.api.create("/api/v1/namespaces", {"metadata": {"name": "again", "labels": labels}})
    jobs = "/apis/batch/v1/namespaces/again/jobs"
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    spec = {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    apply(resources, "Quota", "company", {"draws": {"default": {"gpus": 8}}})
    for name in ("first", "second"):
        apply(resources, "Workspace", "v", {"quotas": [{"name": "company"}]})
        accepted(resources, "v", plural="workspaces")
        meta = {"name": name, "labels": {"quotatree.io/quota": "company"}}
        resources.api.create(jobs, {"metadata": meta, "spec": spec})
        until(lambda: list(server.phases()), "it is queued")
        resources.kubectl("delete", "job", name, "-n", "again")
        until(lambda: not server.phases(), "and is cancelled")
        resources.kubectl("delete", "workspace", "v")
