"""What a tenant may do to a Job of kubectl, with admission switched off: nothing of it gives GPUs, or takes them from others (E7, A7, W2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.access.centre import Ceiling, Centre
from quotatree.control.commands import values as do
from quotatree.control.world import SYSTEM
from quotatree.core import Bounds, JobId
from quotatree.engines.base import StopOrder
from quotatree.engines.kubernetes import adopted_work
from quotatree.store.rows import EventRow
from tests.kubernetes.api import Thing, annotated
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.edge_server import EdgeServer
from tests.kubernetes.processes import until
from tests.kubernetes.story import gpus_of
from tests.kubernetes.team import JOBS, PODS, TEAM, alive, job, patch, pods, runs, submit, team, tells, told


@pytest.fixture
def server(cluster: Cluster, tmp_path: Path) -> Iterator[EdgeServer]:
    with team(cluster, tmp_path) as made:
        yield made


def our_id(cluster: Cluster, name: str) -> JobId:
    tells(cluster, name, "Queued")
    found = annotated(job(cluster, name), "quotatree.io/job")
    assert found is not None
    return JobId(found)


def kinds(server: EdgeServer, job: str = "") -> Counter[str]:
    """How often each kind of event was told, of one job or of all."""
    return Counter(row.kind for row in server.store.table(EventRow) if not job or row.job == job)


def leaves(server: EdgeServer) -> list[str]:
    """Jobs with replicas that are leaving: these still have their devices."""
    return server.ask(lambda world: [job for job, one in world.state.jobs.items() if one.leaving])


def resources(gpus: int) -> Thing:
    """The change of a template that asks for so many GPUs."""
    asked = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    return {"spec": {"template": {"spec": {"containers": [asked]}}}}


# -- what is adopted is known by its uid -----------------------------------------------------------------------------


def test_a_running_job_whose_label_is_taken_off_leaves_and_counts_until_it_has(
    cluster: Cluster, server: EdgeServer
):
    submit(cluster, "train", pods=2, stuck="true")
    runs(cluster, "train", 2)
    train = our_id(cluster, "train")
    cluster.kubectl("label", "job", "train", "-n", TEAM, "quotatree.io/quota-")
    tells(cluster, "train", "Unlabelled")
    until(lambda: job(cluster, "train")["spec"]["suspend"] is True, "it is suspended")
    until(lambda: all("deletionTimestamp" in one["metadata"] for one in pods(cluster, "train")), "told to go")
    assert leaves(server) == [train]
    for one in pods(cluster, "train"):
        notes = {"play.quotatree.io/stuck": None}
        cluster.api.merge(f"{PODS}/{one['metadata']['name']}", {"metadata": {"annotations": notes}})
    until(lambda: leaves(server) == [], "it has left")
    assert alive(cluster) == []


def test_a_label_taken_off_while_no_server_looks_is_seen_by_the_next(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", pods=2)
    runs(cluster, "train", 2)
    server.stop()
    cluster.kubectl("label", "job", "train", "-n", TEAM, "quotatree.io/quota-")
    notes = dict.fromkeys(("quotatree.io/job", "quotatree.io/run", "quotatree.io/places"))
    patch(cluster, "train", {"metadata": {"annotations": notes}})
    for one in pods(cluster, "train"):
        cluster.kubectl("label", "pod", one["metadata"]["name"], "-n", TEAM, "quotatree.io/object-")
    server.boot()
    until(lambda: alive(cluster) == [], "its pods are gone")
    until(lambda: leaves(server) == [], "it has left")
    assert server.phases() == {}


def test_pods_of_an_orphaning_delete_count_and_are_told_to_leave(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", pods=2, stuck="true")
    runs(cluster, "train", 2)
    train = our_id(cluster, "train")
    cluster.kubectl("delete", "job", "train", "-n", TEAM, "--cascade=orphan")

    def told_to_go() -> bool:
        found = cluster.api.items(PODS)
        return len(found) == 2 and all("deletionTimestamp" in one["metadata"] for one in found)

    until(told_to_go, "they are told to leave")
    assert leaves(server) == [train]
    for one in cluster.api.items(PODS):
        notes = {"play.quotatree.io/stuck": None}
        cluster.api.merge(f"{PODS}/{one['metadata']['name']}", {"metadata": {"annotations": notes}})
    until(lambda: leaves(server) == [], "they have left")


def test_a_pod_that_is_stripped_of_labels_and_owner_leaves_with_its_job(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", pods=2)
    runs(cluster, "train", 2)
    first = cluster.api.items(PODS)[0]["metadata"]
    bare = {"labels": dict.fromkeys(first["labels"]), "ownerReferences": None}
    cluster.api.merge(f"{PODS}/{first['name']}", {"metadata": bare})
    train = our_id(cluster, "train")
    server.do(do.StopJob(actor=SYSTEM, job=train))
    until(lambda: leaves(server) == [], "it has left")
    assert alive(cluster) == []


def test_a_job_that_was_deleted_counts_in_its_quota_until_its_pods_are_gone(
    cluster: Cluster, server: EdgeServer
):
    """P9: else one would run 16 GPUs on a quota of 8, for as long as a grace may be."""
    server.do(do.ScaleQuota(actor=SYSTEM, quota="vision", min=Bounds(8_000)))
    submit(cluster, "first", stuck="true")
    runs(cluster, "first")
    cluster.kubectl("delete", "job", "first", "-n", TEAM, "--wait=false")
    submit(cluster, "second")
    until(lambda: server.phases().get("second") in ("Held", "Running"), "second is planned")
    until(lambda: pods(cluster, "first")[0]["metadata"].get("deletionTimestamp"), "first is told to go")
    tells(cluster, "second", "Waiting", "WaitsForLeaving")
    assert server.phases() == {"first": "Cancelled", "second": "Held"}
    assert pods(cluster, "second") == []
    notes = {"play.quotatree.io/stuck": None}
    name = pods(cluster, "first")[0]["metadata"]["name"]
    cluster.api.merge(f"{PODS}/{name}", {"metadata": {"annotations": notes}})
    runs(cluster, "second")
    assert [one["metadata"]["labels"]["job-name"] for one in alive(cluster)] == ["second"]


def test_a_run_that_is_given_up_counts_until_the_rest_of_its_pods_are_gone(
    cluster: Cluster, server: EdgeServer
):
    """One pod is deleted, and a pod without GPUs keeps its successor off the node: the other pod must not be forgotten."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "wedge"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    submit(cluster, "train", pods=2, affinity=apart)
    runs(cluster, "train", 2)
    train = our_id(cluster, "train")
    first, second = pods(cluster, "train")
    stuck = {"metadata": {"annotations": {"play.quotatree.io/stuck": "true"}}}
    cluster.api.merge(f"{PODS}/{second['metadata']['name']}", stuck)
    cluster.api.create(PODS, {
        "metadata": {"name": "wedge", "labels": {"app": "wedge"}},
        "spec": {"nodeName": first["spec"]["nodeName"], "containers": [{"name": "c", "image": "i"}]},
    })  # fmt: skip
    cluster.kubectl("delete", "pod", first["metadata"]["name"], "-n", TEAM)
    until(lambda: job(cluster, "train")["spec"]["suspend"] is True, "it is given up")
    path = f"{PODS}/{second['metadata']['name']}"
    until(lambda: "deletionTimestamp" in cluster.api.get(path)["metadata"], "the other pod is told to go")
    assert server.phases() == {"train": "Running"}
    assert kinds(server, train)["job.lost"] == 0
    cluster.kubectl("delete", "pod", "wedge", "-n", TEAM, "--force")
    cluster.api.merge(path, {"metadata": {"annotations": {"play.quotatree.io/stuck": None}}})
    until(lambda: kinds(server, train)["job.lost"] == 1, "it is lost")
    runs(cluster, "train", 2)


