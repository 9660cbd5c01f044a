"""The chart's rolling update over a change of the tables: the newer pods wait for the older leader, and no job feels it.

The Deployment and its controller are real; what runs in a pod of it is a server beside the cluster, one for each pod, of the version
that the pod's image names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from quotatree.store import Store
from quotatree.store.database import connect, parse_url, reading
from quotatree.store.form import newest, tables
from tests.kubernetes.api import Api, Thing
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.manifests import NAMESPACE, rendered
from tests.kubernetes.processes import until
from tests.kubernetes.serving import Server
from tests.kubernetes.story import Story
from tests.kubernetes.witness import Witness
from tests.newer import REVISION, newer_version
from tests.store import postgres

DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/quotatree"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
SERVERS = "app.kubernetes.io/component=server"
LEASE = {"QUOTATREE_LOOP_LEASE": "5s"}  # as in the chart
NOT_READY_YET = r"podAnnotations.play\.quotatree\.io/ready=false"
LEAVES = r"podAnnotations.play\.quotatree\.io/leaves-after=1s"


@pytest.fixture
def database(postgres_home: str) -> Iterator[str]:
    yield postgres.create(postgres_home, "rolling", postgres.TEMPLATE)
    postgres.drop(postgres_home, "rolling")


class Pods:
    """The pods of the chart's Deployment, each with its server; what a kubelet would do is done by `look`."""

    def __init__(
        self, cluster: Cluster, start: Callable[[str, str], Server], versions: dict[str, dict[str, str]]
    ) -> None:
        self._cluster = cluster
        self._start = start
        self._versions = versions
        self.servers: dict[str, Server] = {}
        self.stopped: set[str] = set()

    def install(self, version: str) -> None:
        text = rendered(
            self._cluster, "--set", f"image.tag={version}", "--set-string", NOT_READY_YET, "--set-string", LEAVES
        )  # fmt: skip
        mine = [one for one in yaml.safe_load_all(text) if one and one["kind"] in ("Deployment", "ConfigMap")]
        self._cluster.kubectl(
            "apply", "--server-side", "--force-conflicts", "-n", NAMESPACE, "-f", "-", input=yaml.safe_dump_all(mine)
        )  # fmt: skip

    def look(self) -> None:
        """Start servers of new pods, stop those of pods that are told to go, and say which are ready (as the probe: /healthz)."""
        there = {pod["metadata"]["name"]: pod for pod in self._cluster.api.items(PODS, labelSelector=SERVERS)}
        for name, pod in there.items():
            if "deletionTimestamp" not in pod["metadata"] and name not in self.servers:
                image = pod["spec"]["containers"][0]["image"]
                self.servers[name] = self._start(name, image.rpartition(":")[2])
        for name, server in self.servers.items():
            leaving = name not in there or "deletionTimestamp" in there[name]["metadata"]
            if leaving and name not in self.stopped:
                self.stopped.add(name)
                server.stop()
            elif not leaving:
                alive = server.alive and server.listens()
                self._annotate(there[name], "play.quotatree.io/ready", "true" if alive else "false")

    def _annotate(self, pod: Thing, key: str, value: str) -> None:
        if pod["metadata"]["annotations"].get(key) != value:
            path = f"{PODS}/{pod['metadata']['name']}"
            self._cluster.api.merge(path, {"metadata": {"annotations": {key: value}}})

    def rolled_out(self) -> bool:
        """Look; return whether all pods are of the version installed last, and available."""
        self.look()
        found = self._cluster.api.get(DEPLOYMENT)
        status, wanted = found["status"], found["spec"]["replicas"]
        counts = [status.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")]
        return status.get("observedGeneration") == found["metadata"]["generation"] and counts == [wanted] * 3

    def leader(self) -> Server | None:
        self.look()
        alive = [one for name, one in self.servers.items() if name not in self.stopped and one.alive]
        return next((one for one in alive if one.writable()), None)

    def close(self) -> None:
        self._cluster.kubectl("delete", "deployment", "quotatree", "-n", NAMESPACE, "--ignore-not-found")
        until(lambda: not self._cluster.api.items(PODS, labelSelector=SERVERS), "the servers' pods are gone")
        for server in self.servers.values():
            server.stop()


@pytest.fixture
def pods(cluster: Cluster, account: Path, tmp_path: Path, database: str) -> Iterator[Pods]:
    versions = {"old": {}, "new": newer_version(tmp_path)}

    def start(name: str, version: str) -> Server:
        of_pod = {"POD_NAMESPACE": NAMESPACE, "POD_NAME": name}
        server = Server(
            tmp_path / f"{version}-{name}", account, database=database, environment={**LEASE, **of_pod, **versions[version]}
        )  # fmt: skip
        server.start(wait=False)
        return server

    found = Pods(cluster, start, versions)
    yield found
    found.close()


def revision(url: str) -> str | None:
    engine = connect(parse_url(url))
    try:
        with reading(engine) as connection:
            return tables(connection).revision
    finally:
        engine.dispose()


def test_a_rolling_update_over_a_change_of_the_tables_ruins_nothing(
    cluster: Cluster, pods: Pods, database: str
):
    cluster.nodes.add(3, 8, labels={"nvidia.com/gpu.product": "A100"})
    pods.install("old")
    until(pods.rolled_out, "two servers run", 120.0)
    first = pods.leader()
    assert first is not None
    token = first.token
    story = Story(cluster, first)
    story.nodes_known(3)
    story.tree(24, {"a": 8, "b": 8})
    running = story.submit("train", "a", 8, grace="3s")
    story.runs(running)
    ends = story.submit("ends", "b", 4)
    story.runs(ends)
    before = {pod["metadata"]["uid"] for pod in story.pods(running)}
    witness = Witness(Api(cluster.kubeconfig))
    try:
        pods.install("new")

        def a_newer_one_waits() -> bool:
            pods.look()
            return any("an older version leads" in one.output() for one in pods.servers.values())

        until(a_newer_one_waits, "a newer server waits")
        if first.alive and first.writable():
            assert revision(database) == newest(), "not before the older leader has stopped"
        until(pods.rolled_out, "the update is rolled out", 180.0)
        until(lambda: pods.leader() is not None, "a server leads")
        leader = pods.leader()
        assert leader is not None
        leader.knows(token)
        after = Story(cluster, leader)
        assert revision(database) == REVISION
        assert {pod["metadata"]["uid"] for pod in after.pods(running)} == before
        after.end(ends)
        after.becomes(ends, "Succeeded")
        another = after.submit("another", "b", 8)
        after.runs(another)
        assert after.broken_promises([running, ends, another]) == []
        assert witness.faults == []
    finally:
        witness.close()
    said = [one.output() for one in pods.servers.values()]
    assert sum(text.count("\nmigrating to next") for text in said) == 1
    assert not [text for text in said if "Traceback" in text]
    store = Store.open(database)
    assert not store.faults_in_books()
    store.close()
