"""What follows from a change of a pod? Every way to begin, end, be stopped and be lost, in any order and twice."""

from __future__ import annotations

import pytest

from quotatree.core import JobId, Module
from quotatree.engines.base import (
    Checkpointed,
    Confirmed,
    Exited,
    Hindered,
    Left,
    Lost,
    Outcome,
    Running,
    StopOrder,
    Unfit,
)
from quotatree.engines.kubernetes.kinds import Key
from quotatree.engines.kubernetes.pod_reading import PodView, pod_view
from quotatree.engines.kubernetes.runs import Runs
from tests.engines.kubernetes.made import order, pod

JOB = JobId("dlc-abc")
GOING = {"deletionTimestamp": "2026-11-17T10:00:00Z"}


class Cluster:
    """The pods of one run, as an informer tells of them."""

    def __init__(self) -> None:
        self.runs = Runs()
        self.views: dict[int, PodView] = {}

    def is_now(self, replica: int, phase: str, **more):
        view = pod_view(pod(replica, phase, **more))
        assert view is not None
        before, self.views[replica] = self.views.get(replica), view
        return self.runs.pod_changed(Key("ns", f"p{replica}"), before, view)

    def is_gone(self, replica: int):
        return self.runs.pod_changed(Key("ns", f"p{replica}"), self.views.pop(replica), None)

    def stop(self, *replicas: int) -> None:
        self.runs.stop(StopOrder(JOB, 1, 5_000, replicas or None))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def failure(code: int = 1) -> dict:
    return {"containerStatuses": [{"state": {"terminated": {"exitCode": code}}}]}


def test_a_pod_that_runs_confirms_its_replica_once(cluster: Cluster):
    assert cluster.is_now(0, "Pending") == []
    assert cluster.is_now(0, "Running") == [Confirmed(JOB, 1, (0,))]
    assert cluster.is_now(0, "Running") == []


