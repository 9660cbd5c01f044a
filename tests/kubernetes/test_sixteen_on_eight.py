"""A tenant with the ClusterRole `edit`, a quota of 8 GPUs and 32 in the cluster: whatever it tries, no more than 8 are on nodes at once.

All of the product is there: the server with the chart's role, and the chart's policies in the API server. A witness counts what
the tenant's pods have on nodes all the time. The table of docs/explanation/what-a-tenant-can-do.md names the stories.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import pytest

from quotatree.client.errors import ApiError
from tests.kubernetes.api import Api, Denied, Thing
from tests.kubernetes.processes import until
from tests.kubernetes.story import ENDED, Story
from tests.kubernetes.test_admission import in_force

TEAM = "team-tenant"
QUOTA_GPUS = 8
GPU = "nvidia.com/gpu"
PODS = f"/api/v1/namespaces/{TEAM}/pods"
JOBS = f"/apis/batch/v1/namespaces/{TEAM}/jobs"
ROLES = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{TEAM}/rolebindings"
EDIT = {
    "metadata": {"name": "ann"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
    "subjects": [{"kind": "ServiceAccount", "name": "ann", "namespace": TEAM}],
}
STUCK = {"play.quotatree.io/stuck": "true"}


@dataclass
class Attack:
    """`tenant` acts with the tenant's rights alone; `most` is what was ever seen on nodes."""

    told: Story
    tenant: Api
    most: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def submit(
        self, name: str, gpus: int = QUOTA_GPUS, *, notes: Thing | None = None, **spec: object
    ) -> None:
        limits = {"limits": {GPU: gpus}}
        pod = {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 600,
            "containers": [{"name": "c", "image": "i", "resources": limits}],
        }
        body = {
            "metadata": {"name": name, "labels": {"quotatree.io/quota": "mine"}},
            "spec": {
                "suspend": True,
                **spec,
                "template": {"metadata": {"annotations": notes or {}}, "spec": pod},
            },
        }
        self.tenant.create(JOBS, body)

    def pods(self, name: str) -> list[Thing]:
        return self.tenant.items(PODS, labelSelector=f"job-name={name}")

    def runs(self, name: str, count: int = 1) -> None:
        until(
            lambda: sum(one["status"].get("phase") == "Running" for one in self.pods(name)) == count,
            f"{count} pods of {name} run",
        )

    def play(self, pod: Thing, **notes: str | None) -> None:
        self.told.play(pod, **notes)

    def phase(self, name: str) -> str:
        return next((one["phase"] for one in self.told.server.client.jobs.list() if one["name"] == name), "")

    def kept_its_quota(self) -> None:
        """All of the quota was in use, as the witness has seen by now, and never more."""
        until(lambda: self.most >= QUOTA_GPUS, "the witness has seen it")
        assert self.most == QUOTA_GPUS

    def witness(self) -> None:
        while not self.over.wait(0.03):
            with suppress(Denied):
                self.most = max(self.most, sum(map(gpus_on_a_node, self.tenant.items(PODS))))


def gpus_on_a_node(pod: Thing) -> int:
    if not pod["spec"].get("nodeName") or pod["status"].get("phase") in ENDED:
        return 0
    return sum(int(one["resources"].get("limits", {}).get(GPU, 0)) for one in pod["spec"]["containers"])


@pytest.fixture
def attack(story: Callable[..., Story]) -> Iterator[Attack]:
    told = story(nodes=4)
    admin, cluster = told.cluster.api, told.cluster
    told.tree(32, {"mine": QUOTA_GPUS, "others": 24})
    labels = {"quotatree.io/workspace": "team"}
    admin.create("/api/v1/namespaces", {"metadata": {"name": TEAM, "labels": labels}})
    admin.create(f"/api/v1/namespaces/{TEAM}/serviceaccounts", {"metadata": {"name": "ann"}})
    admin.create(ROLES, EDIT)
    found = Attack(told, Api(cluster.kubeconfig_of_account(TEAM, "ann")))
    until(lambda: in_force(found.tenant), "the policies are in force")
    thread = threading.Thread(target=found.witness, daemon=True)
    thread.start()
    yield found
    found.over.set()
    thread.join()
    found.tenant.close()


