"""Adopted objects are resumed, placed, suspended and followed by what is there (A7, R5). The whole of it runs in tests/kubernetes."""

from __future__ import annotations

from typing import Any

import pytest

from quotatree.core import JobId, Module, Shape
from quotatree.core.model.job import JobSpec, ReplicaGroup
from quotatree.engines.base import (
    Checkpointed,
    Confirmed,
    Exited,
    Hindered,
    Left,
    Lost,
    Outcome,
    ReplicaOrder,
    Report,
    StartOrder,
    StopOrder,
    Unfit,
    Unplanned,
)
from quotatree.engines.kubernetes import adopted, adopted_work
from quotatree.engines.kubernetes.adopted import BATCH_JOB
from quotatree.engines.kubernetes.adopted_view import object_view
from quotatree.engines.kubernetes.errors import Clash, ClusterError
from quotatree.engines.kubernetes.kinds import JOBS, PODS, Key
from quotatree.engines.kubernetes.native import Native, is_adopted
from tests.engines.kubernetes.small_cluster import SmallCluster

JOB = JobId("dlc-1")
PROGRAM = {
    "object": {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "namespace": "team",
        "name": "train",
        "uid": "uid-train",
    }
}


NOTHING = Shape(0, 0, 0)


class Scene:
    """One Job, and the driver's view of it, told by hand."""

    def __init__(self, pods: int = 2) -> None:
        self.cluster = SmallCluster()
        spec = {"suspend": True, "parallelism": pods, "template": {"spec": {"containers": []}}}
        self.cluster.put(JOBS, {"metadata": {"name": "train", "namespace": "team"}, "spec": spec})
        self.native = Native(self.cluster, [BATCH_JOB])  # type: ignore[arg-type]
        self.reports: list[Report] = []
        self.native._report = self.reports.append
        self.native._known.recalled = True
        self._told: dict[Any, Any] = {}
        self.tell()

    @property
    def thing(self) -> dict[str, Any]:
        return self.cluster.things["jobs", "team", "train"]

    def tell(self, late: tuple[str, ...] = ()) -> None:
        """The informers catch up, but for `late` objects; the driver works until nothing is due."""
        seen: dict[Any, Any] = {}
        for (plural, namespace, name), thing in self.cluster.things.items():
            view: Any = object_view(BATCH_JOB, thing) if plural == "jobs" else self.native.read_pod(thing)
            key = (plural, Key(namespace or "", name))
            seen[key] = self._told[key] if name in late else view
        for key in {*seen, *self._told}:
            before, after = self._told.get(key), seen.get(key)
            if before != after:
                changed = self.native._object_changed if key[0] == "jobs" else self.native._pod_changed
                changed(key[1], before, after)
        self._told = seen
        self.work()

    def work(self) -> None:
        while self.native._work.look_once():
            pass

    def start(self, run: int = 1, nodes: str = "ab") -> None:
        self.native.start(order(run, nodes))
        self.work()
        self.tell()

    def stop(self, run: int = 1, grace_ms: int = 5_000) -> None:
        self.native.stop(StopOrder(JOB, run, grace_ms))
        self.work()
        self.tell()

    def controller_makes(self, *names: str, late: tuple[str, ...] = ()) -> None:
        """The Job's controller makes pods of the template. Of `late` ones the informer has no news yet."""
        template = self.thing["spec"]["template"]
        for name in names:
            meta = {"name": name, "namespace": "team", "labels": dict(template["metadata"]["labels"])}
            spec = {"schedulingGates": list(template["spec"]["schedulingGates"])}
            self.cluster.put(PODS, {"metadata": meta, "spec": spec, "status": {"phase": "Pending"}})
        self.tell(late)

    def pods_become(self, phase: str) -> None:
        """kube-scheduler has bound each pod that has its place, and the kubelet tells of it."""
        placed = self.placed()
        for (plural, _, name), pod in self.cluster.things.items():
            if plural == "pods":
                pod["status"] = {"phase": phase}
                pod["spec"] |= {"nodeName": placed[name]} if name in placed else {}
        self.tell()

    def pods_go(self) -> None:
        for place in [place for place in self.cluster.things if place[0] == "pods"]:
            del self.cluster.things[place]
        self.tell()

    def placed(self) -> dict[str, str]:
        found = {}
        for (plural, _, name), pod in self.cluster.things.items():
            if plural == "pods" and "affinity" in pod["spec"]:
                required = pod["spec"]["affinity"]["nodeAffinity"][
                    "requiredDuringSchedulingIgnoredDuringExecution"
                ]
                [term] = required["nodeSelectorTerms"]
                found[name] = term["matchFields"][0]["values"][0]
        return found


