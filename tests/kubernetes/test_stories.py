"""A small tree on a real control plane: what happens to pods, nodes and jobs when somebody interferes."""

from __future__ import annotations

import pytest

from quotatree.client.errors import ClientError
from tests.kubernetes.api import Thing
from tests.kubernetes.nodes import NODES
from tests.kubernetes.nodes import node as new_node
from tests.kubernetes.processes import until
from tests.kubernetes.story import Story, gpus_of, node_of

FOREIGN = "/api/v1/namespaces/default/pods"


@pytest.fixture
def small(story) -> Story:
    """Two nodes of 8 GPUs; a root of 16 with two teams of 8, which may take work of priority 1 to 3 below it."""
    made: Story = story(nodes=2)
    made.tree(16, {"a": 8, "b": 8}, child_level={"priorities": "1-3"})
    return made


def test_the_whole_example_of_128_gpus(story):
    """Q2, P2, P5, P9, P14: a service arrives at the parent, the two that lose least go, and come back when it ends."""
    told: Story = story(nodes=16)
    told.tree(128, {"Quota1.1": 48, "Quota1.2": 80}, child_level={"priorities": "1-3"})
    first = [told.submit(f"train-{n}", "Quota1.1", 8, priority=2) for n in range(4)]
    first += [told.submit("chat", "Quota1.1", 8, replicas=2, priority=3)]
    second = [told.submit("vision", "Quota1.2", 8, replicas=4, priority=4)]
    second += [told.submit(f"sweep-{n}", "Quota1.2", 8, priority=1) for n in range(6)]
    for job in (*first, *second):
        told.runs(job)
    assert sum(gpus_of(pod) for pod in told.pods()) == 128
    service = told.submit("service", "root", 8, replicas=2, module="EAS", priority=5)
    told.runs(service)
    until(lambda: told.job(service)["running_replicas"] == 2, "both replicas run")
    victims = [job for job in (*first, *second) if told.phase(job) == "Waiting"]
    assert sorted(told.job(job)["priority"] for job in victims) == [1, 1], (
        "the lowest priority goes first (P5)"
    )
    until(lambda: len(told.pods(service)) == 2, "both have their pods")
    assert told.broken_promises([*first, *second, service]) == []
    told.server.client.jobs.cancel(service)
    for job in victims:
        told.runs(job)
    until(lambda: sum(gpus_of(pod) for pod in told.pods()) == 128, "all GPUs are used again")


def test_a_job_runs_as_a_pod_on_the_node_that_was_chosen_and_ends_with_it(small: Story):
    job = small.submit("train", "a", 4)
    small.runs(job)
    (pod,) = small.pods(job)
    run = small.server.client.jobs.runs(job)[-1]
    assert pod["spec"]["nodeName"] == run["places"][0]["node"] == node_of(pod)
    assert pod["spec"]["terminationGracePeriodSeconds"] >= 1
    assert pod["spec"]["priorityClassName"] == "quotatree"
    assert pod["spec"]["preemptionPolicy"] == "Never"
    small.end(job)
    small.becomes(job, "Succeeded")


def test_a_pod_that_fails_fails_its_job(small: Story):
    job = small.submit("train", "a", 4)
    small.runs(job)
    (pod,) = small.pods(job)
    small.play(pod, exit_code="3", end="now")
    small.becomes(job, "Failed")


def test_a_pod_deleted_by_hand_comes_back_and_is_no_preemption(small: Story):
    job = small.submit("train", "a", 4)
    small.runs(job)
    (before,) = small.pods(job)
    small.cluster.api.delete(small.path(before), gracePeriodSeconds=0)
    until(
        lambda: [one for one in small.pods(job) if one["metadata"]["uid"] != before["metadata"]["uid"]],
        "a pod is there again",
    )
    small.runs(job)
    assert small.job(job)["preempted"] == 0
    assert small.broken_promises([job]) == []


