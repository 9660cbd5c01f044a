"""Modules, addresses, volumes, refusals and faults of the engine, on a real control plane."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quotatree.client.errors import ClientError
from tests.kubernetes.processes import until
from tests.kubernetes.story import IMAGE, Story

Begin = Callable[..., Story]
TEAM = "quotatree-team"


@pytest.fixture
def told(story: Begin) -> Story:
    found = story(nodes=2, environment={"QUOTATREE_KUBERNETES_BIND_SECONDS": "3"})
    found.tree(16, {})
    return found


def events(story: Story, job: str) -> list[str]:
    return [one["kind"] for one in story.server.client.events.list(job=job)]


def test_a_program_that_the_cluster_would_not_take_is_refused_at_submit_in_its_words(told: Story):
    bad = {"image": IMAGE, "volumes": [{"name": "Not_A_Name"}]}
    with pytest.raises(ClientError, match=r"spec\.volumes\[0\]\.name"):
        told.submit("bad", "root", 1, program=bad)
    with pytest.raises(ClientError, match="cannot share a GPU"):
        told.submit("half", "root", 0.5)  # type: ignore[arg-type]
    assert list(told.server.client.jobs.list()) == []


def test_a_service_stands_behind_one_address_and_counts_replicas_that_are_ready(told: Story):
    service = told.submit(
        "answers",
        "root",
        1,
        replicas=2,
        module="EAS",
        program={"image": IMAGE, "port": 9000, "health": "/ok"},
    )
    told.runs(service)
    until(lambda: told.server.client.jobs.endpoint(service)["ready"] == 2, "both are ready")
    address = told.server.client.jobs.endpoint(service)["address"]
    assert address == f"http://{service}-1.{TEAM}.svc:9000"
    told.play(told.pods(service)[0], ready="false")
    until(lambda: told.server.client.jobs.endpoint(service)["ready"] == 1, "one is not healthy any more")


def test_a_notebook_keeps_its_volume_through_a_stop_and_has_a_token_of_its_own(told: Story):
    notebook = told.submit("lab", "root", 1, module="DSW", program={"image": IMAGE, "storage": "1Gi"})
    until(lambda: told.pods(notebook) != [], "its pod was made")
    claim = f"/api/v1/namespaces/{TEAM}/persistentvolumeclaims/{notebook}"
    uid = told.cluster.api.get(claim)["metadata"]["uid"]
    assert len(told.server.client.jobs.endpoint(notebook)["token"] or "") > 20
    told.server.client.jobs.stop(notebook)
    until(lambda: not told.pods(notebook), "its pod is gone")
    told.server.client.jobs.start(notebook)
    until(lambda: told.pods(notebook) != [], "it runs again")
    assert told.cluster.api.get(claim)["metadata"]["uid"] == uid


def test_a_job_that_kube_scheduler_does_not_place_takes_work_once_and_is_on_hold(told: Story):
    """P7: its pod asks for a node that there is not, so a second eviction would be as fruitless as the first."""
    client = told.server.client
    client.quotas.set_policies("root", {"self_level": {"high": "6-9", "low": "1-5"}})
    low = told.submit("low", "root", 8, replicas=2)
    told.runs(low)
    program = {"image": IMAGE, "node_labels": {"disk": "none-has-it"}}
    picky = told.submit("picky", "root", 8, replicas=2, priority=9, program=program)
    told.becomes(picky, "OnHold")
    (told_of,) = [one for one in client.events.list(job=picky) if one["kind"] == "job.did_not_begin"]
    assert "kube-scheduler did not place it" in told_of["body"]["detail"]
    told.runs(low)
    assert len([entry for entry in client.preemptions.list() if entry["preemptor"] is not None]) == 1
    client.jobs.release(picky)
    told.becomes(picky, "Running")
    assert told.broken_promises([picky, low]) == []


def test_what_others_run_is_taken_off_and_shown(told: Story):
    told.cluster.api.create(
        "/api/v1/namespaces/default/pods",
        {
            "metadata": {"name": "theirs"},
            "spec": {
                "nodeName": "node-0",
                "containers": [
                    {"name": "a", "image": IMAGE, "resources": {"limits": {"nvidia.com/gpu": "3"}}}
                ],
            },
        },
    )
    until(lambda: foreign(told) == 3, "three GPUs are foreign")
    job = told.submit("whole", "root", 8, replicas=2)
    until(lambda: told.job(job)["reason"] is not None, "it was tried")
    assert told.phase(job) == "Waiting"
    told.cluster.api.delete("/api/v1/namespaces/default/pods/theirs")
    told.runs(job)


def foreign(story: Story) -> float:
    return sum(node["foreign"]["gpus"] for node in story.server.client.nodes.list())


def test_what_still_runs_on_a_node_that_comes_back_has_its_gpus_until_it_is_gone(told: Story):
    """R5, A7: the job runs elsewhere meanwhile, and nobody else is given what its old pod has."""
    job = told.submit("long", "root", 8, grace="20s")
    told.runs(job)
    (old,) = told.pods(job)
    node = old["spec"]["nodeName"]
    told.cluster.nodes.lose(node)
    until(lambda: told.job(job)["run"] == 2 and told.phase(job) == "Running", "it runs elsewhere")
    told.cluster.nodes.bring_back(node)
    until(lambda: state(told, node) == "Ready", "the node is back")
    if any(pod["metadata"]["uid"] == old["metadata"]["uid"] for pod in told.pods(job)):
        assert foreign(told) == 8
    until(lambda: foreign(told) == 0, "the old pod is gone")


def test_a_pod_that_never_leaves_keeps_only_its_own_preemptor_waiting(story: Begin):
    told = story(nodes=2)
    told.tree(16, {}, self_level={"high": "6-9", "low": "1-5"})
    low = [told.submit(f"low{n}", "root", 8, priority=1) for n in range(2)]
    for job in low:
        told.runs(job)
    told.play(told.pods(low[0])[0], stuck="true")
    told.play(told.pods(low[1])[0], leaves_after="0s")
    high = [told.submit(f"high{n}", "root", 8, priority=9) for n in range(2)]
    until(lambda: sorted(told.phase(job) for job in high) == ["Held", "Running"], "one of them starts")
    assert told.broken_promises([*low, *high]) == []
    told.play(told.pods(low[0])[0], stuck=None, leaves_after="0s")
    until(lambda: all(told.phase(job) == "Running" for job in high), "and the other once it has left")


def state(story: Story, name: str) -> str:
    return str(next(node["state"] for node in story.server.client.nodes.list() if node["name"] == name))