def order(run: int, nodes: str = "ab") -> StartOrder:
    replicas = tuple(ReplicaOrder(i, node, (), NOTHING) for i, node in enumerate(nodes))
    return StartOrder(JOB, run, Module.DLC, replicas, PROGRAM, 30_000)


def test_a_start_resumes_the_object_and_gives_each_pod_its_own_node():
    scene = Scene()
    scene.start()
    assert scene.thing["spec"]["suspend"] is False
    assert scene.thing["metadata"]["annotations"][adopted.RUN] == "dlc-1.1"
    scene.controller_makes("p1", "p2")
    assert scene.placed() == {"p1": "a", "p2": "b"}
    scene.pods_become("Running")
    assert scene.reports == [Confirmed(JOB, 1, (0, 1))]


def test_a_start_that_is_ordered_twice_happens_once():
    scene = Scene()
    scene.start()
    sent = len(scene.cluster.sent)
    scene.start()
    assert len(scene.cluster.sent) == sent


def test_a_pod_that_its_controller_makes_anew_gets_the_place_of_the_one_that_is_gone():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.pods_become("Running")
    del scene.cluster.things["pods", "team", "p1"]
    scene.controller_makes("p3")
    assert scene.placed() == {"p2": "b", "p3": "a"}


def test_a_place_is_given_once_however_late_the_news_of_it_are():
    scene = Scene()
    scene.start()
    scene.controller_makes("p2")  # placed; the informer still has it at the gate
    scene.controller_makes("p1", late=("p2",))
    assert scene.placed() == {"p2": "a", "p1": "b"}


def test_more_pods_than_replicas_stay_at_the_gate():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2", "p3")
    assert scene.placed() == {"p1": "a", "p2": "b"}


def test_a_stopped_run_has_left_only_when_no_pod_is_left():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.stop()
    assert scene.thing["spec"]["suspend"] is True
    assert scene.reports == []
    scene.pods_go()
    assert scene.reports == [Left(JOB, 1, (0, 1))]


def test_a_stop_that_overtakes_the_news_of_its_start_does_not_count_the_object_as_suspended():
    scene = Scene()
    scene.native.start(
        StartOrder(
            JOB,
            1,
            Module.DLC,
            tuple(ReplicaOrder(i, n, (), Shape(0, 0, 0)) for i, n in enumerate("ab")),
            PROGRAM,
            0,
        )
    )
    scene.work()  # resumed, but the informer has not heard of it
    scene.native.stop(StopOrder(JOB, 1, 5_000))
    scene.work()
    assert scene.reports == []
    assert scene.thing["spec"]["suspend"] is True
    scene.tell()
    assert scene.reports == [Left(JOB, 1, (0, 1))]