def test_a_pod_that_kube_scheduler_refuses_is_queued_again_and_the_reason_is_told(story):
    """A taint that nobody tolerates: the core does not know it, kube-scheduler does."""
    told: Story = story(nodes=2, environment={"QUOTATREE_KUBERNETES_BIND_SECONDS": "2"})
    told.tree(16, {"a": 8, "b": 8})
    for node in ("node-0", "node-1"):
        taint = {"key": "closed", "value": "yes", "effect": "NoSchedule"}
        told.cluster.api.merge(f"/api/v1/nodes/{node}", {"spec": {"taints": [taint]}})
    job = told.submit("train", "a", 8)
    until(
        lambda: "untolerated taint" in str(list(told.server.client.events.list(job=job))),
        "the reason is told",
    )
    until(lambda: "untolerated taint" in str(told.server.client.jobs.explain(job)), "explain shows its words")
    assert told.job(job)["preempted"] == 0
    for node in ("node-0", "node-1"):
        told.cluster.api.merge(f"/api/v1/nodes/{node}", {"spec": {"taints": None}})
    told.runs(job, 120)


def test_a_node_that_dies_gives_its_jobs_back_and_returns(small: Story):
    """R5: neither counts as a preemption."""
    jobs = [small.submit(f"train-{quota}", quota, 8) for quota in ("a", "b")]
    for job in jobs:
        small.runs(job)
    lost = node_of(small.pods(jobs[0])[0])
    small.cluster.nodes.lose(lost)
    until(lambda: small.server.client.nodes.get(lost)["state"] == "Lost", "the server knows")
    small.becomes(jobs[0], "Waiting")
    assert small.phase(jobs[1]) == "Running"
    small.cluster.nodes.bring_back(lost)
    small.runs(jobs[0])
    assert small.job(jobs[0])["preempted"] == 0
    assert small.broken_promises(jobs) == []


def test_a_node_that_is_deleted_goes_away_and_comes_back_when_it_is_made_again(story):
    """R5: its jobs are queued again at once; that it is shown as lost ends after a while."""
    told: Story = story(nodes=2, environment={"QUOTATREE_KUBERNETES_GONE_SECONDS": "3"})
    told.tree(16, {"a": 8, "b": 8})
    jobs = [told.submit(f"train-{quota}", quota, 8) for quota in ("a", "b")]
    for job in jobs:
        told.runs(job)
    gone = node_of(told.pods(jobs[0])[0])
    told.cluster.nodes.remove(gone)
    told.becomes(jobs[0], "Waiting")
    assert told.server.client.nodes.get(gone)["state"] == "Lost"
    until(lambda: gone not in [one["name"] for one in told.server.client.nodes.list()], "it is not shown")
    with pytest.raises(ClientError):
        told.server.client.nodes.get(gone)
    assert told.server.client.pools.list()[0]["gpus"] == 8
    told.cluster.api.create(NODES, new_node(gone, 8, "nvidia.com/gpu", {"nvidia.com/gpu.product": "A100"}))
    told.runs(jobs[0])
    assert node_of(told.pods(jobs[0])[0]) == gone
    assert told.server.client.nodes.get(gone)["state"] == "Ready"
    assert told.job(jobs[0])["preempted"] == 0
    assert told.broken_promises(jobs) == []


def test_a_cordoned_node_gets_nothing_new_and_keeps_what_runs(small: Story):
    job = small.submit("train", "a", 8)
    small.runs(job)
    used = node_of(small.pods(job)[0])
    free = "node-1" if used == "node-0" else "node-0"
    for node in ("node-0", "node-1"):
        small.cluster.nodes.cordon(node)
    until(lambda: small.server.client.nodes.get(free)["state"] == "Cordoned", "the server knows")
    other = small.submit("other", "b", 8)
    until(lambda: small.job(other)["reason"] is not None, "it says why it waits")
    assert small.phase(other) == "Waiting"
    assert small.phase(job) == "Running"
    small.cluster.nodes.cordon(free, on=False)
    small.runs(other)