def test_a_pod_that_does_not_leave_in_time_is_not_forgotten(cluster: Cluster, server: EdgeServer):
    """P14: it is told again, with the shortest grace, but never taken out of the API while its containers may run."""
    submit(cluster, "train", stuck="true")
    runs(cluster, "train")
    train = our_id(cluster, "train")
    server.do(do.StopJob(actor=SYSTEM, job=train))
    until(lambda: pods(cluster, "train")[0]["metadata"].get("deletionTimestamp"), "it is told to go")
    server.engine.stop(StopOrder(train, 1, 0, (0,)))
    until(
        lambda: pods(cluster, "train")[0]["metadata"].get("deletionGracePeriodSeconds") == 1,
        "it is told again, to go sooner",
    )
    assert leaves(server) == [train]


# -- what is released is what was planned ----------------------------------------------------------------------------


def test_a_request_that_grows_while_it_waits_is_planned_anew(cluster: Cluster, server: EdgeServer):
    submit(cluster, "first", pods=3)
    submit(cluster, "half", gpus=7)
    runs(cluster, "first", 3)
    runs(cluster, "half")
    submit(cluster, "second", gpus=4)
    second = our_id(cluster, "second")
    tells(cluster, "second", "Waiting")
    patch(cluster, "second", resources(8))
    until(
        lambda: server.ask(lambda world: world.state.jobs[second].spec.groups[0].shape.gpu_milli) == 8_000,
        "it is planned with 8 GPUs",
    )
    tells(cluster, "second", "Edited")
    cluster.kubectl("delete", "job", "half", "-n", TEAM)
    runs(cluster, "second")
    on_node: Counter[str] = Counter()
    for one in alive(cluster):
        on_node[one["spec"]["nodeName"]] += gpus_of(one)
    assert max(on_node.values()) == 8
    assert server.ask(lambda world: world.state.jobs[second].spec.groups[0].shape.gpu_milli) == 8_000