def test_jobs_that_are_deleted_and_made_again_while_their_pods_stay(attack: Attack):
    """P9, ADR 0054."""
    attack.submit("first", notes=STUCK)
    attack.runs("first")
    attack.tenant.delete(f"{JOBS}/first", propagationPolicy="Background")
    for number in range(3):
        attack.submit(f"next-{number}", notes=STUCK)
        until(lambda name=f"next-{number}": attack.phase(name) in ("Held", "Running"), "it is planned")  # type: ignore[misc]
        attack.tenant.delete(f"{JOBS}/next-{number}", propagationPolicy="Background")
    attack.submit("last")
    until(lambda: attack.phase("last") in ("Held", "Running"), "it is planned")
    attack.told.server.kill()
    attack.told.server.start()
    assert attack.phase("last") == "Held", "what has not left is remembered"
    (first,) = attack.pods("first")
    attack.play(first, stuck=None, leaves_after="0s")
    attack.runs("last")
    attack.kept_its_quota()


def test_pods_that_are_deleted_while_their_controller_makes_new_ones(attack: Attack):
    attack.submit("train", 4, parallelism=2, completions=2, notes=STUCK)
    attack.runs("train", 2)
    for _ in range(3):
        for one in attack.pods("train"):
            attack.tenant.delete(f"{PODS}/{one['metadata']['name']}")
        until(lambda: len(attack.pods("train")) == 4, "their successors are made")
        at_the_gate = [one for one in attack.pods("train") if one["spec"].get("schedulingGates")]
        assert len(at_the_gate) == 2
    attack.kept_its_quota()


def test_a_gang_of_quotatree_itself_of_which_one_pod_is_deleted(attack: Attack):
    """Its job is lost and queued again; the other pod counts until it has left, also for a job of a higher priority."""
    told = attack.told
    gang = told.submit("gang", "mine", 4, replicas=2, grace="10m")
    told.runs(gang)
    namespace = "quotatree-team"
    attack.told.cluster.api.create(ROLES.replace(TEAM, namespace), EDIT)
    stays, goes = told.pods(gang)
    attack.play(stays, stuck="true")
    attack.play(goes, leaves_after="0s")
    urgent = told.submit("urgent", "mine", 8, priority=9)

    def deleted() -> bool:
        with suppress(Denied):  # its rights are not known yet
            attack.tenant.delete(told.path(goes))
        return told.job(gang)["phase"] != "Running"

    until(deleted, "the gang is lost")
    until(lambda: told.phase(urgent) in ("Held", "Running"), "it is planned")
    assert told.phase(urgent) == "Held"
    assert told.pods(urgent) == []
    attack.play(stays, stuck=None, leaves_after="0s")
    told.runs(urgent)
    assert told.phase(gang) == "Waiting"


def test_a_whole_pod_that_asks_for_more_than_its_job(attack: Attack):
    """Q3: the server makes it, so that the policies let it pass."""
    eight = {"name": "c", "image": "i", "resources": {"limits": {GPU: "8"}}}
    main = {"name": "main", "image": "i"}
    for pod in (
        {"containers": [main, eight]},
        {"containers": [main], "initContainers": [eight]},
        {"containers": [main], "initContainers": [{**eight, "restartPolicy": "Always"}]},
        {"containers": [main], "resourceClaims": [{"name": "x", "resourceClaimName": "x"}]},
    ):
        with pytest.raises(ApiError, match=r"program\.pod"):
            attack.told.submit("two", "mine", 1, program={"pod": pod})
    parts = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/mig-1g.5gb": "8"}}}
    with pytest.raises(ApiError, match="parts of GPUs"):
        attack.told.submit("parts", "mine", 1, program={"pod": {"containers": [main, parts]}})


