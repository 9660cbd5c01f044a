"""Services on a real control plane: who answers while replicas are not ready, a restart one by one, and what was printed (P12, E2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kubernetes.api import Thing, condition
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, REPLICA_LABEL, Story

TEAM = "quotatree-team"


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


def test_a_service_is_whole_again_when_the_server_is_killed_in_the_middle_of_a_restart(told: Story):
    job = service(told, 3)
    before = uids(told, job)
    told.server.client.jobs.restart(job)
    until(lambda: set(uids(told, job).values()) - set(before.values()), "the first one is replaced")
    told.server.kill()
    told.server.start()
    until(lambda: ready(told, job) == 3, "all are ready again", 60)
    assert told.broken_promises([job]) == []
    assert (told.phase(job), told.job(job)["preempted"]) == ("Running", 0)


def serves(pod: Thing) -> bool:
    return condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def test_what_a_replica_printed_is_read_from_its_pod_also_when_it_has_ended(story: Callable[..., Story]):
    told = story(nodes=2, environment={"QUOTATREE_KUBERNETES_OUTPUT_SECONDS": "15"})
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
    pods = f"/api/v1/namespaces/{TEAM}/pods"
    until(lambda: told.cluster.api.items(pods) == [], "then its pods are taken away")