def test_a_pod_put_at_the_gate_with_forged_labels_gets_no_place_of_more_than_was_planned(
    cluster: Cluster, server: EdgeServer
):
    submit(cluster, "train", gpus=1)
    runs(cluster, "train")
    real = pods(cluster, "train")[0]["metadata"]
    forged = {
        "metadata": {"name": "greedy", "labels": real["labels"], "ownerReferences": real["ownerReferences"]},
        "spec": {
            "restartPolicy": "Never",
            "schedulingGates": [{"name": "quotatree.io/place"}],
            "containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 7}}}],
        },
    }
    cluster.api.create(PODS, forged)
    cluster.kubectl("delete", "pod", real["name"], "-n", TEAM)
    runs(cluster, "train")
    assert [gpus_of(one) for one in alive(cluster)] == [1]


def test_a_pod_with_a_node_of_its_own_choice_is_told_to_leave(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", gpus=1)
    runs(cluster, "train")
    real = pods(cluster, "train")[0]["metadata"]
    labels = {name: value for name, value in real["labels"].items() if name != "quotatree.io/replica"}
    forged = {
        "metadata": {
            "name": "greedy",
            "labels": labels,
            "annotations": {"play.quotatree.io/leaves-after": "1s"},
        },
        "spec": {
            "nodeName": "node-3",
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 5,
            "containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 7}}}],
        },
    }
    cluster.api.create(PODS, forged)
    until(lambda: cluster.api.find(f"{PODS}/greedy") is None, "it is gone")
    tells(cluster, "train", "PodsUnplanned", "greedy")
    assert [one["metadata"]["name"] for one in alive(cluster)] == [real["name"]]


# -- edits of what waits ---------------------------------------------------------------------------------------------


def test_a_parallelism_that_is_edited_while_victims_leave_costs_no_second_eviction(
    cluster: Cluster, server: EdgeServer
):
    submit(cluster, "low", pods=4, leaves_after="4s")
    runs(cluster, "low", 4)
    low = our_id(cluster, "low")
    server.do(do.BindQuota(actor=SYSTEM, workspace="vision", quota="company"))
    submit(cluster, "boss", quota="company", pods=2)
    boss = our_id(cluster, "boss")
    until(lambda: kinds(server, low)["job.evicted"] == 1, "low is taken")
    patch(cluster, "boss", {"spec": {"parallelism": 1}})
    runs(cluster, "boss", 1)
    assert kinds(server, low)["job.evicted"] == 1
    assert kinds(server, boss)["job.lost"] == 0


def test_an_edit_that_never_fits_is_refused_and_the_job_waits_until_it_is_taken_back(
    cluster: Cluster, server: EdgeServer
):
    submit(cluster, "low", pods=4)
    runs(cluster, "low", 4)
    submit(cluster, "second", pods=1, spec={"completions": 9})
    tells(cluster, "second", "Waiting")
    patch(cluster, "second", {"spec": {"parallelism": 9}})
    tells(cluster, "second", "Refused", "can never fit")
    cluster.kubectl("delete", "job", "low", "-n", TEAM)
    until(lambda: server.phases() == {"second": "Stopped"}, "it is on hold")
    patch(cluster, "second", {"spec": {"parallelism": 1}})
    runs(cluster, "second", 1)


def test_a_start_that_kube_scheduler_refuses_costs_no_second_eviction(cluster: Cluster, server: EdgeServer):
    """P7: the plan knows nothing of pods that must stand beside others; its victims come back, and are not taken again."""
    submit(cluster, "low", pods=4)
    runs(cluster, "low", 4)
    low = our_id(cluster, "low")
    server.do(do.BindQuota(actor=SYSTEM, workspace="vision", quota="company"))
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "nowhere"}}}
    beside = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    submit(cluster, "boss", quota="company", pods=2, affinity=beside)
    boss = our_id(cluster, "boss")
    tells(cluster, "boss", "DidNotBegin", "kube-scheduler")
    runs(cluster, "low", 4)
    assert server.phases() == {"low": "Running", "boss": "Stopped"}
    assert kinds(server, low)["job.evicted"] == 1
    assert kinds(server, boss)["job.lost"] == 0


