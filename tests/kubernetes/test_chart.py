"""Is what `deploy/` installs accepted by a real API server, with the rights it needs and no more?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.kubernetes.api import Denied, Thing, condition, names
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.manifests import CHART, MANIFESTS, NAMESPACE, rendered
from tests.kubernetes.processes import until

HERE = Path(__file__).parent
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/quotatree"

# The parts of the Prometheus operator's definitions that we use; the operator itself is not here.
MONITORS = """
type: object
required: [endpoints, selector]
properties:
  selector:
    type: object
    properties: {matchLabels: {type: object, additionalProperties: {type: string}}}
  endpoints:
    type: array
    items:
      type: object
      properties:
        port: {type: string}
        path: {type: string}
        interval: {type: string}
        authorization:
          type: object
          properties:
            credentials: {type: object, properties: {name: {type: string}, key: {type: string}}}
"""
RULES = """
type: object
properties:
  groups:
    type: array
    items:
      type: object
      required: [name]
      properties:
        name: {type: string, minLength: 1}
        rules:
          type: array
          items:
            type: object
            required: [expr]
            properties:
              alert: {type: string}
              expr: {type: string}
              for: {type: string, pattern: "^[0-9]+[smhd]$"}
              labels: {type: object, additionalProperties: {type: string}}
              annotations: {type: object, additionalProperties: {type: string}}
"""


def definition(kind: str, spec: str) -> Thing:
    """A definition of the group monitoring.coreos.com, whose objects have this schema as their `spec`."""
    group, plural = "monitoring.coreos.com", f"{kind.lower()}s"
    schema = {"type": "object", "properties": {"spec": yaml.safe_load(spec)}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [version],
        },
    }


@pytest.fixture(scope="module")
def empty_cluster() -> Iterator[Cluster]:
    """One of its own: in that of the stories the chart's rights are there already."""
    with Cluster.started() as cluster:
        yield cluster


@pytest.fixture
def ready(cluster: Cluster) -> Cluster:
    """A cluster with a namespace that admits restricted pods only, and that knows service monitors and alerts."""
    level = {"pod-security.kubernetes.io/enforce": "restricted"}
    cluster.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": level}})
    for made in (definition("ServiceMonitor", MONITORS), definition("PrometheusRule", RULES)):
        cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(made))
        cluster.kubectl("wait", "--for=condition=Established", f"crd/{made['metadata']['name']}")
    return cluster


VARIANTS = {
    "as it is": (),
    "with a service monitor": ("--set", "serviceMonitor.enabled=true"),
    "with alerts, and metrics by a token": (
        "--set",
        "serviceMonitor.enabled=true,serviceMonitor.tokenSecret=scrape,prometheusRule.enabled=true",
    ),
    "one server with SQLite": ("--set", "replicas=1,database.existingSecret="),
    "for Kubeflow": (
        "--set",
        "rbac.suspendableKinds[0].apiGroup=kubeflow.org,rbac.suspendableKinds[0].resource=pytorchjobs",
    ),
}


@pytest.mark.parametrize("values", VARIANTS.values(), ids=VARIANTS)
def test_the_api_server_takes_every_object_of_the_chart(ready: Cluster, values: tuple[str, ...]):
    text = rendered(ready, *values)
    said = ready.kubectl(
        "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", input=text
    )
    assert len(said.splitlines()) == len(objects(text))
    assert all("serverside-applied (server dry run)" in line for line in said.splitlines())


def test_helm_finds_nothing_to_say_against_the_chart(ready: Cluster):
    assert "0 chart(s) failed" in ready.helm("lint", "--strict", str(CHART))


def test_the_plain_manifests_are_the_rendered_chart(ready: Cluster):
    assert MANIFESTS.read_text(encoding="utf-8") == rendered(ready), "write them anew: make manifests"


def test_the_plain_manifests_have_no_hook_which_kubectl_would_run_at_once():
    """The hook that cleans up after an uninstall would take finalizers and gates off while one installs."""
    assert "helm.sh/hook" not in MANIFESTS.read_text(encoding="utf-8")