def test_what_foreign_pods_use_is_not_given_out(small: Story):
    for node in ("node-0", "node-1"):
        small.cluster.api.create(FOREIGN, foreign(f"other-{node}", node, 2))
    until(lambda: sum(one["free_gpus"] for one in small.server.client.nodes.list()) == 12, "it is subtracted")
    large = small.submit("large", "a", 8)
    until(lambda: small.job(large)["reason"] is not None, "it says why it waits")
    assert small.phase(large) == "Waiting"
    fits = small.submit("fits", "b", 6)
    small.runs(fits)
    small.cluster.api.delete(f"{FOREIGN}/other-node-0", gracePeriodSeconds=0)
    small.cluster.api.delete(f"{FOREIGN}/other-node-1", gracePeriodSeconds=0)
    small.runs(large)


def test_a_stuck_pod_blocks_only_its_own_preemptor(small: Story):
    """P9: the hold stays until the pods are really gone."""
    stuck, other = (small.submit(f"train-{quota}", quota, 8, priority=1) for quota in ("a", "b"))
    for job in (stuck, other):
        small.runs(job)
    small.play(small.pods(stuck)[0], stuck="true")
    small.play(small.pods(other)[0], stuck="true")
    first = small.submit("first", "root", 8, priority=9)
    until(lambda: [pod for pod in small.pods() if "deletionTimestamp" in pod["metadata"]], "somebody is told")
    (told,) = [pod for pod in small.pods() if "deletionTimestamp" in pod["metadata"]]
    second = small.submit("second", "root", 8, priority=9)
    until(lambda: sum("deletionTimestamp" in pod["metadata"] for pod in small.pods()) == 2, "both are told")
    free = next(pod for pod in small.pods() if pod["metadata"]["uid"] != told["metadata"]["uid"])
    small.play(free, stuck=None)
    until(lambda: "Running" in {small.phase(first), small.phase(second)}, "the other preemptor runs")
    assert {small.phase(first), small.phase(second)} == {"Running", "Held"}
    assert small.broken_promises([stuck, other, first, second]) == []


def test_an_api_server_that_restarts_in_the_middle_of_an_eviction_changes_nothing(small: Story):
    """All watches end, and their versions are too old afterwards (410)."""
    victim = small.submit("victim", "a", 8, priority=1, grace="5s")
    other = small.submit("other", "b", 8, priority=9)
    for job in (victim, other):
        small.runs(job)
    preemptor = small.submit("preemptor", "root", 8, priority=5)
    until(lambda: "deletionTimestamp" in small.pods(victim)[0]["metadata"], "it was told to go")
    small.cluster.restart("kube-apiserver")
    small.runs(preemptor)
    small.becomes(victim, "Waiting")
    assert small.phase(other) == "Running"
    assert small.broken_promises([victim, other, preemptor]) == []
    small.end(preemptor)
    small.becomes(preemptor, "Succeeded")
    small.runs(victim)


def test_an_etcd_that_is_gone_for_ten_seconds_changes_nothing(small: Story):
    running = small.submit("running", "a", 8)
    small.runs(running)
    with small.cluster.without("etcd", seconds=10):
        waiting = small.submit("waiting", "b", 8)
    small.runs(waiting, 120)
    assert small.phase(running) == "Running"
    assert small.job(running)["run"] == 1, "nobody took the nodes for lost"
    assert small.broken_promises([running, waiting]) == []


def test_a_program_that_the_cluster_would_refuse_is_refused_at_submit(small: Story):
    with pytest.raises(ClientError, match="image"):
        small.submit("wrong", "a", 1, program={"command": ["train"]})


def test_a_part_of_a_gpu_is_refused_with_the_reason(small: Story):
    with pytest.raises(ClientError, match="share"):
        small.submit("half", "a", 0, groups=[{"gpus": 0.5}])


def foreign(name: str, node: str, gpus: int) -> Thing:
    limits = {"nvidia.com/gpu": str(gpus)}
    return {
        "metadata": {"name": name},
        "spec": {
            "nodeName": node,
            "containers": [{"name": "main", "image": "none", "resources": {"limits": limits}}],
        },
    }