# -- what stands on objects is checked -------------------------------------------------------------------------------


def test_forged_annotations_end_and_restart_nothing_of_others(cluster: Cluster, server: EdgeServer):
    submit(cluster, "honest", pods=2)
    runs(cluster, "honest", 2)
    honest = our_id(cluster, "honest")
    run = annotated(job(cluster, "honest"), "quotatree.io/run")
    assert run is not None
    submit(cluster, "forger", gpus=8, pods=3)
    tells(cluster, "forger", "Waiting")
    forged = {
        "quotatree.io/job": honest,
        "quotatree.io/run": run,
        "quotatree.io/checkpoint": "2026-01-01T00:00:00Z",
    }
    patch(cluster, "forger", {"metadata": {"annotations": forged}})
    until(
        lambda: annotated(job(cluster, "forger"), "quotatree.io/job") != honest,
        "what was forged is put right",
    )
    before = {one["metadata"]["uid"] for one in pods(cluster, "honest")}
    assert kinds(server, honest)["job.checkpointed"] == 0
    server.stop()
    patch(cluster, "forger", {"metadata": {"annotations": forged}})
    server.boot()
    until(lambda: server.phases() == {"honest": "Running", "forger": "Waiting"}, "all is as it was")
    until(
        lambda: annotated(job(cluster, "forger"), "quotatree.io/job") != honest,
        "what was forged is put right",
    )
    assert {one["metadata"]["uid"] for one in alive(cluster)} == before
    assert kinds(server, honest)["job.lost"] == kinds(server, honest)["job.ended"] == 0