def test_the_pod_of_the_server_is_admitted_where_pods_are_restricted(ready: Cluster):
    deployment = next(one for one in objects(rendered(ready)) if one["kind"] == "Deployment")
    template = deployment["spec"]["template"]
    ready.api.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "quotatree"}})
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    pod: Thing = {"metadata": {"name": "one"}, "spec": template["spec"]}
    until(lambda: admitted(ready, path, pod), "the pod is admitted")
    container = template["spec"]["containers"][0]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    as_root = {**pod, "spec": {**pod["spec"], "securityContext": {"runAsUser": 0}}}
    with pytest.raises(Denied, match="violates PodSecurity"):
        ready.api.create(path, as_root, dryRun="All")


def admitted(cluster: Cluster, path: str, pod: Thing) -> bool:
    """Whether a dry run takes it. A quota or an account that is not there yet is no answer."""
    try:
        cluster.api.create(path, pod, dryRun="All")
    except Denied as denied:
        if "PodSecurity" in str(denied):
            raise
        return False
    return True


def test_two_servers_without_postgresql_are_refused_with_what_to_do(ready: Cluster):
    with pytest.raises(AssertionError, match=r"set database\.existingSecret, or replicas=1"):
        rendered(ready, "--set", "database.existingSecret=")


def test_a_value_that_does_not_exist_is_refused(ready: Cluster):
    with pytest.raises(AssertionError, match="replica"):
        rendered(ready, "--set", "replica=3")


def test_an_installed_release_runs_can_be_upgraded_and_leaves_nothing(ready: Cluster):
    ready.nodes.add(2, 0)
    secret = {"metadata": {"name": "quotatree-database"}, "stringData": {"url": "postgresql://none"}}
    ready.api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", secret)
    ends = "uninstallHook.podAnnotations.play\\.quotatree\\.io/runs-for=1s"
    ready.helm("install", "quotatree", str(CHART), "--namespace", NAMESPACE, "--set", ends)
    until(lambda: condition(ready.api.get(DEPLOYMENT), "Available") == "True", "both servers are available")
    ready.helm("upgrade", "quotatree", str(CHART), "--namespace", NAMESPACE, "--set", f"replicas=3,{ends}")
    until(lambda: ready.api.get(DEPLOYMENT)["status"].get("readyReplicas") == 3, "three servers")
    ready.helm("uninstall", "quotatree", "--namespace", NAMESPACE)
    until(lambda: ready.api.find(DEPLOYMENT) is None, "it is gone")
    assert ready.api.find("/apis/rbac.authorization.k8s.io/v1/clusterroles/quotatree") is None
    assert ready.api.find("/apis/scheduling.k8s.io/v1/priorityclasses/quotatree") is None
    for kind in ("validating", "mutating"):
        path = f"/apis/admissionregistration.k8s.io/v1/{kind}admissionpolicies"
        assert [name for name in names(ready.api.items(path)) if "quotatree" in name] == []
    assert ready.api.find("/apis/rbac.authorization.k8s.io/v1/clusterroles/quotatree-uninstall") is None


def test_a_release_of_an_older_chart_is_upgraded_as_the_page_says(ready: Cluster, tmp_path: Path):
    """An older chart knows fewer values: what it was installed with must not be all that the new one gets."""
    older = tmp_path / "chart"
    shutil.copytree(CHART, older)
    (older / "templates" / "uninstall.yaml").unlink()
    values = yaml.safe_load((older / "values.yaml").read_text())
    del values["uninstallHook"]
    (older / "values.yaml").write_text(yaml.safe_dump(values))
    mine = ("--set", "image.repository=example.org/mine")
    ready.helm("install", "quotatree", str(older), "--namespace", NAMESPACE, *mine)
    page = (CHART.parents[1] / "docs/how-to/install-on-kubernetes.md").read_text(encoding="utf-8")
    (typed,) = (line.split() for line in page.splitlines() if line.startswith("helm upgrade "))
    ready.helm(*(str(CHART) if word == "deploy/chart" else word for word in typed[1:]))
    (server,) = ready.api.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    assert server["image"].startswith("example.org/mine:")
    ready.helm("uninstall", "quotatree", "--namespace", NAMESPACE, "--no-hooks")


def objects(text: str) -> list[Thing]:
    return [one for one in yaml.safe_load_all(text) if one]