def test_a_pod_that_kube_scheduler_places_nowhere_tells_its_words_once(cluster: Cluster):
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}
    status = {"conditions": [condition]}
    assert cluster.is_now(0, "Pending", status=status) == [Hindered(JOB, 1, "kube-scheduler: 0/2 nodes")]
    assert cluster.is_now(0, "Pending", status=status, meta={"annotations": {}}) == []
    pulling = {"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "no"}}}]}
    assert cluster.is_now(0, "Pending", status=pulling) == [Hindered(JOB, 1, "the kubelet: ErrImagePull: no")]


def test_a_pod_elsewhere_that_says_it_is_a_replica_is_not_believed(cluster: Cluster):
    """W2: whoever may make pods in one namespace must not end, or run, a job of another."""
    cluster.is_now(0, "Running")
    forged = pod_view(pod(0, "Succeeded", uid="forged"))
    assert forged is not None
    assert cluster.runs.pod_changed(Key("other", "p0"), None, forged) == []
    assert cluster.runs.pod_changed(Key("other", "p0"), forged, None) == []
    assert cluster.runs.observed() == ([Running(JOB, 1, (0,), ("",))], [])
    ordered = order()
    cluster.runs.start(ordered, "ns")
    early = pod_view(pod(0, "Running", run=ordered.run))
    assert cluster.runs.pod_changed(Key("other", "p0"), None, early) == [], "nor before there is a real one"


def test_a_run_succeeds_when_its_whole_core_has(cluster: Cluster):
    for replica in range(2):
        cluster.is_now(replica, "Running", core=2)
    assert cluster.is_now(0, "Succeeded", core=2) == []
    assert cluster.runs.observed() == ([Running(JOB, 1, (0, 1), ("", ""))], []), (
        "one that finished first is not lost"
    )
    assert cluster.is_now(1, "Succeeded", core=2) == [Exited(JOB, 1, Outcome.SUCCEEDED)]
    assert cluster.runs.observed() == ([], [Exited(JOB, 1, Outcome.SUCCEEDED)]), "until it is forgotten"


def test_a_failure_ends_the_run_once_nothing_of_it_is_left(cluster: Cluster):
    for replica in range(2):
        cluster.is_now(replica, "Running", core=2)
    assert cluster.is_now(1, "Failed", core=2, status=failure(3)) == []
    run = cluster.runs.find(JOB, 1)
    assert run is not None
    assert [view.replica for _, view in run.living] == [0], "the engine has to stop this one first"
    assert cluster.is_gone(0) == [Exited(JOB, 1, Outcome.FAILED, "replica 1: exit code 3")]
    assert cluster.is_gone(1) == []


def test_what_was_told_to_stop_has_left_when_its_containers_have_ended(cluster: Cluster):
    """P9. A finalizer, which its tenant may write, keeps its pod in the API for ever: that holds no GPU."""
    cluster.is_now(0, "Running")
    cluster.stop()
    run = cluster.runs.find(JOB, 1)
    assert run is not None
    assert cluster.is_now(0, "Running", meta=GOING) == []
    assert cluster.runs.left(run) == []
    assert cluster.is_now(0, "Failed", meta=GOING, status=failure(143)) == []
    assert cluster.runs.left(run) == [Left(JOB, 1, (0,))]
    assert cluster.runs.left(run) == [], "once"
    assert cluster.is_gone(0) == [], "it was told"
    cluster.is_now(0, "Running", uid="next")
    assert cluster.is_gone(0) == [Left(JOB, 1, (0,))], "gone before it was looked at"


def test_a_pod_that_leaves_before_it_had_a_node_never_gets_one(cluster: Cluster):
    cluster.is_now(0, "Pending", spec={})
    cluster.stop()
    cluster.is_now(0, "Pending", spec={}, meta=GOING)
    run = cluster.runs.find(JOB, 1)
    assert run is not None
    assert run.living == []
    assert cluster.runs.left(run) == [Left(JOB, 1, (0,))]


def test_a_replica_that_comes_back_waits_until_the_name_of_its_pod_is_free(cluster: Cluster):
    """P12: a service is made smaller and larger again in one run."""
    cluster.runs.start(order(Module.EAS), "ns")
    cluster.is_now(0, "Running", run=3, module="EAS")
    cluster.runs.stop(StopOrder(JOB, 3, 5_000, (0,)))
    cluster.is_now(0, "Failed", run=3, module="EAS", meta=GOING)
    run = cluster.runs.find(JOB, 3)
    assert run is not None
    assert cluster.runs.left(run) == [Left(JOB, 3, (0,))]
    cluster.runs.start(order(Module.EAS), "ns")
    assert (list(run.wanted), run.stopping, list(run.pods)) == ([0], {}, [0])
    assert cluster.is_gone(0) == []
    assert (list(run.wanted), list(run.pods)) == ([0], [])


def test_a_pod_deleted_by_somebody_else_is_lost_with_a_word(cluster: Cluster):
    cluster.is_now(0, "Running")
    (lost,) = cluster.is_gone(0)
    assert isinstance(lost, Lost)
    assert "not by QuotaTree" in lost.detail


def test_an_eviction_by_the_kubelet_is_a_loss_and_is_told_once(cluster: Cluster):
    cluster.is_now(0, "Running")
    (lost,) = cluster.is_now(0, "Failed", status={"reason": "Evicted", "message": "memory"})
    assert lost == Lost(JOB, 1, (0,), "Evicted: memory")
    assert cluster.runs.observed() == ([], [])
    assert cluster.is_gone(0) == []


def test_another_pod_of_the_same_name_means_that_the_first_is_gone(cluster: Cluster):
    cluster.is_now(0, "Running", uid="first")
    told = cluster.is_now(0, "Running", uid="second")
    assert [type(one) for one in told] == [Lost, Confirmed]


def test_a_service_that_fails_is_lost_and_never_ends_by_itself(cluster: Cluster):
    cluster.is_now(0, "Running", module="EAS")
    (lost,) = cluster.is_now(0, "Failed", module="EAS", status=failure())
    assert isinstance(lost, Lost)


def test_a_checkpoint_carries_its_time_and_is_told_when_it_changes(cluster: Cluster):
    cluster.is_now(0, "Running")
    meta = {"annotations": {"quotatree.io/checkpoint": "2026-11-17T10:00:00Z"}}
    assert cluster.is_now(0, "Running", meta=meta) == [Checkpointed(JOB, 1, 1794909600000)]
    assert cluster.is_now(0, "Running", meta=meta) == []


def test_a_new_server_finds_runs_ends_and_losses_by_the_pods_alone(cluster: Cluster):
    cluster.is_now(0, "Running", core=2)
    cluster.is_now(1, "Failed", core=2, status={"reason": "Evicted"})
    fresh = Cluster()
    for replica, view in cluster.views.items():
        fresh.runs.pod_changed(Key("ns", f"p{replica}"), None, view)
    assert fresh.runs.observed() == ([Running(JOB, 1, (0,), ("",))], []), (
        "the evicted one is missing, so it was lost"
    )


def test_a_forgotten_run_says_nothing_more(cluster: Cluster):
    cluster.is_now(0, "Succeeded")
    cluster.runs.forget(JOB, 1)
    assert cluster.is_gone(0) == []


@pytest.mark.parametrize("phase", ["Running", "Failed"])
@pytest.mark.parametrize("told_first", [True, False])
def test_a_replica_that_left_before_this_server_began_is_lost_only_if_no_restart_explains_it(
    cluster: Cluster, phase: str, told_first: bool
):
    """A7: its pod was seen, on its way out, and is gone before the order of the restart comes back to life, or right after."""
    standing = order(Module.EAS, replicas=2)
    cluster.runs.recall(standing)
    assert cluster.is_now(1, phase, run=3, module="EAS", meta=GOING) in ([], [Confirmed(JOB, 3, (1,))])
    if told_first:
        cluster.runs.restart(JOB, 3, "key")
    assert cluster.is_gone(1) == []
    if not told_first:
        cluster.runs.restart(JOB, 3, "key")
    run = cluster.runs.find(JOB, 3)
    assert run is not None
    assert list(run.wanted) == [1], "it is made again"
    assert cluster.runs.lost_for_good(run) == []


def test_a_replica_that_left_before_this_server_began_is_lost_without_a_restart(cluster: Cluster):
    cluster.is_now(1, "Running", run=3, module="EAS", meta=GOING)
    cluster.is_gone(1)
    run = cluster.runs.find(JOB, 3)
    assert run is not None
    (told,) = cluster.runs.lost_for_good(run)
    assert isinstance(told, Lost)
    assert told.replicas == (1,)
    assert cluster.runs.lost_for_good(run) == []


def test_a_run_that_cannot_begin_is_told_once_nothing_of_it_is_left(cluster: Cluster):
    """P7: it is not planned again by itself, since victims may have left for it."""
    cluster.runs.start(order(replicas=2), "ns")
    cluster.is_now(0, "Running", run=3, core=2)
    cluster.is_now(1, "Pending", run=3, core=2, spec={})
    run = cluster.runs.find(JOB, 3)
    assert run is not None
    assert not run.begun, "half a core is not a beginning"
    run.give_up("no node has its labels")
    assert run.wanted == {}
    assert cluster.is_gone(1) == []
    assert cluster.is_now(0, "Failed", run=3, core=2, meta=GOING) == [Unfit(JOB, 3, "no node has its labels")]
    assert cluster.runs.observed() == ([], [])
    assert cluster.is_gone(0) == []


def test_a_service_whose_core_runs_has_begun(cluster: Cluster):
    cluster.is_now(0, "Running", module="EAS")
    cluster.is_now(1, "Pending", module="EAS")
    run = cluster.runs.find(JOB, 1)
    assert run is not None
    assert run.begun