def test_a_job_that_ends_is_told_when_its_pods_are_over():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.thing["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    scene.tell()
    assert scene.reports == []
    scene.pods_become("Succeeded")
    assert scene.reports == [Exited(JOB, 1, Outcome.SUCCEEDED)]
    scene.native.forget(JOB, 1)
    assert not scene.native.has(JOB)


def test_a_failure_in_the_grace_is_a_leaving():
    scene = Scene()
    scene.start()
    scene.stop()
    scene.reports.clear()
    scene.start(2)
    scene.native.stop(StopOrder(JOB, 2, 5_000))
    scene.thing["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
    scene.tell()
    assert scene.reports == [Left(JOB, 2, (0, 1))]


def test_an_object_that_somebody_else_suspends_or_deletes_is_lost():
    for gone in (False, True):
        scene = Scene()
        scene.start()
        if gone:
            del scene.cluster.things["jobs", "team", "train"]
        else:
            scene.thing["spec"]["suspend"] = True
        scene.tell()
        [report] = scene.reports
        assert isinstance(report, Lost)


def test_pods_that_a_lost_node_left_behind_are_told_to_go_and_not_waited_for():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.pods_become("Running")
    scene.start(2, "cd")
    assert "DELETE pods/p1" in scene.cluster.sent
    assert scene.thing["metadata"]["annotations"][adopted.RUN] == "dlc-1.2"


def test_a_server_that_was_overtaken_does_not_take_an_object_back():
    scene = Scene()
    scene.start(3)
    old = Native(scene.cluster, [BATCH_JOB])  # type: ignore[arg-type]
    old._object_changed(Key("team", "train"), None, object_view(BATCH_JOB, scene.thing))
    replicas = tuple(ReplicaOrder(i, n, (), Shape(0, 0, 0)) for i, n in enumerate("ab"))
    old.start(StartOrder(JOB, 2, Module.DLC, replicas, PROGRAM, 0))
    scene.native._known.recalled = True
    while old._work.look_once():
        pass
    old.stop(StopOrder(JOB, 2, 0))
    while old._work.look_once():
        pass
    assert scene.thing["metadata"]["annotations"][adopted.RUN] == "dlc-1.3"
    assert scene.thing["spec"]["suspend"] is False


def test_another_server_finds_the_run_with_its_places():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    found = Native(scene.cluster, [BATCH_JOB])  # type: ignore[arg-type]
    for informer in found._informers:
        informer._listed.set()
    found._object_changed(Key("team", "train"), None, object_view(BATCH_JOB, scene.thing))
    assert found.observe().running == ()  # what stands on an object is nobody's word for it
    found.recall([order(1)])
    [running] = found.observe().running
    assert (running.job, running.run, running.replicas) == (JOB, 1, (0, 1))
    assert [spot.node for spot in found._known.runs[JOB].spots] == ["a", "b"]


def test_a_change_that_somebody_else_made_first_is_tried_again():
    scene = Scene()
    scene.cluster.broken = Clash(409, "Conflict", "changed")
    scene.start()
    scene.cluster.broken = None
    scene.native._work.mark("uid-train")
    scene.work()
    assert scene.thing["spec"]["suspend"] is False


def test_a_cluster_that_is_away_is_asked_again_later():
    scene = Scene()
    scene.cluster.broken = ClusterError(0, "", "away")
    scene.start()
    assert scene.reports == []
    assert "uid-train" in scene.native._work._due._due


def test_an_object_that_asks_for_something_else_is_not_resumed():
    scene = Scene()
    scene.thing["spec"]["parallelism"] = 3
    scene.start()
    assert scene.reports == [Unfit(JOB, 1, "it asks for 3 pods now, not 2", edited=True)]
    assert scene.thing["spec"]["suspend"] is True
    assert not scene.native.has(JOB)


class Clock:
    """Stands in for `time` where the work on adopted objects asks how long it has waited."""

    def __init__(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        self.monotonic = lambda: self.now
        self._scene = scene
        monkeypatch.setattr(adopted_work, "time", self)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self._scene.native._work.mark("uid-train")
        self._scene.tell()


def test_an_object_whose_pods_are_not_made_is_told_and_given_up(monkeypatch: pytest.MonkeyPatch):
    scene = Scene()
    clock = Clock(scene, monkeypatch)
    scene.start()
    clock.passes(19)
    assert scene.reports == []
    scene.controller_makes("p1")
    clock.passes(1)
    words = "its controller has made 1 of 2 pods; `kubectl describe` of the object says why"
    assert scene.reports == [Hindered(JOB, 1, words)]
    clock.passes(579)
    assert scene.thing["spec"]["suspend"] is False
    clock.passes(1)
    assert scene.thing["spec"]["suspend"] is True
    scene.pods_go()
    assert scene.reports[1:] == [Unfit(JOB, 1, words)]


def test_pods_that_come_late_or_come_and_go_are_no_reason_to_give_up(monkeypatch: pytest.MonkeyPatch):
    scene = Scene()
    clock = Clock(scene, monkeypatch)
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.pods_become("Running")
    scene.pods_go()
    scene.reports.clear()
    clock.passes(700)
    assert scene.reports == []


def test_a_run_that_another_server_resumed_is_not_given_up_for_pods_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch,
):
    scene = Scene()
    clock = Clock(scene, monkeypatch)
    scene.start()
    scene.native._known.runs[JOB].resumed_at = None
    clock.passes(700)
    assert scene.reports == []


UNPLACED = {
    "phase": "Pending",
    "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}
    ],
}


@pytest.mark.parametrize("had_begun", [False, True])
def test_a_start_that_kube_scheduler_refuses_is_not_tried_again_by_itself(
    monkeypatch: pytest.MonkeyPatch, had_begun: bool
):
    """What had begun is lost, and queued again; for what had not, nobody is to be evicted a second time (P7)."""
    scene = Scene(pods=1)
    clock = Clock(scene, monkeypatch)
    scene.start(nodes="a")
    scene.controller_makes("p1")
    if had_begun:
        scene.pods_become("Running")
        scene.pods_go()
        scene.controller_makes("p2")
    for (plural, _, _), pod in scene.cluster.things.items():
        if plural == "pods":
            pod["status"] = UNPLACED
    scene.tell()
    scene.reports.clear()
    clock.passes(20)
    scene.pods_go()
    words = "kube-scheduler: 0/2 nodes"
    assert scene.reports == [Lost(JOB, 1, (0,), words) if had_begun else Unfit(JOB, 1, words)]
    assert scene.thing["spec"]["suspend"] is True


def test_an_object_whose_label_is_taken_off_is_suspended_when_its_job_stops():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.thing["metadata"]["labels"] = {}
    scene.tell()
    scene.stop()
    assert scene.thing["spec"]["suspend"] is True


def test_orphans_count_until_they_have_left_and_are_told_to():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.pods_become("Running")
    scene.cluster.stuck = True
    del scene.cluster.things["jobs", "team", "train"]
    scene.tell()
    scene.stop()
    assert {"DELETE pods/p1", "DELETE pods/p2"} <= set(scene.cluster.sent)
    assert [one for one in scene.reports if isinstance(one, Left | Lost)] == []
    scene.pods_go()
    assert scene.reports[-1] == Left(JOB, 1, (0, 1))


def test_a_pod_whose_labels_and_owner_are_taken_off_keeps_its_place_and_leaves_with_its_job():
    """P9: whose a pod is, is known by its uid."""
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.pods_become("Running")
    bare = scene.cluster.things["pods", "team", "p1"]["metadata"]
    del bare["labels"], bare["annotations"]
    scene.tell()
    scene.controller_makes("p3")
    assert set(scene.placed()) == {"p1", "p2"}, "its place is not free"
    scene.cluster.stuck = True
    scene.stop()
    assert "DELETE pods/p1" in scene.cluster.sent
    del scene.cluster.things["pods", "team", "p2"], scene.cluster.things["pods", "team", "p3"]
    scene.tell()
    assert not any(isinstance(one, Left | Lost) for one in scene.reports)
    scene.pods_go()
    assert scene.reports[-1] == Left(JOB, 1, (0, 1))


def test_a_job_that_vanishes_after_its_end_has_ended():
    scene = Scene()
    scene.start()
    scene.controller_makes("p1", "p2")
    scene.thing["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    scene.tell()
    del scene.cluster.things["jobs", "team", "train"]
    scene.tell()
    scene.pods_go()
    assert scene.reports[-1] == Exited(JOB, 1, Outcome.SUCCEEDED)


def test_a_checkpoint_counts_for_the_run_of_its_own_object():
    scene = Scene()
    scene.start()
    notes = scene.thing["metadata"]["annotations"]
    notes.update({adopted.RUN: "dlc-of-others.7", adopted.CHECKPOINT: "step-1"})
    scene.tell()
    assert [one for one in scene.reports if isinstance(one, Checkpointed)] == [Checkpointed(JOB, 1, None)]


def test_a_pod_that_was_not_planned_is_counted_told_to_leave_and_shown():
    scene = Scene()
    counted: list[Any] = []
    scene.native._work.count = lambda before, after: counted.append((before, after))
    scene.start()
    scene.cluster.stuck = True
    labels = {adopted.OBJECT: "uid-train", adopted.GROUP: "0", adopted.REPLICA: "0"}
    limits = {"nvidia.com/gpu": "7"}
    scene.cluster.put(
        PODS,
        {
            "metadata": {"name": "greedy", "namespace": "team", "labels": labels},
            "spec": {"nodeName": "a", "containers": [{"resources": {"limits": limits}}]},
            "status": {"phase": "Running"},
        },
    )
    scene.tell()
    assert "DELETE pods/greedy" in scene.cluster.sent
    assert Unplanned(JOB, 1, "greedy on a") in scene.reports
    [(_, foreign)] = counted
    assert (foreign.node, foreign.use.gpu_milli) == ("a", 7000)
    scene.controller_makes("p1", "p2")
    assert scene.placed() == {"p1": "a", "p2": "b"}
    scene.pods_go()
    assert counted[-1] == (foreign, None)


def test_a_pod_elsewhere_that_says_it_is_of_the_object_is_let_be():
    scene = Scene()
    scene.start()
    labels = {adopted.OBJECT: "uid-train", adopted.GROUP: "0"}
    meta = {"name": "forged", "namespace": "others", "labels": labels}
    spec = {"schedulingGates": [{"name": adopted.GATE}]}
    scene.cluster.put(PODS, {"metadata": meta, "spec": spec, "status": {"phase": "Pending"}})
    scene.tell()
    assert scene.placed() == {}
    scene.stop()
    assert scene.reports[-1] == Left(JOB, 1, (0, 1))


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ({"object": {}}, "nothing else"),
        ({**PROGRAM, "image": "x"}, "nothing else"),
        ({"object": {**PROGRAM["object"], "kind": "CronJob"}}, "adopted: jobs.batch"),
        (PROGRAM, None),
    ],
)
def test_what_is_no_object_of_a_known_kind_is_refused(program: dict[str, Any], says: str | None):
    native = Scene().native
    spec = JobSpec(JOB, "q", (ReplicaGroup(2, Shape(1000, 0, 0)),), 0)
    assert is_adopted(program)
    found = native.refuses(spec, program)
    assert found is None if says is None else says in (found or "")


def test_an_adopted_object_is_not_elastic():
    spec = JobSpec(JOB, "q", (ReplicaGroup(2, Shape(1000, 0, 0)),), 0, min_replicas=1)
    assert "runs whole" in (Scene().native.refuses(spec, PROGRAM) or "")
