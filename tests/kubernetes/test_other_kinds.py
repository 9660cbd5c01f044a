"""A kind that QuotaTree does not know and the settings describe, with a controller of a few lines: queued, placed, taken, ended (E7)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
import yaml

from tests.kubernetes.api import Api, Denied, Thing, annotated
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.manifests import NAMESPACE
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, Story

TEAM = "team-widgets"
WIDGETS = f"/apis/example.org/v1/namespaces/{TEAM}/widgets"
PODS = f"/api/v1/namespaces/{TEAM}/pods"
KINDS = (
    '{ "widgets.example.org" = { version = "v1", kind = "Widget", suspend = "spec.paused", '
    'pods = [{ at = "spec.groups.*", template = "podTemplate", replicas = "size" }], '
    'phase = "status.state", succeeded = ["Done"], failed = ["Broken"] } }'
)
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: quotatree-widgets}
rules: [{apiGroups: [example.org], resources: [widgets], verbs: [get, list, watch, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: quotatree-widgets}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: quotatree-widgets}
subjects: [{kind: ServiceAccount, name: quotatree, namespace: NAMESPACE}]
""".replace("NAMESPACE", NAMESPACE)


class Controller:
    """Makes the pods of every widget that is not paused, and deletes those of one that is."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="widgets", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(0.1):
            for widget in self._api.items(WIDGETS):
                with suppress(Denied):  # somebody was quicker
                    self._settle(widget)

    def _settle(self, widget: Thing) -> None:
        name = widget["metadata"]["name"]
        pods = self._api.items(PODS, labelSelector=f"widget={name}")
        if widget["spec"]["paused"]:
            for pod in pods:
                self._api.delete(f"{PODS}/{pod['metadata']['name']}")
            return
        there = {pod["metadata"]["name"] for pod in pods}
        for group, one in widget["spec"]["groups"].items():
            template = one["podTemplate"]
            for number in range(one["size"]):
                if f"{name}-{group}-{number}" not in there:
                    meta = template.get("metadata") or {}
                    labels = {**(meta.get("labels") or {}), "widget": name}
                    notes = {"play.quotatree.io/leaves-after": "1s"}
                    made = {"name": f"{name}-{group}-{number}", "labels": labels, "annotations": notes}
                    self._api.create(PODS, {"metadata": made, "spec": template["spec"]})


@pytest.fixture
def controller(cluster: Cluster) -> Iterator[Controller]:
    cluster.kubectl("apply", "-f", "-", input=DEFINITION)
    cluster.kubectl("wait", "--for=condition=Established", "crd/widgets.example.org")
    until(lambda: served(cluster), "widgets are served")
    cluster.api.create(
        "/api/v1/namespaces", {"metadata": {"name": TEAM, "labels": {"quotatree.io/workspace": "team"}}}
    )
    api = Api(cluster.kubeconfig)
    made = Controller(api)
    yield made
    made.close()
    api.close()
    cluster.kubectl("delete", "crd/widgets.example.org")


def served(cluster: Cluster) -> bool:
    try:
        return cluster.api.find("/apis/example.org/v1/widgets") is not None
    except Denied:
        return False


def widget(name: str, quota: str, **sizes: int) -> Thing:
    limits = {"nvidia.com/gpu": 4}
    container = {"name": "main", "image": IMAGE, "resources": {"limits": limits}}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 5, "containers": [container]}
    return {
        "apiVersion": "example.org/v1",
        "kind": "Widget",
        "metadata": {"name": name, "labels": {"quotatree.io/quota": quota, "quotatree.io/priority": "2"}},
        "spec": {
            "paused": True,
            "groups": {
                group: {"size": size, "podTemplate": yaml.safe_load(yaml.safe_dump({"spec": spec}))}
                for group, size in sizes.items()
            },
        },
    }


def test_a_kind_that_the_settings_describe_is_queued_placed_taken_and_ended(
    cluster: Cluster, controller: Controller, story: Callable[..., Story]
):
    told = story(nodes=2, environment={"QUOTATREE_KUBERNETES_OTHER_KINDS": KINDS})
    told.tree(16, {"a": 16}, child_level={"priorities": "1-3"})
    api = cluster.api
    api.create(WIDGETS, widget("first", "a", head=1, workers=2))

    def running() -> list[str]:
        found = api.items(PODS, labelSelector="widget=first")
        return sorted(pod["spec"]["nodeName"] for pod in found if pod["status"].get("phase") == "Running")

    until(lambda: len(running()) == 3, "head and workers run")
    job = annotated(api.get(f"{WIDGETS}/first"), "quotatree.io/job")
    assert job is not None
    places = told.server.client.jobs.runs(job)[-1]["places"]
    assert sorted(place["node"] for place in places) == running(), "where they were planned"
    boss = told.submit("boss", "root", 8, replicas=2, priority=9)
    told.runs(boss)
    assert api.get(f"{WIDGETS}/first")["spec"]["paused"] is True, "a victim is suspended by its own field"
    told.end(boss)
    until(lambda: len(running()) == 3, "it runs again")
    assert told.job(job)["run"] == 2
    for pod in api.items(PODS, labelSelector="widget=first"):
        api.merge(
            f"{PODS}/{pod['metadata']['name']}",
            {"metadata": {"annotations": {"play.quotatree.io/end": "now"}}},
        )
    api.merge(f"{WIDGETS}/first/status", {"status": {"state": "Done"}})
    told.becomes(job, "Succeeded")