def test_a_run_number_from_the_future_holds_up_nothing(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train")
    runs(cluster, "train")
    train = our_id(cluster, "train")
    patch(cluster, "train", {"metadata": {"annotations": {"quotatree.io/run": f"{train}.999"}}})
    until(
        lambda: annotated(job(cluster, "train"), "quotatree.io/run") == f"{train}.1",
        "the number is put right",
    )
    server.do(do.StopJob(actor=SYSTEM, job=train))
    until(lambda: leaves(server) == [], "and it still leaves")
    assert alive(cluster) == []


def test_a_priority_above_the_ceiling_of_the_namespace_is_refused_now_and_later(
    cluster: Cluster, server: EdgeServer
):
    """W4; the rest of the scheduling centre is in tests/kubernetes_edge."""
    submit(cluster, "first", pods=4)
    runs(cluster, "first", 4)
    centre = Centre("vision", "vision", ceilings=(Ceiling("user:vision.team-vision", 5),))
    server.do(do.SetCentre(actor=SYSTEM, centre=centre))
    submit(cluster, "pushy", priority="9")
    tells(cluster, "pushy", "Refused", "W4")
    submit(cluster, "patient", priority="3")
    patient = our_id(cluster, "patient")
    cluster.kubectl("label", "job", "patient", "-n", TEAM, "--overwrite", "quotatree.io/priority=9")
    tells(cluster, "patient", "Refused", "W4")
    assert server.ask(lambda world: world.state.jobs[patient].priority) == 3


# -- what becomes of a Job -------------------------------------------------------------------------------------------


def test_a_job_of_more_completions_than_pods_runs_in_waves(cluster: Cluster, server: EdgeServer):
    submit(cluster, "waves", pods=2, spec={"completions": 5}, runs_for="1s")
    tells(cluster, "waves", "Ended", "Succeeded")
    until(lambda: server.phases() == {}, "it is over")
    assert job(cluster, "waves")["status"]["succeeded"] == 5


def test_an_indexed_job_runs_each_index(cluster: Cluster, server: EdgeServer):
    submit(cluster, "indexed", pods=2, spec={"completions": 3, "completionMode": "Indexed"}, runs_for="1s")
    tells(cluster, "indexed", "Ended", "Succeeded")
    assert job(cluster, "indexed")["status"]["completedIndexes"] == "0-2"


def test_a_job_that_fails_too_often_has_failed(cluster: Cluster, server: EdgeServer):
    submit(cluster, "bad", spec={"backoffLimit": 1}, runs_for="1s", exit_code="1")
    tells(cluster, "bad", "Ended", "Failed")
    until(lambda: server.phases() == {}, "it is over")
    assert len(pods(cluster, "bad")) == 2  # one was made anew, at the same place


def test_a_job_that_vanishes_after_its_end_has_succeeded(cluster: Cluster, server: EdgeServer):
    submit(cluster, "brief", spec={"ttlSecondsAfterFinished": 0}, runs_for="1s")
    brief = our_id(cluster, "brief")
    until(lambda: cluster.api.find(f"{JOBS}/brief") is None, "it vanishes")
    until(lambda: server.phases() == {}, "it is over")
    assert kinds(server, brief)["job.ended"] == 1
    assert kinds(server, brief)["job.cancelled"] == 0


def test_a_job_that_runs_too_long_by_its_own_words_fails(cluster: Cluster, server: EdgeServer):
    submit(cluster, "slow", spec={"activeDeadlineSeconds": 2})
    tells(cluster, "slow", "Ended", "Failed")
    until(lambda: alive(cluster) == [], "its pods are gone")


def test_a_running_job_keeps_what_was_planned_when_it_is_edited(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", gpus=4, pods=2, spec={"completions": 8})
    runs(cluster, "train", 2)
    patch(cluster, "train", {"spec": {"parallelism": 4}})
    tells(cluster, "train", "Edited", "next run")
    until(lambda: len(pods(cluster, "train")) == 4, "its controller makes more")
    assert runs(cluster, "train", 2)
    patch(cluster, "train", {"spec": {"parallelism": 1}})
    until(lambda: len(alive(cluster)) <= 2, "it never has more than was planned")
    assert server.phases() == {"train": "Running"}


def test_a_job_that_runs_already_is_adopted_from_the_start(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train", spec={"suspend": False})
    until(lambda: server.phases() == {"train": "Running"}, "it is queued and runs")
    [planned] = server.ask(
        lambda world: [place.node for places in world.places.values() for place in places.values()]
    )
    until(
        lambda: [one["spec"]["nodeName"] for one in alive(cluster)] == [planned],
        "the pod of before has left, and one runs where it was planned",
    )


def test_a_job_that_is_adopted_half_way_does_the_rest(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Two of three completions are done: its controller makes one pod, not two, and nobody waits for the other."""
    monkeypatch.setattr(adopted_work, "UNMADE_SECONDS", 0.2)
    with team(cluster, tmp_path, start_seconds=1) as server:
        submit(
            cluster,
            "rest",
            gpus=4,
            quota="",
            pods=2,
            runs_for="4s",
            spec={"suspend": False, "completions": 3},
        )
        until(lambda: job(cluster, "rest").get("status", {}).get("succeeded") == 2, "two are done")
        cluster.kubectl("label", "job", "rest", "-n", TEAM, "--overwrite", "quotatree.io/quota=vision")
        rest = our_id(cluster, "rest")
        tells(cluster, "rest", "Ended", "Succeeded")
        assert kinds(server, rest)["job.ended"] == 1
        assert "DidNotBegin" not in told(cluster, "rest")


def test_a_job_suspended_by_hand_waits_again_and_runs_again(cluster: Cluster, server: EdgeServer):
    submit(cluster, "train")
    runs(cluster, "train")
    patch(cluster, "train", {"spec": {"suspend": True}})
    tells(cluster, "train", "Lost", "suspended")
    runs(cluster, "train")
