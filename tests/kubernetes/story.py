"""The words in which stories on a cluster are told: a tree, jobs, what became of them, and what must never be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from quotatree.client import types as t
from tests.kubernetes.api import Thing, names
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.processes import until
from tests.kubernetes.serving import Server

JOB_LABEL, RUN_LABEL, REPLICA_LABEL = "quotatree.io/job", "quotatree.io/run", "quotatree.io/replica"
ENDED = ("Succeeded", "Failed")
OVER = ("Succeeded", "Failed", "Cancelled", "Stopped")
IMAGE = "example.org/train:1"


class Story:
    def __init__(self, cluster: Cluster, server: Server) -> None:
        self.cluster = cluster
        self.server = server

    def nodes_known(self, count: int) -> None:
        """Wait until the server knows so many nodes that can be used."""
        until(
            lambda: sum(node["state"] == "Ready" for node in self.server.client.nodes.list()) == count,
            f"{count} nodes are known",
        )

    def pool(self) -> str:
        return self.server.client.pools.list()[0]["name"]

    def tree(self, gpus: int, children: dict[str, int], **root: Any) -> None:
        """A root over so many GPUs, its children with their mins, and a workspace `team` bound to all of them."""
        client = self.server.client
        top: Any = {"id": "root", "draws": {self.pool(): {"gpus": gpus}}, **root}
        client.quotas.create(top)
        for name, min_gpus in children.items():
            client.quotas.create({"id": name, "parent": "root", "min": {"gpus": min_gpus}})
        self.workspace("team", ("root", *children))

    def workspace(self, name: str, quotas: Iterable[str]) -> None:
        client = self.server.client
        client.workspaces.create({"id": name})
        for quota in quotas:
            client.workspaces.bind(name, quota)

    def submit(
        self,
        name: str,
        quota: str,
        gpus: int,
        *,
        replicas: int = 1,
        workspace: str = "team",
        key: str | None = None,
        **more: Any,
    ) -> str:
        """Queue a job and return its id. Its grace is 1 s unless said otherwise."""
        body: Any = {
            "name": name,
            "workspace": workspace,
            "quota": quota,
            "groups": [{"gpus": gpus, "replicas": replicas}],
            "grace": "1s",
            "program": {"image": IMAGE, "command": ["train"]},
            **more,
        }
        return self.server.client.jobs.submit(body, key=key)["id"]

    def job(self, job: str) -> t.JobOut:
        return self.server.client.jobs.get(job)

    def phase(self, job: str) -> str:
        return self.job(job)["phase"]

    def becomes(self, job: str, phase: str, seconds: float = 60.0) -> None:
        until(lambda: self.phase(job) == phase, f"{self.job(job)['name']} is {phase}", seconds)

    def runs(self, job: str, seconds: float = 60.0) -> None:
        """Wait until it runs and the cluster has confirmed it."""

        def confirmed() -> bool:
            found = self.server.client.jobs.runs(job)
            return self.phase(job) == "Running" and any(
                one["confirmed_ms"] and one["ended_ms"] is None for one in found
            )

        until(confirmed, f"{self.job(job)['name']} runs", seconds)

    def pods(self, job: str | None = None) -> list[Thing]:
        """Pods of a job, or of all jobs; those that have ended are not among them."""
        selector = JOB_LABEL if job is None else f"{JOB_LABEL}={job}"
        found = self.cluster.api.items("/api/v1/pods", labelSelector=selector)
        return [pod for pod in found if pod["status"].get("phase") not in ENDED]

    def path(self, pod: Thing) -> str:
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

    def play(self, pod: Thing, **annotations: str | None) -> None:
        """Steer a pod: see stages.yaml. `end="now"`, `leaves_after="0s"`, `stuck="true"`."""
        said = {f"play.quotatree.io/{name.replace('_', '-')}": value for name, value in annotations.items()}
        self.cluster.api.merge(self.path(pod), {"metadata": {"annotations": said}})

    def end(self, job: str) -> None:
        for pod in self.pods(job):
            self.play(pod, end="now")

    def broken_promises(self, jobs: Iterable[str]) -> list[str]:
        """What must never be: a lost job, a job with two runs at once, a GPU given twice (A7)."""
        faults = []
        known = {job["id"] for job in self.server.client.jobs.list()}
        faults += [f"{job} is lost" for job in jobs if job not in known]
        runs: dict[str, set[str]] = defaultdict(set)
        used: Counter[str] = Counter()
        replicas: Counter[tuple[str, str, str]] = Counter()
        for pod in self.pods():
            labels = pod["metadata"]["labels"]
            runs[labels[JOB_LABEL]].add(labels[RUN_LABEL])
            replicas[labels[JOB_LABEL], labels[RUN_LABEL], labels[REPLICA_LABEL]] += 1
            used[node_of(pod)] += gpus_of(pod)
        faults += [f"{job} runs as {sorted(many)}" for job, many in runs.items() if len(many) > 1]
        faults += [f"replica {one} has {count} pods" for one, count in replicas.items() if count > 1]
        faults += [f"{node} has given {gpus} of 8 GPUs" for node, gpus in used.items() if gpus > 8]
        return faults


def gpus_of(pod: Thing) -> int:
    limits = (one.get("resources", {}).get("limits", {}) for one in pod["spec"]["containers"])
    return sum(int(one.get("nvidia.com/gpu", 0)) for one in limits)


def node_of(pod: Thing) -> str:
    """The node a pod is on, or the one it must go to; "" where any will do."""
    bound = pod["spec"].get("nodeName")
    if bound:
        return str(bound)
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return ""
    term = required["nodeSelectorTerms"][0]
    wanted = [*term.get("matchFields", ()), *term.get("matchExpressions", ())]
    return str(
        next(one["values"][0] for one in wanted if one["key"] in ("metadata.name", "kubernetes.io/hostname"))
    )


def pod_names(pods: Iterable[Thing]) -> list[str]:
    return sorted(names(pods))
