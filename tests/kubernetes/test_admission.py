"""What a tenant may not do in a namespace of a workspace, whatever it tries: the API server refuses it, by the chart's policies.

Each story acts with the rights of an account that has the ClusterRole `edit` in its namespace, and nothing else. The table of
docs/explanation/what-a-tenant-can-do.md names the stories. No server of QuotaTree runs here: its account's own changes are made
with its own rights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.kubernetes.api import Api, Denied, Thing, names
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.manifests import without_admission
from tests.kubernetes.processes import until

TEAM = "team-tenant"
GPU = "nvidia.com/gpu"
QUOTA, JOB, RUN = "quotatree.io/quota", "quotatree.io/job", "quotatree.io/run"
OBJECT, GROUP, REPLICA = "quotatree.io/object", "quotatree.io/group", "quotatree.io/replica"
GATE = {"name": "quotatree.io/place"}
PODS = f"/api/v1/namespaces/{TEAM}/pods"
JOBS = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
APPS = f"/apis/apps/v1/namespaces/{TEAM}"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Tenant:
    """`api` has the rights of the tenant, `server` those of the chart's account, `admin` all."""

    api: Api
    server: Api
    admin: Api


@pytest.fixture
def tenant(cluster: Cluster, account: Path) -> Iterator[Tenant]:
    cluster.nodes.add(2, 8)
    admin = cluster.api
    labels = {"quotatree.io/workspace": "vision"}
    admin.create("/api/v1/namespaces", {"metadata": {"name": TEAM, "labels": labels}})
    until(lambda: admin.find(f"/api/v1/namespaces/{TEAM}/serviceaccounts/default"), "the default account")
    admin.create(f"/api/v1/namespaces/{TEAM}/serviceaccounts", {"metadata": {"name": "ann"}})
    allow(admin, "ann", {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"})
    found = Tenant(Api(cluster.kubeconfig_of_account(TEAM, "ann")), Api(account), admin)
    until(lambda: in_force(found.api), "the policies are in force")
    yield found
    found.api.close()
    found.server.close()


def allow(admin: Api, name: str, role: Thing) -> None:
    subject = {"kind": "ServiceAccount", "name": "ann", "namespace": TEAM}
    body = {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
    admin.create(f"{RBAC}/namespaces/{TEAM}/rolebindings", body)


def in_force(api: Api) -> bool:
    """Whether the policies know this namespace already: a label that is ours is refused."""
    try:
        api.create(PODS, pod("canary", labels={JOB: "x"}), dryRun="All")
    except Denied as denied:
        return "quotatree.io/" in str(denied) and "Forbidden" in str(denied)
    return False


def template(gpus: int = 0, **more: object) -> Thing:
    limits = {GPU: gpus} if gpus else {}
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [
            {"name": "c", "image": "i", "resources": {"limits": limits, "requests": {"cpu": "1", **limits}}}
        ],
        **more,
    }


def pod(
    name: str, gpus: int = 0, *, labels: Thing | None = None, notes: Thing | None = None, **spec: object
) -> Thing:
    meta = {"name": name, "labels": labels or {}, "annotations": notes or {}}
    return {"metadata": meta, "spec": template(gpus, **spec)}


def job(
    name: str, gpus: int = 1, *, quota: str = "train", suspend: bool = True, notes: Thing | None = None, **spec: object
) -> Thing:  # fmt: skip
    labels = {QUOTA: quota} if quota else {}
    return {
        "metadata": {"name": name, "labels": labels, "annotations": notes or {}},
        "spec": {"suspend": suspend, "template": {"spec": template(gpus)}, **spec},
    }


def container(**resources: object) -> Thing:
    return {"name": "more", "image": "i", "resources": resources}


def refused(what: Callable[[], object], words: str) -> None:
    with pytest.raises(Denied, match=words) as denied:
        what()
    assert denied.value.code in (403, 422)
    assert "ValidatingAdmissionPolicy" in str(denied.value), "refused by what the chart installs"


def queued(tenant: Tenant, name: str, gpus: int = 1, **more: object) -> Thing:
    """A Job that the server has gated and queued, as it does it, with its own rights."""
    made = tenant.api.create(JOBS, job(name, gpus, **more))  # type: ignore[arg-type]
    marks = {
        "metadata": {"labels": {OBJECT: made["metadata"]["uid"], GROUP: "0"}},
        "spec": {"schedulingGates": [GATE]},
    }
    body = {"metadata": {"annotations": {JOB: "job-1"}}, "spec": {"template": marks}}
    return tenant.server.merge(f"{JOBS}/{name}", body)


def released(tenant: Tenant, name: str, gpus: int = 1, **more: object) -> Thing:
    """A Job that runs: the server has resumed it, and its controller has made the pods, which wait at the gate."""
    queued(tenant, name, gpus, **more)
    body = {"metadata": {"annotations": {RUN: "job-1.1"}}, "spec": {"suspend": False}}
    found = tenant.server.merge(f"{JOBS}/{name}", body)
    until(lambda: pods_of(tenant, name), "its controller makes its pods")
    return found


def pods_of(tenant: Tenant, name: str) -> list[Thing]:
    return tenant.admin.items(PODS, labelSelector=f"job-name={name}")


def placed(tenant: Tenant, name: str) -> Thing:
    """The pod of a Job that runs, after the server has let it pass its gate."""
    released(tenant, name)
    (one,) = pods_of(tenant, name)
    path = f"{PODS}/{one['metadata']['name']}"
    change = {
        "metadata": {"labels": {REPLICA: "0"}, "annotations": {RUN: "job-1.1"}},
        "spec": {"schedulingGates": []},
    }
    tenant.server.merge(path, change)
    until(lambda: tenant.admin.get(path)["status"].get("phase") == "Running", "it runs")
    return tenant.admin.get(path)


# -- GPUs without a quota --------------------------------------------------------------------------------------------

CLAIM = [{"name": "gpu", "resourceClaimName": "mine"}]
GREEDY = {
    "a container": pod("x", 1),
    "requests of a container": pod("x", containers=[container(requests={GPU: 1}, limits={GPU: 1})]),
    "another vendor's": pod("x", containers=[container(limits={"amd.com/gpu": 1})]),
    "an init container": pod("x", initContainers=[container(limits={GPU: 1})]),
    "one that runs along": pod("x", initContainers=[{**container(limits={GPU: 1}), "restartPolicy": "Always"}]),
    "a pod behind our gate": pod("x", 1, schedulingGates=[GATE]),
}  # fmt: skip


@pytest.mark.parametrize("body", GREEDY.values(), ids=GREEDY)
def test_a_pod_with_gpus_of_a_tenant_is_refused(tenant: Tenant, body: Thing):
    refused(lambda: tenant.api.create(PODS, body), "given out by QuotaTree")


def test_parts_of_gpus_and_device_claims_are_refused_since_they_are_not_counted(tenant: Tenant):
    for name in ("nvidia.com/mig-1g.5gb", "nvidia.com/gpu.shared", "deviceclass.resource.kubernetes.io/gpu"):
        part = container(limits={name: 1})
        refused(partial(tenant.api.create, PODS, pod("x", containers=[part])), "whole GPUs")
    refused(lambda: tenant.api.create(PODS, pod("x", resourceClaims=CLAIM)), "device claims")
    with_claim = job("x")
    with_claim["spec"]["template"]["spec"]["resourceClaims"] = CLAIM
    refused(lambda: tenant.api.create(JOBS, with_claim), "device claims")


def test_a_job_with_gpus_and_without_a_quota_is_refused(tenant: Tenant):
    refused(lambda: tenant.api.create(JOBS, job("x", quota="")), "label the Job quotatree.io/quota")
    cron = {
        "metadata": {"name": "x"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": {"spec": template(1)}}}},
    }
    refused(lambda: tenant.api.create(JOBS.replace("/jobs", "/cronjobs"), cron), "label spec.jobTemplate")


def workload(gpus: int, **metadata: object) -> Thing:
    inside = {
        "metadata": {"labels": {"app": "x"}, **metadata},
        "spec": {**template(gpus), "restartPolicy": "Always"},
    }
    return {
        "metadata": {"name": "x"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": inside},
    }


@pytest.mark.parametrize("kind", ["deployments", "statefulsets", "daemonsets", "replicasets"])
def test_what_cannot_wait_is_refused_with_gpus_and_with_our_labels(tenant: Tenant, kind: str):
    refused(lambda: tenant.api.create(f"{APPS}/{kind}", workload(1)), "quotatree submit --module EAS")
    marked = workload(0, labels={"app": "x", OBJECT: "uid"})
    refused(lambda: tenant.api.create(f"{APPS}/{kind}", marked), "by QuotaTree alone")


def test_what_asks_for_no_gpu_goes_on_as_ever(tenant: Tenant):
    tenant.api.create(PODS, pod("plain", notes={"quotatree.io/checkpoint": "now"}))
    tenant.api.create(PODS, pod("none", containers=[container(limits={GPU: 0})]))
    tenant.api.create(JOBS, job("plain", 0, quota="", suspend=False))
    tenant.api.create(f"{APPS}/deployments", workload(0))
    until(lambda: len(tenant.admin.items(PODS)) >= 4, "their controllers make their pods")
    tenant.api.merge(f"{JOBS}/plain", {"spec": {"suspend": True}})
    tenant.api.delete(f"{APPS}/deployments/x", propagationPolicy="Foreground")
    tenant.api.delete(f"{JOBS}/plain", propagationPolicy="Background")
    until(lambda: set(names(tenant.admin.items(PODS))) == {"plain", "none"}, "and take them away")


# -- forging -----------------------------------------------------------------------------------------------------------


def test_a_pod_is_not_born_with_our_labels_and_annotations(tenant: Tenant):
    for label in (JOB, RUN, REPLICA, OBJECT, GROUP):
        refused(partial(tenant.api.create, PODS, pod("x", labels={label: "0"})), "QuotaTree alone")
    refused(lambda: tenant.api.create(PODS, pod("x", notes={RUN: "job-1.1"})), "annotations quotatree.io/run")


def test_copied_labels_and_owners_give_no_gpus(tenant: Tenant):
    real = placed(tenant, "real")
    meta = real["metadata"]
    copied = pod("copy", 1, labels=meta["labels"], schedulingGates=[GATE])
    copied["metadata"]["ownerReferences"] = meta["ownerReferences"]
    refused(lambda: tenant.api.create(PODS, copied), "QuotaTree alone")
    bare = deepcopy(copied)
    bare["metadata"]["labels"] = {
        name: said for name, said in meta["labels"].items() if "quotatree" not in name
    }
    refused(lambda: tenant.api.create(PODS, bare), "given out by QuotaTree")
    template_of_another = job("copy", notes={})
    template_of_another["spec"]["template"]["metadata"] = {
        "labels": {OBJECT: meta["labels"][OBJECT], GROUP: "0"}
    }
    refused(lambda: tenant.api.create(JOBS, template_of_another), "templates by QuotaTree alone")


@pytest.mark.parametrize("reach", [{"namespaceSelector": {}}, {"namespaces": ["another"]}])
def test_no_pod_keeps_work_of_other_teams_off_its_node(tenant: Tenant, reach: Thing):
    """kube-scheduler heeds the anti-affinity of pods that run for pods that come: their jobs would not begin (P7)."""
    near = {"labelSelector": {}, "topologyKey": "kubernetes.io/hostname"}

    def keeping_off(term: Thing) -> Thing:
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

    far = keeping_off({**near, **reach})
    refused(lambda: tenant.api.create(PODS, pod("x", affinity=far)), "off the node")
    refused(lambda: tenant.server.create(PODS, pod("x", affinity=far)), "off the node")
    wide = job("x")
    wide["spec"]["template"]["spec"]["affinity"] = far
    refused(lambda: tenant.api.create(JOBS, wide), "off the node")
    tenant.api.create(PODS, pod("beside", affinity=keeping_off({**near, "namespaces": [TEAM]})), dryRun="All")
    tenant.api.create(PODS, pod("apart", affinity=keeping_off(near)), dryRun="All")


def test_a_pod_names_no_node_and_is_bound_by_kube_scheduler_alone(tenant: Tenant):
    refused(lambda: tenant.api.create(PODS, pod("x", nodeName="node-0")), "nodeName")
    tenant.admin.create(f"{RBAC}/namespaces/{TEAM}/roles", {"metadata": {"name": "binder"}, "rules": [{"apiGroups": [""], "resources": ["pods/binding", "bindings"], "verbs": ["create"]}]})  # fmt: skip
    allow(tenant.admin, "binder", {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "binder"})
    tenant.api.create(PODS, pod("waits", schedulerName="nobody"))
    binding = {"metadata": {"name": "waits"}, "target": {"kind": "Node", "name": "node-0"}}

    def binds() -> None:
        tenant.api.create(f"{PODS}/waits/binding", binding)

    until(lambda: "cannot create resource" not in words_of(binds), "its rights are known")
    refused(binds, "bound by kube-scheduler alone")


def words_of(what: Callable[[], object]) -> str:
    try:
        what()
    except Denied as denied:
        return str(denied)
    return ""


def test_a_pod_for_which_kube_scheduler_would_evict_queued_pods_is_refused(tenant: Tenant):
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    made = {
        "pushy": ("PreemptLowerPriority", 1001),
        "patient": ("Never", 100_000),
        "equal": ("PreemptLowerPriority", 1000),
    }
    for name, (policy, value) in made.items():
        body = {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy}
        if tenant.admin.find(f"{classes}/{name}") is None:
            tenant.admin.create(classes, body)
    for name in ("patient", "equal"):
        until(lambda name=name: accepts(tenant, name), f"the class {name} is known")  # type: ignore[misc]
    for name in ("pushy", "system-node-critical"):
        body = pod("x", priorityClassName=name)
        refused(partial(tenant.api.create, PODS, body), "would evict queued pods")


def accepts(tenant: Tenant, name: str) -> bool:
    try:
        tenant.api.create(PODS, pod("x", priorityClassName=name), dryRun="All")
    except Denied as denied:
        if "no PriorityClass" not in str(denied):
            raise
        return False
    return True


def test_annotations_of_a_job_that_are_ours_are_forged_neither_at_birth_nor_later(tenant: Tenant):
    forged = {JOB: "job-9", RUN: "job-9.1", "quotatree.io/places": "0:node-0"}
    for name, value in forged.items():
        born = job("x", notes={name: value})
        refused(partial(tenant.api.create, JOBS, born), "by QuotaTree alone")
    queued(tenant, "mine")
    for name in (JOB, RUN, "quotatree.io/places"):
        change = {"metadata": {"annotations": {name: "job-9.1"}}}
        refused(partial(tenant.api.merge, f"{JOBS}/mine", change), "by QuotaTree alone")
    gone = {"metadata": {"annotations": {JOB: None}}}
    refused(lambda: tenant.api.merge(f"{JOBS}/mine", gone), "by QuotaTree alone")
    said = {"quotatree.io/hold": "true", "quotatree.io/checkpoint": "now"}
    tenant.api.merge(f"{JOBS}/mine", {"metadata": {"annotations": said}})


def test_our_gate_and_labels_stay_on_templates_and_pods(tenant: Tenant):
    queued(tenant, "mine")
    without_gate = {"spec": {"template": {"spec": {"schedulingGates": None}}}}
    refused(lambda: tenant.api.merge(f"{JOBS}/mine", without_gate), "by QuotaTree alone")
    another = {"spec": {"template": {"metadata": {"labels": {OBJECT: "another"}}}}}
    refused(lambda: tenant.api.merge(f"{JOBS}/mine", another), "by QuotaTree alone")
    released(tenant, "runs")
    (one,) = pods_of(tenant, "runs")
    path = f"{PODS}/{one['metadata']['name']}"
    refused(lambda: tenant.api.merge(path, {"spec": {"schedulingGates": []}}), "gate quotatree.io/place")
    for change in ({OBJECT: None}, {OBJECT: "another"}, {REPLICA: "0"}, {JOB: "job-1"}):
        body = {"metadata": {"labels": change}}
        refused(partial(tenant.api.merge, path, body), "QuotaTree alone")
    body = {"metadata": {"annotations": {RUN: "job-9.1"}}}
    refused(lambda: tenant.api.merge(path, body), "annotations quotatree.io/run")
    tenant.api.merge(path, {"metadata": {"annotations": {"quotatree.io/checkpoint": "now"}}})


def test_a_pod_that_was_planned_is_not_resized(tenant: Tenant):
    released(tenant, "runs")
    (one,) = pods_of(tenant, "runs")
    tenant.admin.create(f"{RBAC}/namespaces/{TEAM}/roles", {"metadata": {"name": "resizer"}, "rules": [{"apiGroups": [""], "resources": ["pods/resize"], "verbs": ["patch", "update"]}]})  # fmt: skip
    allow(
        tenant.admin, "resizer", {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "resizer"}
    )
    (main,) = one["spec"]["containers"]
    main["resources"]["requests"]["cpu"] = "2"
    more = {"spec": {"containers": [main]}}

    def resizes() -> None:
        tenant.api.merge(f"{PODS}/{one['metadata']['name']}/resize", more)

    until(lambda: "cannot patch resource" not in words_of(resizes), "its rights are known")
    refused(resizes, "counted as they were planned")


# -- what is queued and what runs ------------------------------------------------------------------------------------


def test_a_queued_job_stays_in_its_quota_and_is_resumed_by_nobody_else(tenant: Tenant):
    queued(tenant, "mine")
    for label in (None, "another"):
        change = {"metadata": {"labels": {QUOTA: label}}}
        refused(partial(tenant.api.merge, f"{JOBS}/mine", change), "stays in its quota")
    refused(lambda: tenant.api.merge(f"{JOBS}/mine", {"spec": {"suspend": False}}), "QuotaTree resumes")
    tenant.api.merge(f"{JOBS}/mine", {"metadata": {"labels": {"quotatree.io/priority": "7"}}})
    tenant.api.delete(f"{JOBS}/mine", propagationPolicy="Background")


def test_a_running_job_stays_what_was_planned(tenant: Tenant):
    released(tenant, "runs")
    for change in ({"parallelism": 4}, {"parallelism": 0}):
        refused(
            partial(tenant.api.merge, f"{JOBS}/runs", {"spec": change}),
            "stays as it was planned",
        )
    refused(lambda: tenant.api.merge(f"{JOBS}/runs", {"spec": {"suspend": True}}), "suspended by QuotaTree")
    gone = {"metadata": {"labels": {QUOTA: None}}}
    refused(lambda: tenant.api.merge(f"{JOBS}/runs", gone), "stays in its quota")
    tenant.api.merge(f"{JOBS}/runs", {"spec": {"activeDeadlineSeconds": 3600}})


def test_a_labelled_job_that_forgot_to_suspend_waits(tenant: Tenant):
    """MutatingAdmissionPolicy (1.36): no pod of it is ever made before its turn."""
    made = tenant.api.create(JOBS, job("forgot", suspend=False))
    assert made["spec"]["suspend"] is True
    unlabelled = tenant.api.create(JOBS, job("free", 0, quota="", suspend=False))
    assert unlabelled["spec"]["suspend"] is False


def test_a_labelled_job_that_forgot_to_suspend_is_refused_where_nothing_can_suspend_it(
    cluster: Cluster, tenant: Tenant
):
    def forgets(**query: str) -> None:
        tenant.api.create(JOBS, job("forgot", suspend=False), **query)

    with without_admission(cluster, kind="mutating"):
        until(lambda: words_of(lambda: forgets(dryRun="All")), "as an older cluster")
        refused(forgets, "add suspend: true")


def test_a_pod_on_a_node_is_not_taken_out_of_the_api_while_its_containers_run(tenant: Tenant):
    """`kubectl delete --force`, directly, for a whole selection, or by an eviction: a place must be free before it is given again."""
    one = placed(tenant, "runs")
    name = one["metadata"]["name"]
    at_once = {"gracePeriodSeconds": 0}
    refused(lambda: tenant.api.delete(f"{PODS}/{name}", **at_once), "its containers may still run")
    refused(lambda: tenant.api.delete(PODS, **at_once), "its containers may still run")
    body = {"metadata": {"name": name}, "deleteOptions": at_once}
    refused(lambda: tenant.api.create(f"{PODS}/{name}/eviction", body), "its containers may still run")
    tenant.api.delete(f"{PODS}/{name}", gracePeriodSeconds=1)
    until(lambda: tenant.admin.find(f"{PODS}/{name}") is None, "it leaves with a grace")
    tenant.api.create(PODS, pod("plain"))
    until(lambda: tenant.admin.get(f"{PODS}/plain")["status"].get("phase") == "Running", "it runs")
    tenant.api.delete(f"{PODS}/plain", **at_once)


def test_a_queued_job_gives_its_pods_a_grace(tenant: Tenant):
    """With a grace of 0 every deletion, also by a controller, takes the pod out of the API before its containers end."""
    hasty = job("x")
    hasty["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 0
    refused(lambda: tenant.api.create(JOBS, hasty), "terminationGracePeriodSeconds")


def test_pods_of_other_queued_objects_have_a_grace_too(cluster: Cluster, tenant: Tenant):
    """A JobSet has no rule for it in its template, so that each pod with GPUs is looked at."""
    namespace, name = "jobset-system", "jobset-controller-manager"
    tenant.admin.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    tenant.admin.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    binding = {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
    tenant.admin.create(f"{RBAC}/namespaces/{TEAM}/rolebindings", binding)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    operator = Api(cluster.kubeconfig_of_account(namespace, name))

    def makes(grace: int) -> None:
        body = pod("x", 1, labels={OBJECT: "u", GROUP: "0"}, schedulingGates=[GATE])
        body["metadata"]["ownerReferences"] = [owner]
        body["spec"]["terminationGracePeriodSeconds"] = grace
        operator.create(PODS, body, dryRun="All")

    until(lambda: words_of(lambda: makes(1)) == "", "its rights are known")
    refused(lambda: makes(0), "without a grace")
    operator.close()


# -- namespaces, and what must go on ---------------------------------------------------------------------------------


def test_whose_a_namespace_is_is_not_said_by_its_tenants(tenant: Tenant):
    """Ann may change her own namespace object, and may make namespaces, as some self-service portals let her."""
    rules = [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "patch", "create"]}]
    tenant.admin.create(f"{RBAC}/clusterroles", {"metadata": {"name": "portal"}, "rules": rules})
    subject = {"kind": "ServiceAccount", "name": "ann", "namespace": TEAM}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "portal"}
    tenant.admin.create(
        f"{RBAC}/clusterrolebindings",
        {"metadata": {"name": "portal"}, "roleRef": role, "subjects": [subject]},
    )
    try:
        until(
            lambda: words_of(lambda: tenant.api.get(f"/api/v1/namespaces/{TEAM}")) == "",
            "its rights are known",
        )
        for label in ("speech", None):
            body = {"metadata": {"labels": {"quotatree.io/workspace": label}}}
            refused(
                partial(tenant.api.merge, f"/api/v1/namespaces/{TEAM}", body),
                "may change Workspaces",
            )
        for made in (
            {"name": "quotatree-speech"},
            {"name": "other", "labels": {"quotatree.io/workspace": "speech"}},
        ):
            refused(
                partial(tenant.api.create, "/api/v1/namespaces", {"metadata": made}),
                "may change Workspaces",
            )
        tenant.api.merge(f"/api/v1/namespaces/{TEAM}", {"metadata": {"labels": {"team": "vision"}}})
    finally:
        for path in ("clusterrolebindings/portal", "clusterroles/portal"):
            tenant.admin.delete(f"{RBAC}/{path}")


def test_jobs_end_are_collected_and_their_namespace_goes(tenant: Tenant):
    """The controllers of Kubernetes are refused nothing: finalizers, owners, status, garbage, deletion of a namespace."""
    one = placed(tenant, "runs")
    path = f"{PODS}/{one['metadata']['name']}"
    tenant.admin.merge(path, {"metadata": {"annotations": {"play.quotatree.io/end": "now"}}})
    until(lambda: tenant.admin.get(f"{JOBS}/runs")["status"].get("succeeded") == 1, "it ends")
    tenant.api.merge(f"{JOBS}/runs", {"spec": {"ttlSecondsAfterFinished": 0}})
    until(lambda: tenant.admin.find(f"{JOBS}/runs") is None, "it is collected")
    until(lambda: tenant.admin.find(path) is None, "with its pod")
    released(tenant, "orphaned")
    tenant.api.delete(f"{JOBS}/orphaned", propagationPolicy="Orphan")
    until(lambda: tenant.admin.find(f"{JOBS}/orphaned") is None, "its pods lose their owner")
    queued(tenant, "left")
    tenant.admin.delete(f"/api/v1/namespaces/{TEAM}")
    until(lambda: tenant.admin.find(f"/api/v1/namespaces/{TEAM}") is None, "the namespace goes")
