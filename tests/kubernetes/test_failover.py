"""A second server on the same PostgreSQL takes over with jobs running, finds everything, and answers reads before that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quotatree.client.errors import ClientError
from tests.kubernetes.api import Api
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.manifests import NAMESPACE
from tests.kubernetes.processes import until
from tests.kubernetes.serving import Server
from tests.kubernetes.story import Story
from tests.kubernetes.witness import Witness
from tests.store import postgres

LEASE = {"QUOTATREE_LOOP_LEASE": "5s"}  # as in the chart
PROMISED_SECONDS = 10.0


@pytest.fixture
def database(postgres_home: str) -> Iterator[str]:
    yield postgres.create(postgres_home, "failover", postgres.TEMPLATE)
    postgres.drop(postgres_home, "failover")


def test_a_standby_answers_reads_and_takes_over_in_ten_seconds_with_jobs_running(
    cluster: Cluster, account: Path, tmp_path: Path, database: str, story: Callable[..., Story]
):
    told = story(nodes=2, database=database, environment=LEASE)
    first = told.server
    told.tree(16, {"a": 8, "b": 8}, child_level={"priorities": "1-3"})
    running = [told.submit(f"train-{quota}", quota, 8, priority=1, grace="3s") for quota in ("a", "b")]
    for job in running:
        told.runs(job)
    second = Server(tmp_path / "second", account, database=database, environment=LEASE)
    second.knows(first.token)
    second.start(wait=False)
    witness = Witness(Api(cluster.kubeconfig))
    try:
        until(lambda: reads(second) == set(running), "the standby tells what runs")
        with pytest.raises(ClientError, match="standing by"):
            Story(cluster, second).submit("refused", "a", 1)
        preemptor = told.submit("preemptor", "root", 8, priority=5)
        until(
            lambda: any("deletionTimestamp" in pod["metadata"] for pod in told.pods()),
            "an eviction is under way",
        )
        pods = {pod["metadata"]["uid"] for pod in told.pods()}
        first.kill()
        began = time.monotonic()
        until(second.writable, "the second server leads", PROMISED_SECONDS)
        took = time.monotonic() - began
        after = Story(cluster, second)
        after.runs(preemptor)
        kept = {pod["metadata"]["uid"] for pod in after.pods()}
        assert len(pods & kept) == 1, "who was not evicted runs on, in the same pod"
        assert after.broken_promises([*running, preemptor]) == []
        assert witness.faults == []
        assert took < PROMISED_SECONDS
    finally:
        witness.close()
        second.stop()


def reads(server: Server) -> set[str]:
    try:
        return {job["id"] for job in server.client.jobs.list(active=True)}
    except ClientError:
        return set()


def test_the_pod_of_the_server_that_leads_says_so_and_the_service_finds_it(
    cluster: Cluster, database: str, story: Callable[..., Story]
):
    """Two pods that stand for the servers' own: whoever leads is behind the Service that clients use."""
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
    for name in ("server-0", "server-1"):
        container = {"name": "server", "image": "none"}
        body = {"metadata": {"name": name, "labels": {"app": "test"}}, "spec": {"containers": [container]}}
        cluster.api.create(pods, body)
    first = story(nodes=1, database=database, environment={**LEASE, **of_pod("server-0")}).server
    until(lambda: role(cluster, "server-0") == "leader", "the first says that it leads")
    second = Server(
        first.home.parent / "second",
        first.kubeconfig,
        database=database,
        environment={**LEASE, **of_pod("server-1")},
    )
    second.start(wait=False)
    until(lambda: role(cluster, "server-1") == "standby", "the second says that it stands by")
    first.stop()
    until(lambda: role(cluster, "server-1") == "leader", "the second says that it leads")
    assert role(cluster, "server-0") == "standby"
    second.stop()


def of_pod(name: str) -> dict[str, str]:
    return {"POD_NAMESPACE": NAMESPACE, "POD_NAME": name}


def role(cluster: Cluster, pod: str) -> str | None:
    found = cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}")["metadata"]["labels"]
    return found.get("quotatree.io/role")
