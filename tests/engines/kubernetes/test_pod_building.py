"""What does the cluster get for an order?"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from quotatree.core import Module
from quotatree.engines.base import StartOrder
from quotatree.engines.kubernetes import pod_building as build
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.kubernetes.program import parse
from tests.engines.kubernetes.made import order

OPTIONS = KubernetesOptions()
GPU = "nvidia.com/gpu"


def pod_of(said: StartOrder, replica: int = 0) -> dict[str, Any]:
    return build.pod(said, said.replicas[replica], parse(said.program, said.module), OPTIONS, GPU)


def variables(pod: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one.get("value", "(secret)") for one in pod["spec"]["containers"][0]["env"]}


def test_a_replica_asks_for_its_node_its_gpus_and_its_grace_and_preempts_nobody():
    spec = pod_of(order())["spec"]
    term = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term == [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-0"]}]}]
    assert "nodeName" not in spec, "kube-scheduler still has its say"
    assert spec["containers"][0]["resources"] == {
        "requests": {"cpu": "4000m", "memory": "8192Mi", GPU: "2"},
        "limits": {GPU: "2"},
    }
    assert (spec["terminationGracePeriodSeconds"], spec["priorityClassName"]) == (6, "quotatree")
    assert spec["restartPolicy"] == "Never"


def test_names_follow_from_job_run_and_replica_and_labels_say_whose_it_is():
    meta = pod_of(order(replicas=2), 1)["metadata"]
    assert meta["name"] == "dlc-abc-3-1"
    assert meta["labels"]["quotatree.io/workspace"] == "vision"
    assert meta["labels"]["quotatree.io/quota"] == "root"
    assert meta["annotations"]["quotatree.io/owner"] == "ann"


def test_ids_that_kubernetes_does_not_take_get_names_that_stay_apart():
    names = {build.job_name(job) for job in ("Train.A", "train.a", "train_a", "9lives", "x" * 80, "x" * 81)}
    assert len(names) == 6
    assert all(len(name) <= 50 and name[0].isalpha() and name == name.lower() for name in names)
    assert build.job_name("dlc-abc") == "dlc-abc"


def test_a_training_run_of_several_replicas_meets_at_its_first_by_a_name():
    said = order(replicas=2)
    seen = variables(pod_of(said, 1))
    assert (seen["RANK"], seen["WORLD_SIZE"], seen["PET_NPROC_PER_NODE"]) == ("1", "2", "2")
    assert seen["MASTER_ADDR"] == "r0.dlc-abc-3.quotatree-vision.svc"
    spec = pod_of(said, 1)["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("r1", "dlc-abc-3")
    service = build.service(said, parse(said.program, said.module))["spec"]
    assert service["clusterIP"] == "None"
    assert service["publishNotReadyAddresses"], "replicas meet before any of them is ready"


def test_a_single_replica_needs_no_service():
    assert not build.needs_service(order())
    assert variables(pod_of(order()))["MASTER_ADDR"] == "127.0.0.1"


def test_a_service_is_ready_when_its_health_path_says_so():
    said = order(Module.EAS, program={"image": "serve:1", "port": 9000, "health": "/ok"})
    main = pod_of(said)["spec"]["containers"][0]
    assert main["readinessProbe"]["httpGet"] == {"path": "/ok", "port": 9000}
    assert variables(pod_of(said))["QUOTATREE_PORT"] == "9000"
    assert pod_of(said)["spec"]["restartPolicy"] == "Always"


def test_a_notebook_keeps_its_volume_for_all_runs_and_its_token_secret():
    said = order(Module.DSW, program={"image": "lab:1", "storage": "10Gi"})
    program = parse(said.program, said.module)
    later = replace(said, run=4)
    assert build.volume_claim(said, program, OPTIONS) == build.volume_claim(later, program, OPTIONS)
    spec = pod_of(said)["spec"]
    assert spec["volumes"] == [{"name": "workspace", "persistentVolumeClaim": {"claimName": "dlc-abc"}}]
    assert variables(pod_of(said))["QUOTATREE_TOKEN"] == "(secret)"
    assert "t0ken" not in str(pod_of(said))
    assert build.secret(said, program, "t0ken")["stringData"] == {"QUOTATREE_TOKEN": "t0ken"}


def test_secrets_stand_in_a_secret_and_never_in_the_pod():
    said = order(program={"image": "x", "secrets": {"KEY": "hush"}, "env": {"A": "b"}})
    assert "hush" not in str(pod_of(said))
    assert variables(pod_of(said)) | {"KEY": "(secret)", "A": "b"} == variables(pod_of(said))


def test_a_whole_pod_keeps_what_it_says_but_for_what_the_core_decides():
    whole = {
        "nodeName": "elsewhere",
        "priorityClassName": "system-node-critical",
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
                }
            }
        },
        "containers": [
            {"name": "a", "image": "x", "resources": {"limits": {GPU: "8", "cpu": "9"}}},
            {"name": "b", "image": "y"},
        ],
    }
    spec = pod_of(order(program={"pod": whole}))["spec"]
    assert "nodeName" not in spec
    assert spec["priorityClassName"] == "quotatree"
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert set(term) == {"matchExpressions", "matchFields"}, "both must hold"
    assert spec["containers"][0]["resources"]["limits"] == {"cpu": "9", GPU: "2"}
    assert [one["name"] for one in spec["containers"]] == ["a", "b"]
    assert whole["nodeName"] == "elsewhere", "what was submitted is not written to"


def test_two_workspaces_never_share_a_namespace_by_their_prefix():
    assert KubernetesOptions(namespace_prefix="gpu-").namespace("vision") == "gpu-vision"


def test_two_workspaces_never_share_a_namespace():
    """W2: names of workspaces have more characters, and are longer, than those of namespaces."""
    alike = ["a-b", "a.b", "a_b", "A-B", "v" * 63, "v" * 62, "v" * 53, "v" * 54]
    found = [OPTIONS.namespace(name) for name in alike]
    assert len(set(found)) == len(alike)
    assert found[0] == "quotatree-a-b"
    assert all(len(name) <= 63 and re.fullmatch("[a-z0-9]([-a-z0-9]*[a-z0-9])?", name) for name in found)
