"""Services on a real control plane: who answers while replicas are not ready, a restart one by one, and what was printed (P12, E2)."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.kubernetes.api import Thing, condition
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, REPLICA_LABEL, Story

TEAM = "quotatree-team"
LOOKS_AGAIN_SECONDS = 3
"""By then a rolling restart has gone on, if it does."""


@pytest.fixture
def told(story: Callable[..., Story]) -> Story:
    found = story(nodes=2)
    found.tree(16, {})
    return found


def service(told: Story, replicas: int) -> str:
    job = told.submit(
        "answers", "root", 2, replicas=replicas, module="EAS", program={"image": IMAGE, "port": 9000}
    )
    told.runs(job)
    until(lambda: ready(told, job) == replicas, "all are ready")
    return job


def ready(told: Story, job: str) -> int:
    return told.server.client.jobs.endpoint(job)["ready"]


def addresses(told: Story, job: str) -> dict[str, bool]:
    """Pods behind the Service of a job, and whether each gets requests, as kube-proxy would read it."""
    found = told.cluster.api.items(
        f"/apis/discovery.k8s.io/v1/namespaces/{TEAM}/endpointslices",
        labelSelector=f"kubernetes.io/service-name={job}-1",
    )
    return {
        one["targetRef"]["name"]: bool(one["conditions"].get("ready"))
        for part in found
        for one in part.get("endpoints") or ()
    }


def uids(told: Story, job: str) -> dict[str, str]:
    return {pod["metadata"]["labels"][REPLICA_LABEL]: pod["metadata"]["uid"] for pod in told.pods(job)}


def test_only_replicas_that_are_ready_get_requests(told: Story):
    job = service(told, 2)
    until(lambda: sorted(addresses(told, job).values()) == [True, True], "both get requests")
    sick, well = told.pods(job)
    told.play(sick, ready="false")
    until(lambda: addresses(told, job).get(sick["metadata"]["name"]) is False, "the sick one gets none")
    assert addresses(told, job)[well["metadata"]["name"]] is True
    until(lambda: ready(told, job) == 1, "and is not counted")
    assert told.phase(job) == "Running", "to be not ready is not to be gone"
    assert told.job(job)["running_replicas"] == 2
    told.play(sick, ready=None)
    until(lambda: sorted(addresses(told, job).values()) == [True, True], "it gets requests again")
    until(lambda: ready(told, job) == 2, "and counts")
    (probe,) = (one["readinessProbe"] for one in sick["spec"]["containers"])
    assert probe["tcpSocket"] == {"port": 9000}


def test_a_rolling_restart_replaces_one_replica_after_the_other_and_waits_until_each_is_ready(told: Story):
    job = service(told, 3)
    before, nodes = uids(told, job), {pod["spec"]["nodeName"] for pod in told.pods(job)}
    least = [3]

    def watched() -> bool:
        least[0] = min(least[0], sum(serves(pod) for pod in told.pods(job)))
        now = uids(told, job)
        return len(now) == 3 and not set(now.values()) & set(before.values())

    told.server.client.jobs.restart(job)
    until(watched, "every replica is another pod", 120)
    until(lambda: ready(told, job) == 3, "all are ready")
    assert least[0] >= 2, "never more than one is away"
    assert {pod["spec"]["nodeName"] for pod in told.pods(job)} == nodes, "each where it was"
    assert (told.job(job)["run"], told.job(job)["preempted"]) == (1, 0)
    assert told.broken_promises([job]) == []


@pytest.mark.parametrize("back", ["while it leaves", "when it is gone"])
@pytest.mark.parametrize("turn", [0, 1, 2])
def test_a_restart_goes_on_when_the_server_is_killed_while_a_replica_is_replaced(
    told: Story, turn: int, back: str
):
    """A7: in the same run. A replica that is away for its restart is not lost, else the whole service would stop for it."""
    job = service(told, 3)
    before = uids(told, job)
    (replica,) = (pod for pod in told.pods(job) if pod["metadata"]["labels"][REPLICA_LABEL] == str(turn))
    told.play(replica, leaves_after="4s" if back == "when it is gone" else "15s")
    told.server.client.jobs.restart(job)
    until(lambda: is_leaving(told, replica), "its turn has come", 60)
    told.server.kill()
    if back == "when it is gone":
        until(lambda: str(turn) not in uids(told, job), "it is gone")
    told.server.start()
    until(lambda: not set(uids(told, job).values()) & set(before.values()), "all are replaced", 60)
    until(lambda: ready(told, job) == 3, "all are ready again", 60)
    assert told.broken_promises([job]) == []
    assert [e["body"] for e in told.server.client.events.list(job=job) if e["kind"] == "job.lost"] == []
    assert (told.phase(job), told.job(job)["run"], told.job(job)["preempted"]) == ("Running", 1, 0)


def test_a_replica_that_came_after_a_restart_is_not_restarted_by_the_next_server(told: Story):
    job = service(told, 2)
    before = uids(told, job)
    told.server.client.jobs.restart(job)
    until(lambda: not set(uids(told, job).values()) & set(before.values()), "both are replaced", 60)
    told.server.client.jobs.resize(job, replicas=3, max_replicas=3)
    until(lambda: ready(told, job) == 3, "there are three", 60)
    grown = uids(told, job)
    told.server.kill()
    told.server.start()
    told.runs(told.submit("other", "root", 2, module="EAS", program={"image": IMAGE, "port": 9000}))
    end = time.monotonic() + LOOKS_AGAIN_SECONDS
    while time.monotonic() < end:
        assert uids(told, job) == grown
        time.sleep(0.1)


def is_leaving(told: Story, pod: Thing) -> bool:
    name = pod["metadata"]["name"]
    return any(
        one["metadata"]["name"] == name and "deletionTimestamp" in one["metadata"]
        for one in told.cluster.api.items(f"/api/v1/namespaces/{TEAM}/pods")
    )


def serves(pod: Thing) -> bool:
    return condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def test_what_a_replica_printed_is_read_from_its_pod_also_when_it_has_ended(story: Callable[..., Story]):
    told = story(nodes=2, environment={"QUOTATREE_KUBERNETES_OUTPUT_SECONDS": "600"})
    told.tree(16, {})
    job = told.submit("train", "root", 2, replicas=2)
    told.runs(job)
    logs = told.server.client.jobs.logs
    whole = b"".join(logs(job, replica=1))
    assert whole.decode().endswith("hello from a pod\n")
    assert b"".join(logs(job, replica=1, offset=6)) == whole[6:]
    assert b"".join(logs(job, replica=0, tail_lines=1)) == whole.splitlines(keepends=True)[-1]
    told.end(job)
    told.becomes(job, "Succeeded")
    assert b"".join(logs(job, replica=1)) == whole
    told.server.kill()
    told.server.start()
    assert b"".join(told.server.client.jobs.logs(job, replica=1)) == whole, "another server finds it too"
    told.server.kill()
    told.server.start(environment={"QUOTATREE_KUBERNETES_OUTPUT_SECONDS": "1"})
    pods = f"/api/v1/namespaces/{TEAM}/pods"
    until(lambda: told.cluster.api.items(pods) == [], "then its pods are taken away")
