"""Jobs made with kubectl, on a real control plane: queued, resumed on their nodes, preempted, told; nothing twice (E7, A7, P9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.control.commands import values as do
from quotatree.control.world import SYSTEM
from quotatree.store.rows import EventRow
from tests.kubernetes.api import annotated
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.edge_server import EdgeServer
from tests.kubernetes.processes import until
from tests.kubernetes.team import TEAM, job, pods, runs, submit, team, tells


@pytest.fixture
def server(cluster: Cluster, tmp_path: Path) -> Iterator[EdgeServer]:
    with team(cluster, tmp_path) as made:
        yield made


def test_a_job_runs_on_the_nodes_that_were_planned_and_ends(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", gpus=4, pods=3)
    where = runs(cluster, "train", 3)
    planned = server.ask(
        lambda world: sorted(place.node for places in world.places.values() for place in places.values())
    )
    assert where == planned
    tells(cluster, "train", "Queued", "quota vision")
    tells(cluster, "train", "Started", where[0])
    for one in pods(cluster, "train"):
        path = f"/api/v1/namespaces/{TEAM}/pods/{one['metadata']['name']}"
        cluster.api.merge(path, {"metadata": {"annotations": {"play.quotatree.io/end": "now"}}})
    until(lambda: server.phases() == {}, "it is over here too")
    tells(cluster, "train", "Ended", "Succeeded")


def test_a_job_that_waits_says_why_and_starts_when_there_is_room(cluster: Cluster, server: EdgeServer):
    submit(cluster, "first", pods=4)
    runs(cluster, "first", 4)
    submit(cluster, "second", pods=2)
    tells(cluster, "second", "Waiting", "vision")
    assert job(cluster, "second")["spec"]["suspend"] is True
    assert pods(cluster, "second") == []
    cluster.kubectl("delete", "job", "first", "-n", TEAM)
    runs(cluster, "second", 2)


def test_a_victim_is_suspended_told_who_took_it_and_runs_again(cluster: Cluster, server: EdgeServer):
    """A job at the parent takes one of the four, by the child-level policy; the hold stays until the pod is gone (P2, P9)."""
    for number in range(4):
        submit(cluster, f"low-{number}")
    for number in range(4):
        runs(cluster, f"low-{number}")
    server.do(do.BindQuota(actor=SYSTEM, workspace="vision", quota="company"))
    submit(cluster, "boss", quota="company")
    runs(cluster, "boss")
    [victim] = [name for name, phase in server.phases().items() if phase == "Waiting"]
    assert job(cluster, victim)["spec"]["suspend"] is True
    boss = annotated(job(cluster, "boss"), "quotatree.io/job")
    assert boss is not None
    tells(cluster, victim, "Preempted", boss)
    used = [one["spec"].get("nodeName") for one in pods(cluster) if one["status"].get("phase") == "Running"]
    assert len(used) == len(set(used)) == 4  # each has a whole node
    cluster.kubectl("delete", "job", "boss", "-n", TEAM)
    runs(cluster, victim)


def test_a_job_that_names_a_quota_of_others_is_told_and_stays_suspended(cluster: Cluster, server: EdgeServer):
    submit(cluster, "greedy", quota="company")
    tells(cluster, "greedy", "Refused", "W1")
    assert job(cluster, "greedy")["spec"]["suspend"] is True
    assert server.phases() == {}


def test_a_job_resumed_by_hand_gets_no_gpu_and_is_suspended_again(cluster: Cluster, server: EdgeServer):
    submit(cluster, "first", pods=4)
    runs(cluster, "first", 4)
    submit(cluster, "sly")
    tells(cluster, "sly", "Queued")
    cluster.kubectl("patch", "job", "sly", "-n", TEAM, "--type=merge", "-p", '{"spec": {"suspend": false}}')
    tells(cluster, "sly", "SuspendedAgain")
    until(lambda: pods(cluster, "sly") == [], "its pods are gone")
    assert job(cluster, "sly")["spec"]["suspend"] is True
    assert server.phases() == {"first": "Running", "sly": "Waiting"}


def test_a_pod_deleted_by_hand_comes_back_to_its_node(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", pods=2)
    before = runs(cluster, "train", 2)
    lost = pods(cluster, "train")[0]["metadata"]
    cluster.kubectl("delete", "pod", lost["name"], "-n", TEAM)
    until(lambda: all(one["metadata"]["uid"] != lost["uid"] for one in pods(cluster, "train")), "it is gone")
    assert runs(cluster, "train", 2) == before


def test_a_checkpoint_is_an_annotation(cluster: Cluster, server: EdgeServer):
    """P6: what was saved is not lost."""
    submit(cluster, "train")
    runs(cluster, "train")
    cluster.kubectl("annotate", "job", "train", "-n", TEAM, "quotatree.io/checkpoint=step-100")

    def saved() -> bool:
        return any(row.kind == "job.checkpointed" for row in server.store.table(EventRow))

    until(saved, "the checkpoint counts")


def test_a_restarted_server_finds_everything_and_submits_nothing_twice(cluster: Cluster, server: EdgeServer):
    submit(cluster, "runs", pods=4)
    runs(cluster, "runs", 4)
    submit(cluster, "waits")
    tells(cluster, "waits", "Queued")
    before = {one["metadata"]["uid"] for one in pods(cluster)}
    ids = server.ask(lambda world: sorted(world.state.jobs))
    server.stop()
    submit(cluster, "meanwhile")
    cluster.kubectl("delete", "job", "waits", "-n", TEAM)
    server.boot()
    tells(cluster, "meanwhile", "Queued")
    until(lambda: "waits" not in server.phases(), "what was deleted meanwhile is cancelled")
    assert {one["metadata"]["uid"] for one in pods(cluster)} == before
    assert set(server.ask(lambda world: sorted(world.state.jobs))) & set(ids)
    assert server.phases() == {"runs": "Running", "meanwhile": "Waiting"}


def test_the_api_server_dies_in_the_middle_of_an_eviction(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", pods=2)
    runs(cluster, "train", 2)
    [job_id] = server.ask(lambda world: list(world.state.jobs))
    server.do(do.StopJob(actor=SYSTEM, job=job_id))
    cluster.restart("kube-apiserver")
    until(lambda: pods(cluster, "train") == [], "its pods are gone")
    until(lambda: server.ask(lambda world: world.state.jobs[job_id].leaving == {}), "and it has left")
    assert job(cluster, "train")["spec"]["suspend"] is True