def test_pods_that_a_finalizer_keeps_when_they_have_ended(attack: Attack):
    """P9: what holds no GPU any more keeps no job of others waiting."""
    told = attack.told
    first = told.submit("first", "mine", 8)
    told.runs(first)
    told.cluster.api.create(ROLES.replace(TEAM, "quotatree-team"), EDIT)
    (pod,) = told.pods(first)
    kept: Thing = {"metadata": {"finalizers": ["tenant.example.org/stay"]}}

    def is_kept() -> bool:
        with suppress(Denied):  # its rights are not known yet
            attack.tenant.merge(told.path(pod), kept)
            return True
        return False

    until(is_kept, "it has a finalizer")
    second = told.submit("second", "mine", 8)
    told.server.client.jobs.cancel(first)
    told.runs(second)
    assert told.cluster.api.get(told.path(pod))["metadata"]["deletionTimestamp"]
    told.cluster.api.merge(told.path(pod), {"metadata": {"finalizers": None}})


@pytest.mark.parametrize("how", ["success", "failure", "deadline"])
def test_pods_that_stay_when_their_job_is_over(attack: Attack, how: str):
    """A rule for its end, or a deadline, ends the Job while one of its pods goes on for its whole grace."""
    rules: dict[str, Thing] = {
        "success": {"successPolicy": {"rules": [{"succeededIndexes": "0"}]}},
        "failure": {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}}]}},
        "deadline": {"activeDeadlineSeconds": 4},
    }  # fmt: skip
    code = {} if how == "success" else {"play.quotatree.io/exit-code": "1"}
    attack.submit(
        "first",
        4,
        notes={**STUCK, **code},
        parallelism=2,
        completions=2,
        completionMode="Indexed",
        **rules[how],
    )
    attack.runs("first", 2)
    zero, one = sorted(attack.pods("first"), key=lambda pod: str(pod["metadata"]["name"]))
    if how != "deadline":
        attack.play(zero, end="now")
    path = f"{PODS}/{one['metadata']['name']}"
    until(lambda: "deletionTimestamp" in attack.tenant.get(path)["metadata"], "the other is told to go")
    attack.submit("second")
    until(lambda: attack.phase("second") == "Waiting", "the second waits")
    for pod in attack.pods("first"):
        attack.play(pod, stuck=None, leaves_after="0s")
    attack.runs("second")
    attack.kept_its_quota()


def test_a_storm_of_edits_between_planning_and_release(attack: Attack):
    """Each Job is edited at random, from before it is queued until after it runs: request, count, gate, labels, suspension."""
    random = Random(8)
    greedy = [{"name": "c", "image": "i", "resources": {"limits": {GPU: 8}}}]
    edits: list[Thing] = [
        {"spec": {"template": {"spec": {"containers": greedy}}}},
        {"spec": {"parallelism": 8}},
        {"spec": {"parallelism": 8, "template": {"spec": {"containers": greedy}}}},
        {"spec": {"parallelism": 1}},
        {"spec": {"suspend": False}},
        {"spec": {"suspend": True}},
        {"metadata": {"labels": {"quotatree.io/quota": None}}},
        {"spec": {"template": {"spec": {"schedulingGates": None}}}},
    ]

    def storm(name: str) -> None:
        for _ in range(40):
            with suppress(Denied):
                attack.tenant.merge(f"{JOBS}/{name}", random.choice(edits))

    for turn in range(4):
        names = [f"edited-{turn}-{number}" for number in range(3)]
        for name in names:
            attack.submit(name, random.choice((1, 4)), notes={"play.quotatree.io/leaves-after": "0s"})
        threads = [threading.Thread(target=storm, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in names:
            attack.tenant.delete(f"{JOBS}/{name}", propagationPolicy="Background")
    until(lambda: not attack.tenant.items(PODS), "all are gone")
    assert 0 < attack.most <= QUOTA_GPUS
