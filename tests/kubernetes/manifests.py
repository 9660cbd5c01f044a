"""The plain manifests are the chart as Helm renders it with its own values: `python -m tests.kubernetes.manifests` writes them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.kubernetes.api import Thing
from tests.kubernetes.binary import CannotBuild, program
from tests.kubernetes.cluster import Cluster

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CHART = DEPLOY / "chart"
MANIFESTS = DEPLOY / "manifests" / "quotatree.yaml"
NAMESPACE = "quotatree"
HEAD = """\
# Written by `make manifests` from deploy/chart with its own values; do not edit. For `kubectl apply --server-side -f` into a
# namespace `quotatree` that has a Secret `quotatree-database` with the key `url`: docs/how-to/install-on-kubernetes.md
"""
OLDEST = "1.30.0"  # the plain manifests hold nothing that this Kubernetes does not know
ARGUMENTS = (
    "template",
    "quotatree",
    str(CHART),
    "--namespace",
    NAMESPACE,
    "--include-crds",
    "--no-hooks",
    "--kube-version",
    OLDEST,
)
INSTALLED = ("--kube-version", "1.36.0")  # the cluster of the stories


def rendered(cluster: Cluster, *values: str) -> str:
    """The chart as helm renders it; a refusal raises with helm's words."""
    return HEAD + cluster.helm(*ARGUMENTS, *values)


def granted(cluster: Cluster) -> Path:
    """Give the chart's account its rights, with everything else of the chart but the server; return its kubeconfig."""
    wanted = (
        "CustomResourceDefinition",
        "PriorityClass",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    )
    objects = [
        one for one in yaml.safe_load_all(rendered(cluster, *INSTALLED)) if one and one["kind"] in wanted
    ]
    if cluster.api.find(f"/api/v1/namespaces/{NAMESPACE}") is None:
        cluster.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    # Stories take policies away for a while and make them again, by another client.
    cluster.kubectl(
        "apply", "--server-side", "--force-conflicts", "-f", "-", input=yaml.safe_dump_all(objects)
    )
    return cluster.kubeconfig_of_account(NAMESPACE, "quotatree")


@contextmanager
def without_admission(cluster: Cluster, policy: str = "", kind: str = "validating") -> Iterator[None]:
    """A cluster that holds none of the chart's policies of this kind, or not this one; they are bound again afterwards."""
    path = f"/apis/admissionregistration.k8s.io/v1/{kind}admissionpolicybindings"
    before = [one for one in cluster.api.items(path) if one["spec"]["policyName"] == policy or not policy]
    for one in before:
        cluster.api.delete(f"{path}/{one['metadata']['name']}")
    try:
        yield
    finally:
        for one in before:
            cluster.api.create(path, {"metadata": {"name": one["metadata"]["name"]}, "spec": one["spec"]})


def hooks(cluster: Cluster) -> list[Thing]:
    """What helm makes for a moment when the release is uninstalled."""
    text = cluster.helm(*(one for one in ARGUMENTS if one != "--no-hooks"))
    found = [one for one in yaml.safe_load_all(text) if one]
    return [one for one in found if "helm.sh/hook" in (one["metadata"].get("annotations") or {})]


def main() -> int:
    try:
        tool = program()
    except CannotBuild as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    done = subprocess.run(
        [str(tool), "helm", *ARGUMENTS], stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "HOME": "/nonexistent"}
    )  # fmt: skip
    MANIFESTS.parent.mkdir(exist_ok=True)
    MANIFESTS.write_text(HEAD + done.stdout, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
